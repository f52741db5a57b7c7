"""Prompt files: Jinja2 under a front matter, checked before a run spends anything.

A file `prompts/<name>.md.j2` begins with front matter between `---` lines (name, version, description, inputs,
output, max_tokens, temperature) and goes on with turns, each opened by a line `[system]`, `[user]` or
`[assistant]`. `[system stable]` marks a turn that is the same for every row: it may use no input, it comes
before all turns that do, and the provider's prompt cache is told of it. `prompts/versions.json` holds the hash of
every version ever released; a prompt that changed without a new version is refused.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import jinja2
import jinja2.meta
import jinja2.sandbox
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hopwright.errors import InputError
from hopwright.foreign import JsonError, load_json, read_file, show, show_invalid
from hopwright.llm.types import Message, ModelRef, Request, Role, Sampling
from hopwright.settings import prompts_folder

LOCK = "versions.json"
_SUFFIX = ".md.j2"
_TURN = re.compile(r"^\[(system|user|assistant)( stable)?\]\s*$", re.MULTILINE)
_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


class FrontMatter(BaseModel):
    """The head of a prompt file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9-]*$")
    version: int = Field(ge=1)
    description: str = Field(min_length=1)
    inputs: dict[str, str]
    """What the template uses, each with a word on what it holds."""
    output: str = "text"
    """`text`, `choices`, or a pydantic model as `module:Class`."""
    max_tokens: int = Field(1024, ge=1)
    temperature: float | None = Field(None, ge=0, le=2)

    @model_validator(mode="after")
    def _check_output(self) -> Self:
        if self.output not in ("text", "choices") and not re.fullmatch(r"hopwright(\.\w+)*:\w+", self.output):
            raise ValueError("output must be `text`, `choices` or `hopwright.module:Class`")
        return self


@dataclass(frozen=True, slots=True)
class _Turn:
    role: Role
    stable: bool
    template: jinja2.Template


@dataclass(frozen=True, slots=True)
class Prompt:
    """A checked prompt: `render` gives its turns, `request` a whole request."""

    front: FrontMatter
    path: Path
    digest: str
    schema: type[BaseModel] | None
    turns: tuple[_Turn, ...]

    @property
    def version(self) -> str:
        """The version as records name it."""
        return str(self.front.version)

    def render(self, inputs: Mapping[str, Any]) -> tuple[Message, ...]:
        """The turns for these inputs. Raises InputError for a missing or unknown input."""
        unknown, missing = inputs.keys() - self.front.inputs.keys(), self.front.inputs.keys() - inputs.keys()
        if unknown or missing:
            wrong = [f"missing {name}" for name in sorted(missing)] + [f"unknown {name}" for name in sorted(unknown)]
            raise InputError(f"prompt {self.front.name}: {', '.join(wrong)}")
        try:
            return tuple(Message(turn.role, turn.template.render(**inputs).strip(), turn.stable) for turn in self.turns)
        except (jinja2.TemplateError, ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise InputError(f"prompt {self.front.name}: {type(error).__name__}: {show(error)}") from None

    def request(
        self, inputs: Mapping[str, Any], target: ModelRef, *, item: str = "", seed: int | None = None,
        choices: Iterable[str] = (), fallbacks: Iterable[ModelRef] = (), sampling: Sampling | None = None,
    ) -> Request:  # fmt: skip
        """The request that asks `target` this prompt for one row; `sampling` replaces the prompt's own."""
        chosen = tuple(choices)
        if bool(chosen) != (self.front.output == "choices"):
            raise InputError(
                f"prompt {self.front.name}: its output is {self.front.output}, choices given: {len(chosen)}"
            )
        return Request(
            messages=self.render(inputs), provider=target.provider, model=target.model, schema=self.schema,
            choices=chosen, fallbacks=tuple(fallbacks), item=item, prompt=self.front.name, prompt_version=self.version,
            sampling=sampling
            or Sampling(max_tokens=self.front.max_tokens, temperature=self.front.temperature, seed=seed),
        )  # fmt: skip


@functools.cache
def load_prompts() -> dict[str, Prompt]:
    """The shipped prompts by name, read once. Raises InputError at the first that is not fit to be used."""
    return read_prompts(prompts_folder())


def read_prompts(folder: Path, check: bool = True) -> dict[str, Prompt]:
    """Every prompt in a folder, by name. Raises InputError at the first that is not fit to be used.

    `check` compares them with the folder's `versions.json` too.
    """
    paths = sorted(folder.glob(f"*{_SUFFIX}"))
    if not paths:
        raise InputError(f"{folder} holds no prompt files (*{_SUFFIX})")
    prompts = {prompt.front.name: prompt for prompt in map(read_prompt, paths)}
    if check:
        problems = check_lock(folder, prompts.values())
        if problems:
            raise InputError(problems[0])
    return prompts


def read_prompt(path: Path) -> Prompt:
    """One prompt file. Raises InputError naming the file and what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error
    head = _FRONT.match(text)
    if head is None:
        raise InputError(f"{path}: no front matter between `---` lines at the top")
    try:
        front = FrontMatter.model_validate(yaml.safe_load(head.group(1)))
    except RecursionError:
        raise InputError(f"{path}: the front matter is nested too deeply") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: the front matter is not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise InputError(f"{path}: {show_invalid(error)}") from None
    if path.name != front.name + _SUFFIX:
        raise InputError(f"{path}: the file of the prompt {front.name!r} must be called {front.name}{_SUFFIX}")
    turns = _read_turns(path, front, text[head.end() :])
    return Prompt(front, path, _hash(text), _find_schema(path, front.output), turns)


def check_lock(folder: Path, prompts: Iterable[Prompt]) -> list[str]:
    """What does not agree with `versions.json`, one line each: changed without a new version, or not yet in it."""
    locked = read_lock(folder)
    problems = []
    for prompt in prompts:
        versions = locked.get(prompt.front.name, {})
        known = versions.get(prompt.version)
        newest = max((int(version) for version in versions), default=0)
        if known is not None and known != prompt.digest:
            problems.append(
                f"{prompt.path}: changed without a new version: set `version: {newest + 1}`, then add it to {LOCK} "
                f"with `python -m hopwright.llm.prompts {folder}`"
            )
        elif known is None and prompt.front.version <= newest:
            problems.append(f"{prompt.path}: version {prompt.version} is older than version {newest} in {LOCK}")
        elif known is None:
            problems.append(
                f"{prompt.path}: version {prompt.version} is not in {LOCK}: `python -m hopwright.llm.prompts {folder}`"
            )
    return problems


def write_lock(folder: Path) -> list[str]:
    """Add new versions to `versions.json` and return their names. Raises InputError for a changed old one."""
    prompts = read_prompts(folder, check=False)
    locked = read_lock(folder)
    added = []
    for prompt in prompts.values():
        versions = locked.setdefault(prompt.front.name, {})
        if prompt.version not in versions and prompt.front.version > max(map(int, versions), default=0):
            versions[prompt.version] = prompt.digest
            added.append(f"{prompt.front.name} {prompt.version}")
    (folder / LOCK).write_text(json.dumps(locked, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    problems = check_lock(folder, prompts.values())
    if problems:
        raise InputError(problems[0])
    return added


def read_lock(folder: Path) -> dict[str, dict[str, str]]:
    """Name → version → hash; empty where there is no file yet."""
    path = folder / LOCK
    if not path.exists():
        return {}
    try:
        locked = load_json(read_file(path))
    except (OSError, JsonError) as error:
        raise InputError(f"{path}: {error}") from None
    if not isinstance(locked, dict) or not all(isinstance(one, dict) for one in locked.values()):
        raise InputError(f"{path}: it should say for each prompt its versions and their hashes")
    return locked


def _read_turns(path: Path, front: FrontMatter, body: str) -> tuple[_Turn, ...]:
    marks = list(_TURN.finditer(body))
    if not marks or body[: marks[0].start()].strip():
        raise InputError(f"{path}: the text must begin with a line [system], [system stable] or [user]")
    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    turns, used, seen_row = list[_Turn](), set[str](), False
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        source = body[mark.end() : following.start() if following else len(body)].strip()
        role, stable = _read_role(mark.group(1)), bool(mark.group(2))
        try:
            names = jinja2.meta.find_undeclared_variables(environment.parse(source))
            template = environment.from_string(source)
        except jinja2.TemplateSyntaxError as error:
            raise InputError(f"{path}: [{role}], line {error.lineno}: {error.message}") from None
        # Too deep a nest of brackets, or too long a number.
        except (RecursionError, ValueError, OverflowError, SyntaxError) as error:
            raise InputError(f"{path}: [{role}] is no template that can be read ({_first_line(error)})") from None
        if stable and names:
            raise InputError(f"{path}: the stable turn [{role}] uses {', '.join(sorted(names))}, which differs by row")
        if stable and seen_row:
            raise InputError(f"{path}: a stable turn comes after one that differs by row; put it first")
        seen_row = seen_row or not stable
        used |= names
        turns.append(_Turn(role, stable, template))
    if undeclared := used - front.inputs.keys():
        raise InputError(f"{path}: uses {', '.join(sorted(undeclared))}, which `inputs` does not list")
    if unused := front.inputs.keys() - used:
        raise InputError(f"{path}: never uses {', '.join(sorted(unused))} of its `inputs`")
    if turns[-1].role != "user":
        raise InputError(f"{path}: the last turn must be [user]")
    return tuple(turns)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _read_role(name: str) -> Role:
    roles: dict[str, Literal["system", "user", "assistant"]] = {
        "system": "system", "user": "user", "assistant": "assistant",
    }  # fmt: skip
    return roles[name]


def _find_schema(path: Path, output: str) -> type[BaseModel] | None:
    if output in ("text", "choices"):
        return None
    module, _, name = output.partition(":")
    try:
        schema = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"{path}: output {output}: {error}") from None
    if not (isinstance(schema, type) and issubclass(schema, BaseModel)):
        raise InputError(f"{path}: output {output} is no pydantic model")
    return schema


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def main() -> None:
    """Add the new versions of a prompt folder to its lock: `python -m hopwright.llm.prompts prompts`."""
    import sys

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("prompts")
    try:
        added = write_lock(folder)
    except InputError as error:
        sys.exit(str(error))
    sys.stdout.write(f"added: {', '.join(added) or 'nothing new'}\n")


if __name__ == "__main__":
    main()

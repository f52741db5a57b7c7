"""Prompt files: the shipped ones are fit for use, and each mistake is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopwright.errors import InputError
from hopwright.llm.prompts import LOCK, check_lock, read_lock, read_prompt, read_prompts, write_lock
from hopwright.llm.types import ModelRef

SHIPPED = Path(__file__).resolve().parents[2] / "prompts"
TARGET = ModelRef("local", "tiny")
GOOD = """---
name: greet
version: 1
description: Greets.
inputs:
  who: a name
output: text
---
[system stable]
Be kind.
[user]
Greet {{ who }}.
"""


def write(folder: Path, text: str, name: str = "greet") -> Path:
    path = folder / f"{name}.md.j2"
    path.write_text(text, encoding="utf-8")
    return path


def test_no_shipped_prompt_changed_without_a_new_version() -> None:
    assert check_lock(SHIPPED, read_prompts(SHIPPED, check=False).values()) == []


def test_the_lock_names_no_prompt_that_is_gone() -> None:
    assert read_lock(SHIPPED).keys() == read_prompts(SHIPPED).keys()


def test_every_shipped_prompt_renders_with_its_stable_part_first_and_free_of_inputs() -> None:
    hops = [{"index": 1, "builds_on": [], "task": "T", "names": "[]", "numbers": "[]", "facts": [], "kind": "year",
             "means": "M", "may_name": [], "wanted": True, "also_called": [], "question": "Q",
             "answer": "A"}]  # fmt: skip
    steps = [{"index": 1, "number": 1, "question": "Q", "answer": "A", "text": "T", "fact": "F"}]
    special = {
        "hops": hops, "sub_questions": hops, "options": {"A": "x", "B": "y", "C": "z", "D": "w"}, "steps": steps,
        "passages": [{"title": "P", "text": "T"}], "taken": ["T"], "facts": ["F"], "sentences": ["S"],
        "chain": [{"number": 1, "text": "T", "names": ["N"], "before": "B", "answer": "A", "called": "C"}],
    }  # fmt: skip
    for prompt in read_prompts(SHIPPED).values():
        inputs = {name: special.get(name, f"<{name}>") for name in prompt.front.inputs}
        choices = ("A", "B", "C", "D") if prompt.front.output == "choices" else ()
        asked = prompt.request(inputs, TARGET, item="i", choices=choices)
        assert [message.stable for message in asked.messages] == [True, False]
        assert asked.messages[-1].role == "user"
        assert (asked.schema is None) == (prompt.front.output in ("choices", "text"))
        assert (asked.prompt, asked.prompt_version) == (prompt.front.name, prompt.version)
        whole = "".join(message.content for message in asked.messages)
        assert "{{" not in whole
        for name in prompt.front.inputs.keys() - special.keys():
            assert f"<{name}>" in asked.messages[-1].content


def test_a_changed_prompt_needs_a_new_version_and_a_new_version_needs_the_lock(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    assert write_lock(tmp_path) == ["greet 1"]
    assert read_prompts(tmp_path)["greet"].render({"who": "Ada"})[1].content == "Greet Ada."
    path.write_text(GOOD.replace("kind", "rude"))
    with pytest.raises(InputError, match="changed without a new version: set `version: 2`"):
        read_prompts(tmp_path)
    with pytest.raises(InputError, match="changed without a new version"):
        write_lock(tmp_path)
    path.write_text(GOOD.replace("kind", "rude").replace("version: 1", "version: 2"))
    with pytest.raises(InputError, match="version 2 is not in"):
        read_prompts(tmp_path)
    assert write_lock(tmp_path) == ["greet 2"]
    assert read_prompts(tmp_path)["greet"].version == "2"
    assert json.loads((tmp_path / LOCK).read_text())["greet"].keys() == {"1", "2"}
    path.write_text(GOOD.replace("version: 1", "version: 0"))
    with pytest.raises(InputError, match=r"version: at least|version: more than"):
        read_prompts(tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("---\nname", "name"), "no front matter"),
        (("name: greet", "name: other"), "must be called other.md.j2"),
        (("description: Greets.\n", ""), "description: the field is missing"),
        (("output: text", "output: prose"), "output must be"),
        (("output: text", "output: hopwright.llm.answers:Nothing"), "Nothing"),
        (("output: text", "output: hopwright.llm.nowhere:Nothing"), "nowhere"),
        (("output: text", "output: hopwright.llm.types:Request"), "no pydantic model"),
        (("{{ who }}", "{{ whom }}"), "uses whom, which `inputs` does not list"),
        (("{{ who }}", "you"), "never uses who"),
        (("{{ who }}", "{{ who"), r"\[user\], line"),
        (("{{ who }}", "{{ who }}{{ " + "[" * 3_000 + "1" + "]" * 3_000 + " }}"), "no template that can be read"),
        (("{{ who }}", "{{ who }}{{ " + "1" * 6_000 + " }}"), "no template that can be read"),
        (("Be kind.", "Be kind to {{ who }}."), "stable turn .system. uses who"),
        (("[system stable]", "Hello\n[system stable]"), "must begin with a line"),
        (("[system stable]\nBe kind.\n[user]\nGreet {{ who }}.", "[user]\n{{ who }}\n[system stable]\nB"), "it first"),
        (("[user]\nGreet {{ who }}.", "[user]\n{{ who }}\n[assistant]\nHello"), "the last turn must be"),
        (("inputs:\n  who: a name", "inputs: [unclosed"), "not YAML"),
    ],
)  # fmt: skip
def test_each_mistake_in_a_prompt_file_is_named_with_the_file(
    tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    assert change[0] in GOOD
    path = write(tmp_path, GOOD.replace(*change))
    with pytest.raises(InputError, match=says) as caught:
        read_prompt(path)
    assert "greet.md.j2" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_inputs_are_checked_when_a_prompt_is_used(tmp_path: Path) -> None:
    prompt = read_prompt(write(tmp_path, GOOD))
    with pytest.raises(InputError, match="missing who, unknown whom"):
        prompt.render({"whom": "Ada"})
    with pytest.raises(InputError, match="its output is text"):
        prompt.request({"who": "Ada"}, TARGET, choices=("A", "B"))
    looped = GOOD.replace("Greet {{ who }}.", "{% for one in who %}{{ one.name }}{% endfor %}")
    with pytest.raises(InputError, match="has no attribute 'name'"):
        read_prompt(write(tmp_path, looped)).render({"who": [{}]})


def test_an_empty_folder_and_a_missing_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no prompt files"):
        read_prompts(tmp_path)
    with pytest.raises(InputError, match="No such file"):
        read_prompt(tmp_path / "gone.md.j2")


@pytest.mark.parametrize(
    "text",
    ["{{ who.__class__.__mro__ }}", "{{ who.__init__.__globals__ }}", "{{ who.format.__self__.__class__ }}",
     "{{ 1 / 0 }}", "{{ who + 1 }}", "{% for one in range(10**9) %}x{% endfor %}", "{{ who.x.y }}", "{{ '%d' % who }}"],
)  # fmt: skip
def test_a_template_reaches_nothing_but_its_inputs(tmp_path: Path, text: str) -> None:
    prompt = read_prompt(write(tmp_path, GOOD.replace("Greet {{ who }}.", f"Greet {{{{ who }}}}. {text}")))
    with pytest.raises(InputError, match="prompt greet: ") as caught:
        prompt.render({"who": "a"})
    assert "\n" not in str(caught.value)

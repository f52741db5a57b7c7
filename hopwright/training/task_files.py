"""Tasks as files: one JSON line each, which the server of episodes and every exported environment read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hopwright.environments.task import MAX_STEPS, GoldPlace, Task, TaskHop
from hopwright.errors import InputError
from hopwright.foreign import JsonError, load_json, read_lines, show, show_invalid

Form = Literal["tools", "tags"]
"""How a policy acts: by calls of tools as chat models make them, or by tags in its text."""
Split = Literal["train", "validation", "test"]
"""The parts of a set; only sets of pictures have one for validation."""
TASKS = "tasks.jsonl"


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlaceLine(_Line):
    """A gold place."""

    document: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class HopLine(_Line):
    """A hop; each entry of `gold` is a fact with the places that state it."""

    index: int = Field(ge=1)
    question: str
    answers: tuple[str, ...]
    depends_on: tuple[int, ...] = ()
    gold: tuple[tuple[PlaceLine, ...], ...] = ()


class ChatLine(_Line):
    """One turn of a prompt."""

    role: Literal["system", "user"]
    content: str


class TaskLine(_Line):
    """A task with all that is known of it.

    `pair` is the same for an item and its counterfactual twin. `difficulty`: the share of voters that answered the item
    rightly, turned round (1: nobody did); None where nobody voted. `ranks`: for each hop, at which rank the index finds
    its gold when the hop's question is asked; 0 for a hop without gold places, None below the hundredth. `order` is the
    place in the curriculum, from 0. The budget is `Task`'s. `pictures` are the SHA-256s of those that the question
    shows, in order; its twin, of the variant `twin`, has its words and other pictures.
    """

    id: str = Field(min_length=1)
    split: Split = "train"
    variant: Literal["factual", "counterfactual", "twin"] = "factual"
    pair: str = ""
    topology: str = ""
    question: str
    answers: tuple[str, ...] = Field(min_length=1)
    kind: Literal["date", "number", "text"] = "text"
    hops: tuple[HopLine, ...] = Field(min_length=1)
    difficulty: float | None = None
    ranks: tuple[int | None, ...] = ()
    order: int = 0
    max_steps: int = Field(MAX_STEPS, ge=1)
    max_turns: int = Field(0, ge=0)
    max_tokens: int = Field(0, ge=0)
    prompts: dict[Form, tuple[ChatLine, ...]] = {}
    pictures: tuple[str, ...] = ()

    @classmethod
    def from_task(cls, task: Task, **known: Any) -> Self:
        """The line of a task, with what is known beside it."""
        hops = tuple(
            HopLine(
                index=hop.index,
                question=hop.question,
                answers=hop.answers,
                depends_on=hop.depends_on,
                gold=tuple(
                    tuple(PlaceLine(document=one.document, start=one.start, end=one.end) for one in fact)
                    for fact in hop.gold
                ),
            )
            for hop in task.hops
        )
        return cls.model_validate(
            {
                "id": task.id,
                "question": task.question,
                "answers": task.answers,
                "kind": task.kind,
                "hops": hops,
                "max_steps": task.max_steps,
                "max_turns": task.max_turns,
                "max_tokens": task.max_tokens,
                **known,
            }
        )

    def to_task(self) -> Task:
        """The task of the line."""
        hops = tuple(
            TaskHop(
                hop.index,
                hop.question,
                hop.answers,
                hop.depends_on,
                tuple(tuple(GoldPlace(one.document, one.start, one.end) for one in fact) for fact in hop.gold),
            )
            for hop in self.hops
        )
        return Task(
            self.id, self.question, self.answers, self.kind, hops, self.max_steps, self.max_turns, self.max_tokens
        )


def write_tasks(lines: Iterable[TaskLine]) -> bytes:
    """The lines as a file's bytes."""
    return "".join(line.model_dump_json() + "\n" for line in lines).encode()


def read_tasks(path: Path) -> tuple[TaskLine, ...]:
    """Read a file of tasks, or the one in a folder. Raises InputError with the first line that is none."""
    file = path / TASKS if path.is_dir() else path
    if not file.is_file():
        raise InputError(
            f"{file}: no such file; `hopwright export --to environment` writes one, and of pictures "
            "`hopwright images export --form environment`"
        )
    found: dict[str, TaskLine] = {}
    with file.open("rb") as lines:
        for number, line in read_lines(lines):
            if line is None:
                raise InputError(f"{file}:{number}: the line is too long")
            if not line.strip():
                continue
            try:
                task = TaskLine.model_validate(load_json(line))
            except JsonError as error:
                raise InputError(f"{file}:{number}: {error}") from None
            except ValidationError as error:
                raise InputError(f"{file}:{number}: {show_invalid(error)}") from None
            if task.id in found:
                raise InputError(f"{file}:{number}: the task {show(task.id)!r} is there twice")
            if [hop.index for hop in task.hops] != list(range(1, len(task.hops) + 1)):
                raise InputError(f"{file}:{number}: the hops are not numbered from 1")
            if any(not 0 < one < hop.index for hop in task.hops for one in hop.depends_on):
                raise InputError(f"{file}:{number}: a hop depends on one that does not come before it")
            found[task.id] = task
    if not found:
        raise InputError(f"{file}: no task in it")
    return tuple(found.values())

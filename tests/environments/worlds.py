"""A small world whose facts are known to the letter: tasks, a finder, and agents that follow a script."""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.environments.episode import Episode
from hopwright.environments.task import FoundPassage, GoldPlace, Task, TaskHop
from hopwright.environments.transcript import Transcript
from hopwright.errors import InputError
from hopwright.llm.tool_calls import ToolCall

Turn = tuple[str, list[tuple[str, str]]]
"""What an agent writes, and its calls as tool and arguments."""


def make_passage(place: int, text: str) -> FoundPassage:
    return FoundPassage(f"d{place}", f"Page {place}", text, f"d{place}", 0, len(text))


class LetterFinder:
    """Finds the passages that hold a query to the letter."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.passages = [make_passage(place, text) for place, text in enumerate(texts, start=1)]

    def search(self, query: str, most: int) -> list[FoundPassage]:
        return [passage for passage in self.passages if query in passage.text][:most]

    def read(self, id: str) -> FoundPassage:
        for passage in self.passages:
            if passage.id == id:
                return passage
        raise InputError(id)


def make_task(
    depends_on: Sequence[tuple[int, ...]] = ((), (1,), (2,)), max_steps: int = 10
) -> tuple[Task, LetterFinder]:
    """A task of so many hops: hop k asks for Answer k, which the text of passage k states."""
    texts = [f"Fact {index}: Answer{index} is the answer." for index in range(1, len(depends_on) + 1)]
    hops = tuple(
        TaskHop(
            index,
            f"What is the answer of fact {index}?",
            (f"Answer{index}",),
            before,
            ((GoldPlace(f"d{index}", 0, len(texts[index - 1])),),),
        )
        for index, before in enumerate(depends_on, start=1)
    )
    noise = [f"Nothing of note, page {number}." for number in range(5)]
    last = f"Answer{len(hops)}"
    return Task("t", "What comes last?", (last,), "text", hops, max_steps), LetterFinder([*texts, *noise])


def search(query: str) -> tuple[str, str]:
    return "search", f'{{"query": "{query}"}}'


def play(task: Task, finder: LetterFinder, turns: Sequence[Turn]) -> Transcript:
    """The episode of a script; one that does not come to an end ends as if nothing more had come."""
    episode = Episode(task, finder, read_answer)
    for number, (text, calls) in enumerate(turns):
        made = [ToolCall(f"c{number}-{place}", *call) for place, call in enumerate(calls)]
        episode.take(text, made)
        if episode.transcript is not None:
            return episode.transcript
    episode.break_off("failed", "the script is over")
    assert episode.transcript is not None
    return episode.transcript


def read_answer(text: str) -> str | None:
    return text.removeprefix("FINAL ") if text.startswith("FINAL ") else None


def be_perfect(task: Task) -> list[Turn]:
    """Searches hop after hop, says what it found, and answers."""
    turns: list[Turn] = []
    said = "Let me look."
    for hop in task.hops:
        turns.append((said, [search(f"Fact {hop.index}:")]))
        said = f"It is {hop.answers[0]}."
    return [*turns, (f"FINAL {task.answers[0]}", [])]


def remember_only(task: Task) -> list[Turn]:
    return [(f"FINAL {task.answers[0]}", [])]


def search_and_ignore(task: Task) -> list[Turn]:
    return [*(("", [search(f"Fact {hop.index}:")]) for hop in task.hops), ("FINAL something else", [])]


def pad(task: Task, calls: int = 3) -> list[Turn]:
    return [("", [search("Nothing of note")])] * calls + be_perfect(task)


def malform(_: Task) -> list[Turn]:
    return [("", [("search", "{")]), ("", [("find", "{}")]), ("", [("search", '{"k": 1}')])]


def loop(task: Task) -> list[Turn]:
    return [("", [search("Fact 1:")])] * (task.max_steps + 2)

"""Proven chains turned into ideal transcripts, for supervised fine-tuning before the reinforcement.

An ideal agent looks for one hop after the other, says what it found, and answers; pictures it looks up. Everything that
it is shown is what the tools give, and every transcript is played and verified: it ends with the right answer, finds
every hop, and no call of it but a failed search is of no use. Where the words of a search fail, the passage is read
around, or the search is worded again; in a drawn share of the transcripts a search fails first, so that recovering is
learnt. The failed call is there to be seen and is not trained on.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hopwright.environments.episode import Episode
from hopwright.environments.fact_finder import FactFinder
from hopwright.environments.masking import render_masked
from hopwright.environments.picture_finder import PictureFinder
from hopwright.environments.rewards import CALL_COST, HOP_CREDIT, reward_hops
from hopwright.environments.tags import ARGUMENT, read_tagged_answer, take_tagged
from hopwright.environments.task import FoundPassage, GoldFact, Task, TaskHop
from hopwright.environments.tools import IMAGE_SEARCH, MOST_PASSAGES, PassageFinder, to_function_specs
from hopwright.environments.verifier import verify
from hopwright.evaluation.tool_loop import read_final_answer
from hopwright.llm.tool_calls import ToolCall
from hopwright.llm.types import Message
from hopwright.training.playing import find_for, list_tools
from hopwright.training.task_files import Form, TaskLine

PLACEHOLDER = "<image>"
"""What stands for a picture in a text that is trained on."""
_SHOWN = 3
"""Passages that a search shows which does not say how many."""
_MORE = MOST_PASSAGES
_BEGIN = (
    "I begin with this: {question}",
    "First I need to know: {question}",
    "The first thing to find out: {question}",
)
_GO_ON = ("Now I look for this: {question}", "Next: {question}", "That leads on to this: {question}")
_AGAIN = (
    "These passages do not say it. I put it in other words.",
    "That did not show it, so I ask more exactly.",
    "Nothing of that helps. I name what I am looking for.",
)
_READ = ("The passage breaks off there, so I read on around it.", "I read what stands around that passage.")


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of an ideal agent: what it says and calls. `trained` is false for a search that fails.

    `most` is how many passages a search asks for.
    """

    words: str
    tool: str
    argument: str
    trained: bool
    most: int = _SHOWN


@dataclass(frozen=True, slots=True)
class Trajectory:
    """An ideal transcript: its messages in OpenAI's form, and which of them are trained on."""

    row: dict[str, Any]
    failed: int


class NoTrajectoryError(ValueError):
    """The tools do not lead through a task; the text says where they stop."""


class TrajectoryMaker:
    """Makes the transcripts of tasks over one corpus. The same tasks, corpus and seed give the same bytes."""

    def __init__(self, finder: PassageFinder, seed: int, recoveries: float) -> None:
        self._finder = finder
        self._seed = seed
        self._recoveries = recoveries

    def make(self, line: TaskLine, form: Form) -> Trajectory:
        """The transcript of a task. Raises NoTrajectoryError where there is none."""
        task = line.to_task()
        finder = find_for(line, self._finder)
        steps, last = _Guide(task, finder, form, self._seed, self._recoveries, len(line.pictures)).plan()
        episode = Episode(task, finder, read_tagged_answer if form == "tags" else read_final_answer)
        trained = [_take(episode, step, form, number) and step.trained for number, step in enumerate(steps)]
        _require_open(episode)
        if form == "tags":
            take_tagged(episode, f"<think>{last}</think>\n<answer>{task.answers[0]}</answer>")
        else:
            episode.take(f"{last}\nFINAL ANSWER: {task.answers[0]}", [])
        failed = trained.count(False)
        _check(task, episode, failed)
        return Trajectory(self._render(line, form, episode, [*trained, True]), failed)

    def _render(self, line: TaskLine, form: Form, episode: Episode, trained: Sequence[bool]) -> dict[str, Any]:
        prompt = [mark_pictures(turn.model_dump(), line) for turn in line.prompts.get(form, ())]
        flags = iter(trained)
        row: dict[str, Any] = {
            "id": line.id,
            "split": line.split,
            "variant": line.variant,
            "hops": len(line.hops),
            "messages": [*prompt, *map(_to_wire, episode.messages)],
            "train": [0] * len(prompt)
            + [int(message.role == "assistant" and next(flags)) for message in episode.messages],
        }
        if form == "tags":
            masked = render_masked(episode.messages)
            row["text"] = masked.text
            row["trained"] = [list(span) for span, used in zip(masked.written, trained, strict=True) if used]
        else:
            specs = to_function_specs(list_tools(line))
            row["tools"] = [{"type": "function", "function": spec} for spec in specs]
        if line.pictures:
            row["images"] = [f"images/{media}.png" for media in line.pictures]
        return row


def mark_pictures(turn: dict[str, Any], line: TaskLine) -> dict[str, Any]:
    """A turn of a prompt with a placeholder for each picture before the user's words, as trainers read them."""
    marks = PLACEHOLDER * len(line.pictures) if turn["role"] == "user" else ""
    return {**turn, "content": f"{marks}{turn['content']}"}


class _Guide:
    """Finds the calls that lead through a task, by trying them."""

    def __init__(
        self, task: Task, finder: PassageFinder, form: Form, seed: int, recoveries: float, pictures: int
    ) -> None:
        self._pictures = pictures
        self._heard: list[str] = []
        self._task = task
        self._finder = finder
        self._form = form
        self._draw = random.Random(f"{seed}:trajectory:{task.id}")
        stated = [hop.index for hop in task.hops if hop.gold]
        recovers = bool(stated) and self._draw.random() < recoveries
        self._slips = self._draw.choice(stated) if recovers else 0
        self._there: set[GoldFact] = set()
        self._steps: list[Step] = []
        self._said = ""

    def plan(self) -> tuple[list[Step], str]:
        """The turns with calls, and the words of the last one. Raises NoTrajectoryError."""
        for hop in self._task.hops:
            missing = [fact for fact in dict.fromkeys(hop.gold) if fact not in self._there]
            if missing:
                self._find(hop)
            self._say(f"{hop.question} {hop.answers[0]}.")
            self._heard.append(hop.answers[0])
        return self._steps, self._said

    def _find(self, hop: TaskHop) -> None:
        words = _GO_ON if self._steps else _BEGIN
        self._say(self._draw.choice(words).format(question=hop.question))
        if hop.index == self._slips:
            query = next((one for one in self._list_vague(hop) if not self._learn(self._search(one), keep=False)), "")
            if query:
                self._call("search", query, trained=False)
                self._say(self._draw.choice(_AGAIN))
        if isinstance(self._finder, PictureFinder):
            for number in range(1, self._pictures + 1):
                alike = self._finder.look_up(number, 1)
                if any(self._shows(fact, alike) for fact in hop.gold) and self._learn(alike):
                    self._call(IMAGE_SEARCH.name, str(number))
            if all(fact in self._there for fact in hop.gold):
                return
        for query, most in self._list_queries(hop):
            found = self._search(query, most)
            if self._learn(found):
                self._call("search", query, most=most)
            elif beside := self._read_beside(hop, found):
                # The search finds the document and not the place: it is shown where it is read.
                if not self._learn(found, keep=False):
                    self._call("search", query, trained=False, most=most)
                self._say(self._draw.choice(_READ))
                self._call("read", beside)
                self._learn([self._finder.read(beside)])
            if all(fact in self._there for fact in hop.gold):
                return
        raise NoTrajectoryError(f"no search of hop {hop.index} shows where it is stated")

    def _list_queries(self, hop: TaskHop) -> Iterator[tuple[str, int]]:
        """Wordings of a search and how many passages it shows, the plainest first; a tag cannot ask for more.

        None holds the hop's answer, for an agent does not know it yet.
        """
        names = [self._task.hop(one).answers[0] for one in hop.depends_on]
        queries = [hop.question, " ".join([*names, hop.question])]
        yield from ((query, _SHOWN) for query in queries)
        if self._form == "tools":
            yield from ((query, _MORE) for query in queries)
        yield from self._list_pointed(hop)

    def _list_pointed(self, hop: TaskHop) -> Iterator[tuple[str, int]]:
        """Where the world is facts: searches for those that are missing, each by a subject that was heard of."""
        facts = self._finder.passages if isinstance(self._finder, PictureFinder) else None
        if not isinstance(facts, FactFinder):
            return
        asked: set[str] = set()
        while True:
            heard = " ".join([self._task.question, *self._heard])
            missing = [facts.ask_for(fact[0].document) for fact in hop.gold if fact not in self._there]
            queries = [f"{subject} {asks}" for subject, asks in missing if subject in heard]
            query = next((one for one in queries if one not in asked), None)
            if query is None:
                return
            asked.add(query)
            yield query, _MORE if self._form == "tools" else _SHOWN

    def _list_vague(self, hop: TaskHop) -> Iterator[str]:
        """Searches that an agent would try too early: the whole question, or the hop without what it has found."""
        yield self._task.question
        question = hop.question
        for one in hop.depends_on:
            for name in self._task.hop(one).answers:
                question = question.replace(name, "it")
        yield question
        yield " ".join(word for word in hop.question.split() if word[:1].islower())

    def _search(self, query: str, most: int = _SHOWN) -> Sequence[FoundPassage]:
        return self._finder.search(query, most)

    def _learn(self, passages: Iterable[FoundPassage], *, keep: bool = True) -> bool:
        """Whether passages show a gold place of the task that was not there yet; `keep`: they are there from now on."""
        shown = list(passages)
        new = {
            fact
            for hop in self._task.hops
            for fact in hop.gold
            if fact not in self._there and self._shows(fact, shown)
        }
        if keep and new:
            self._there |= new
            self._heard += [one.text for one in shown]
        return bool(new)

    @staticmethod
    def _shows(fact: GoldFact, passages: Sequence[FoundPassage]) -> bool:
        return any(place.is_in(one) for place in fact for one in passages)

    def _read_beside(self, hop: TaskHop, found: Sequence[FoundPassage]) -> str:
        """The id of a found passage around which a missing fact of the hop is read; empty where there is none."""
        missing = [fact for fact in hop.gold if fact not in self._there]
        for one in found:
            if any(place.document == one.document for fact in missing for place in fact):
                around = self._finder.read(one.id)
                if any(place.is_in(around) for fact in missing for place in fact):
                    return one.id
        return ""

    def _say(self, words: str) -> None:
        self._said = f"{self._said} {words}".strip()

    def _call(self, tool: str, argument: str, *, trained: bool = True, most: int = _SHOWN) -> None:
        self._steps.append(Step(self._said, tool, argument, trained, most))
        self._said = ""


def _take(episode: Episode, step: Step, form: Form, number: int) -> bool:
    _require_open(episode)
    if form == "tags":
        take_tagged(episode, f"<think>{step.words}</think>\n<{step.tool}>{step.argument}</{step.tool}>")
    else:
        named: dict[str, Any] = {ARGUMENT[step.tool]: step.argument}
        if step.tool == IMAGE_SEARCH.name:
            named = {"image": int(step.argument)}
        if step.most != _SHOWN:
            named["k"] = step.most
        text = json.dumps(named, ensure_ascii=False)
        episode.take(step.words, [ToolCall(f"call_{number}", step.tool, text)])
    return True


def _require_open(episode: Episode) -> None:
    if episode.transcript is not None:
        raise NoTrajectoryError(f"it takes more than the {episode.task.max_steps} calls of the budget")


def _check(task: Task, episode: Episode, failed: int) -> None:
    """Hold the transcript to what it promises. Raises NoTrajectoryError where it does not keep it."""
    transcript = episode.transcript
    assert transcript is not None
    verdict = verify(task, transcript)
    best = 1.0 + HOP_CREDIT * any(hop.gold for hop in task.hops) - CALL_COST * failed
    if not verdict.right or abs(reward_hops(task, transcript) - best) > 1e-9:
        lost = next((hop.index for hop in verdict.hops if not hop.found), 0)
        raise NoTrajectoryError(f"hop {lost} is not found" if lost else "its answer is not read as the right one")


def _to_wire(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.answers, "content": message.content}
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in message.calls
    ]
    return {"role": message.role, "content": message.content, **({"tool_calls": calls} if calls else {})}

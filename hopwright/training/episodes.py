"""Thousands of episodes at once, in one process: begun and stepped in batches, and found again after a kill.

An episode is a function of its task and its turns. So the journal holds what came in, in order, and an episode that is
not in memory is played again when its next turn comes.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hopwright.environments.episode import Episode
from hopwright.environments.tools import PassageFinder
from hopwright.errors import RunError
from hopwright.foreign import show
from hopwright.training.journal import Journal
from hopwright.training.playing import WireTurn, begin_episode, find_for, score_episode, take_turn
from hopwright.training.task_files import Form, Split, TaskLine

MOST_OPEN = 100_000
"""Episodes that may be open at once; one takes some tens of kilobytes."""
_MOST_ENDED = 200_000
"""Ended episodes whose result is kept, for a client that did not hear it."""
_COMPACT_BYTES = 256 << 20
"""The size from which on a journal is rewritten without the turns of ended episodes."""

Reply = dict[str, Any]


class RefusedError(ValueError):
    """A beginning or a turn that is not taken; its text is one line for whoever asked."""


@dataclass(slots=True)
class _Live:
    """An open episode: what it was begun with, the turns so far, and how it stands; None where it is not in memory."""

    task: str
    form: Form
    turns: list[WireTurn] = field(default_factory=list)
    episode: Episode | None = None
    last: Reply | None = None


class EpisodePool:
    """The episodes of one server. Not for several threads at once: whoever serves it takes turns."""

    def __init__(self, tasks: Sequence[TaskLine], finder: PassageFinder, journal: Journal) -> None:
        self.lines = {line.id: line for line in tasks}
        self._tasks = {line.id: line.to_task() for line in tasks}
        self._splits: dict[str, list[str]] = {}
        for line in sorted(tasks, key=lambda line: (line.order, line.id)):
            self._splits.setdefault(line.split, []).append(line.id)
        self._finder = finder
        self._journal = journal
        self._live: dict[str, _Live] = {}
        self._ended: dict[str, Reply] = {}
        for entry in journal.open():
            self._recall(entry)

    @property
    def open(self) -> int:
        """How many episodes have begun and not ended."""
        return len(self._live)

    def draw(self, count: int, seed: int, split: Split, group: int = 1, easiest: float = 1.0) -> list[tuple[str, str]]:
        """Ids of episodes and of their tasks, drawn by the seed; `group` episodes in a row have the same task.

        `easiest` is the part of the curriculum, from its beginning, that is drawn from. Raises RefusedError where the
        split has no task.
        """
        known = self._splits.get(split, [])
        if not known:
            raise RefusedError(f"there is no task of the split {split!r}")
        known = known[: max(1, round(len(known) * easiest))]
        drawn: list[tuple[str, str]] = []
        part = "" if (group, easiest) == (1, 1.0) else f"-{group}-{easiest:g}"
        for number in range(count):
            task = random.Random(f"{seed}:{split}:{number // group}").choice(known)
            drawn.append((f"{split}-{seed}{part}-{number}", task))
        return drawn

    def begin(self, wanted: Iterable[tuple[str, str]], form: Form) -> list[Reply]:
        """Begin episodes (their ids and tasks), in order; one of an id that is open begins anew, with its own task."""
        replies: list[Reply] = []
        entries: list[Mapping[str, Any]] = []
        for id, task in wanted:
            line = self.lines.get(task)
            if line is None:
                replies.append({"episode": id, "error": f"there is no task {task!r}"})
                continue
            if len(self._live) >= MOST_OPEN and id not in self._live:
                replies.append({"episode": id, "error": f"{MOST_OPEN:,} episodes are open: end or close some"})
                continue
            if (live := self._live.get(id)) is not None and live.task != task:
                replies.append({"episode": id, "error": f"it is open with the task {live.task!r}: close it first"})
                continue
            entries.append({"begin": id, "task": task, "form": form})
            self._recall(entries[-1])
            prompt = [turn.model_dump() for turn in line.prompts.get(form, ())]
            pictures = [f"/pictures/{media}" for media in line.pictures]
            replies.append({
                "episode": id, "task": task, "question": line.question, "prompt": prompt, "pictures": pictures,
                "turn": 0,
            })  # fmt: skip
        self._journal.append(entries)
        return replies

    def step(self, steps: Iterable[tuple[str, int, WireTurn]]) -> list[Reply]:
        """Take turns in, each with its episode and its number from 0; everything is on the disk when this returns.

        A turn that was taken before gives the same reply again, so that a client may send it once more. What cannot be
        taken is a reply with an `error`; the others go on.
        """
        replies: list[Reply] = []
        entries: list[Mapping[str, Any]] = []
        for id, number, turn in steps:
            try:
                replies.append(self._take(id, number, turn, entries))
            except RefusedError as error:
                replies.append({"episode": id, "turn": number, "error": str(error)})
        self._journal.append(entries)
        if self._journal.size > _COMPACT_BYTES:
            self.compact()
        return replies

    def close(self, ids: Iterable[str]) -> int:
        """Give episodes up that nobody goes on with; how many of them were open."""
        entries = [{"close": id} for id in ids if id in self._live]
        self._journal.append(entries)
        for entry in entries:
            self._recall(entry)
        return len(entries)

    def compact(self) -> None:
        """Rewrite the journal without the turns of episodes that have ended."""
        entries: list[Mapping[str, Any]] = [{"end": id, **reply} for id, reply in self._ended.items()]
        for id, live in self._live.items():
            entries.append({"begin": id, "task": live.task, "form": live.form})
            entries += [_note(id, number, turn) for number, turn in enumerate(live.turns)]
        self._journal.rewrite(entries)

    def _take(self, id: str, number: int, turn: WireTurn, entries: list[Mapping[str, Any]]) -> Reply:
        ended = self._ended.get(id)
        if ended is not None:
            if ended["turn"] == number:
                return ended
            raise RefusedError(f"the episode ended with turn {ended['turn']}")
        live = self._live.get(id)
        if live is None:
            raise RefusedError("there is no such episode: begin it")
        if number == len(live.turns) - 1 and turn == live.turns[number]:
            self._wake(id, live)
            assert live.last is not None
            return live.last
        if number != len(live.turns):
            raise RefusedError(f"turn {len(live.turns)} is next")
        episode = self._wake(id, live)
        reply = _play(id, episode, live.form, number, turn)
        entries.append(_note(id, number, turn))
        live.turns.append(turn)
        live.last = reply
        if reply["done"]:
            reply["task"] = live.task
            entries.append({"end": id, **reply})
            self._end(id, reply)
        return reply

    def _wake(self, id: str, live: _Live) -> Episode:
        """The episode of an open one; played again where it is not in memory."""
        if live.episode is None:
            finder = find_for(self.lines[live.task], self._finder)
            live.episode = begin_episode(self._tasks[live.task], live.form, finder)
            for number, turn in enumerate(live.turns):
                live.last = _play(id, live.episode, live.form, number, turn)
        return live.episode

    def _end(self, id: str, reply: Reply) -> None:
        self._live.pop(id, None)
        self._ended.pop(id, None)
        self._ended[id] = reply
        if len(self._ended) > _MOST_ENDED:
            self._ended.pop(next(iter(self._ended)))

    def _recall(self, entry: Mapping[str, Any]) -> None:
        """Take in what the journal says."""
        if "begin" in entry:
            self._ended.pop(entry["begin"], None)
            self._live[entry["begin"]] = _Live(entry["task"], entry["form"])
        elif "take" in entry:
            if entry["take"] not in self._live:
                what = f"a turn of {show(entry['take'])}, which never began"
                raise RunError(f"{self._journal.path}: {what}; move the file away to begin anew")
            self._live[entry["take"]].turns.append(WireTurn.model_validate(entry))
        elif "close" in entry:
            self._live.pop(entry["close"], None)
        elif "end" in entry:
            self._end(entry["end"], {name: value for name, value in entry.items() if name != "end"})


def _play(id: str, episode: Episode, form: Form, number: int, turn: WireTurn) -> Reply:
    observations = take_turn(episode, form, turn)
    reply: Reply = {"episode": id, "turn": number, "observations": observations, "done": episode.transcript is not None}
    return {**reply, **score_episode(episode)} if reply["done"] else reply


def _note(id: str, number: int, turn: WireTurn) -> Mapping[str, Any]:
    return {"take": id, "turn": number, "text": turn.text, "calls": [call.model_dump() for call in turn.calls]}

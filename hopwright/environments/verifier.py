"""What a transcript shows of each hop, how deep it goes, and why a wrong answer is wrong.

A hop is *retrieved* when a passage that the agent was shown holds a gold place of every fact that the hop rests on. It
is *written* when its answer, or an alias, stands in the agent's words, in its final answer, or in the query of a call
that found a gold place. It is *found* when it is written after it is retrieved. A hop without gold places, which is
worked out from others, is found when it is written.

**MaxD** is the depth of the deepest hop k such that k itself and all hops that it rests on are found. The depth of a
hop counts it and all hops that it rests on, directly or not: in a chain it is the hop's number, and the depth of the
last hop is the number of all hops. AgenticRAGTracer, from which the name comes, asks the sub-questions of fewer hops
one by one and takes the greatest number of hops that is answered rightly. Here one transcript has to show it, and an
answer that the agent knew without looking counts for nothing. Where there is nothing to look into (closed book) there
is no MaxD.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from hopwright.environments.task import FoundPassage, GoldFact, Task, TaskHop
from hopwright.environments.transcript import Transcript
from hopwright.scoring.answers import TextScore, is_close, normalise, score_text
from hopwright.text.stems import content_stems

FailureClass = Literal[
    "no_answer", "not_searched", "wrong_plan", "searched_not_found", "found_unused", "over_extended", "not_known"
]
"""Why an answer is wrong; the first hop, in order, whose answer the agent did not write decides.

- `no_answer`: the model failed or refused, its calls were malformed, or its answer could not be read;
- `over_extended`: all calls were used up without an answer, or every hop was written, the last one too, and the agent
  went on to another answer;
- `found_unused`: the hop is retrieved, but its answer is not written;
- `searched_not_found`: the agent looked for the hop, but it is not retrieved, or not the whole of it;
- `wrong_plan`: when it came to the hop, the agent looked for other things only, which served no hop;
- `not_searched`: when it came to the hop, the agent looked for nothing more;
- `not_known`: in place of the last five, where there is nothing to look into.
"""
FAILURE_CLASSES: tuple[FailureClass, ...] = get_args(FailureClass)
_LOST = frozenset({"malformed", "refusal", "truncated", "empty", "failed", "not_extractable"})
_LEAST_SHARED = 0.5
"""Part of a query's words that the sub-question has, for the query to be one for that hop."""


@dataclass(frozen=True, slots=True)
class HopEvidence:
    """What a transcript shows of one hop.

    `facts` are the facts with gold places that it rests on, `shown` how many of them the agent was shown.
    `retrieved_at` and `written_at` are numbers of turns, from 1: with the result of that turn all facts are there (0:
    with the question), in that turn the answer is first written; None: never.
    """

    index: int
    facts: int
    shown: int
    retrieved_at: int | None
    written_at: int | None
    found: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """A transcript against its task. `serving` says of every call whether it found a gold place that was not there yet.

    `failure` is empty for a right answer; `max_depth` is None in a closed book.
    """

    score: TextScore
    close: bool
    right: bool
    hops: tuple[HopEvidence, ...]
    max_depth: int | None
    serving: tuple[bool, ...]
    failure: FailureClass | None


def verify(task: Task, transcript: Transcript, *, closed_book: bool = False) -> Verdict:
    """Hold a transcript against its task."""
    score = score_text(transcript.answer, task.answers)
    close = any(is_close(transcript.answer, gold, task.kind) for gold in task.answers)
    right = transcript.ended == "answered" and (score.em == 1.0 or close)
    reader = _TranscriptReader(task, transcript)
    hops = tuple(reader.read_hop(hop) for hop in task.hops)
    found = {hop.index for hop in hops if hop.found}
    depths = [
        1 + len(before)
        for hop in task.hops
        if hop.index in found and (before := task.list_ancestors(hop.index)) <= found
    ]
    failure = None if right else _classify(task, transcript, hops, reader.serving, closed_book=closed_book)
    return Verdict(
        score if transcript.ended == "answered" else TextScore(0.0, 0.0, 0.0, 0.0),
        close and transcript.ended == "answered",
        right,
        hops,
        None if closed_book else max(depths, default=0),
        reader.serving,
        failure,
    )


class _TranscriptReader:
    """A transcript read once for all hops: what was shown after each turn, and what counts as written in each."""

    def __init__(self, task: Task, transcript: Transcript) -> None:
        facts = [fact for hop in task.hops for fact in hop.gold]
        there = {fact for fact in facts if _is_shown(fact, transcript.given)}
        self._shown: list[frozenset[GoldFact]] = [frozenset(there)]
        self._written: list[str] = []
        serving: list[bool] = []
        for turn in transcript.turns:
            words = [turn.text]
            for action in turn.actions:
                new = {fact for fact in facts if fact not in there and _is_shown(fact, action.passages)}
                there |= new
                serving.append(bool(new))
                if new:
                    words.append(action.query)
            self._shown.append(frozenset(there))
            self._written.append(_pad("\n".join(words)))
        if self._written and transcript.answer:
            self._written[-1] += _pad(transcript.answer)
        self.serving = tuple(serving)

    def read_hop(self, hop: TaskHop) -> HopEvidence:
        """What the transcript shows of a hop."""
        names = [_pad(name) for name in hop.answers if normalise(name)]
        written = [
            number for number, words in enumerate(self._written, start=1) if any(name in words for name in names)
        ]
        gold = frozenset(hop.gold)
        retrieved_at = next((turn for turn, there in enumerate(self._shown) if gold <= there), None) if gold else None
        found = bool(written) and (not gold or (retrieved_at is not None and written[-1] > retrieved_at))
        return HopEvidence(
            hop.index, len(gold), len(gold & self._shown[-1]), retrieved_at, written[0] if written else None, found
        )


def _classify(
    task: Task, transcript: Transcript, hops: tuple[HopEvidence, ...], serving: tuple[bool, ...], *, closed_book: bool
) -> FailureClass:
    if transcript.ended in _LOST:
        return "no_answer"
    if transcript.ended == "out_of_steps":
        return "over_extended"
    if closed_book:
        return "not_known"
    missing = next((hop for hop in hops if hop.written_at is None), None)
    if missing is None:
        return "over_extended"
    if missing.facts and missing.retrieved_at is not None:
        return "found_unused"
    if missing.shown:
        return "searched_not_found"
    hop = task.hop(missing.index)
    begun = max((hops[one - 1].written_at or 0 for one in hop.depends_on), default=0)
    looked_for = _list_vain_queries(transcript, serving, begun)
    if not looked_for:
        return "not_searched"
    return "searched_not_found" if any(_is_for(query, task, hop) for query in looked_for) else "wrong_plan"


def _list_vain_queries(transcript: Transcript, serving: tuple[bool, ...], begun: int) -> list[str]:
    """What was looked for from a turn on, that turn's own calls included, without serving any hop."""
    turns = [(number, action) for number, turn in enumerate(transcript.turns, start=1) for action in turn.actions]
    return [
        action.query
        for (number, action), served in zip(turns, serving, strict=True)
        if number >= begun and not served and not action.problem
    ]


def _is_for(query: str, task: Task, hop: TaskHop) -> bool:
    """Whether a query looks for a hop: half of its words stand in the sub-question, or name what it rests on."""
    words = content_stems(query)
    names = " ".join(name for one in hop.depends_on for name in task.hop(one).answers)
    return bool(words) and len(words & content_stems(f"{hop.question} {names}")) >= _LEAST_SHARED * len(words)


def _is_shown(fact: GoldFact, passages: tuple[FoundPassage, ...]) -> bool:
    return any(place.is_in(passage) for place in fact for passage in passages)


def _pad(text: str) -> str:
    """The text as exact match reads it, between spaces: whole words are then found by looking for a part."""
    return f" {normalise(text)} "

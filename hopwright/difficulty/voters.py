"""What a voter is: it sees a multiple-choice question and gives one option, with how sure it is of each.

Omanic (section 3) lets an ensemble of small models answer; offline, solvers without weights stand for the shortcuts
that such models take. All of them, models behind a server or in this process and solvers, sit behind `Voter`, which is
asked in batches.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from hopwright.errors import InputError
from hopwright.records import LABELS, AnswerType, Derivation, Domain, Item, Label, Vote


@dataclass(frozen=True, slots=True)
class VoterQuestion:
    """A question as a voter sees it: everything but which option is right.

    options: the four texts in the order A–D. entities: their Q-ids, or four times None unless all are known (one
    known id among unknown ones could be the answer's). relation, domain, answer_type and unit are the last hop's.
    """

    key: str
    question: str
    options: tuple[str, str, str, str]
    entities: tuple[str | None, str | None, str | None, str | None]
    relation: Derivation
    domain: Domain | None
    answer_type: AnswerType
    unit: str


@dataclass(frozen=True, slots=True)
class ChosenOption:
    """An option (0–3) without probabilities: what a model wrote in words, or a server that tells none."""

    index: int


@dataclass(frozen=True, slots=True)
class MissingVote:
    """No vote, and why: `kind` in one word, `reason` in a line. Never counted as a wrong answer."""

    kind: str
    reason: str


VoterAnswer = tuple[float, ...] | ChosenOption | MissingVote
"""The probabilities of A–D, which sum to 1; or an option without them; or nothing."""


class Voter(Protocol):
    """One member of the ensemble."""

    name: str

    def choose(self, choices: Sequence[VoterQuestion]) -> Sequence[VoterAnswer]:
        """One answer for every question, in order; the vote goes to the most probable option."""
        ...


def view(item: Item) -> VoterQuestion:
    """What a voter may see of an item."""
    last = item.hops[-1]
    ids: dict[str, str | None] = {distractor.text: distractor.id for distractor in last.distractors}
    ids[last.answer] = last.answer_id
    a, b, c, d = (item.options[label] for label in LABELS)
    entities = tuple(ids.get(text) for text in (a, b, c, d))
    one, two, three, four = entities if all(entities) else (None, None, None, None)
    return VoterQuestion(
        key=item.id,
        question=item.question,
        options=(a, b, c, d),
        entities=(one, two, three, four),
        relation=last.derivation,
        domain=last.domain,
        answer_type=last.answer_type,
        unit=last.unit,
    )


def vote(voter: Voter, items: Sequence[Item]) -> list[Vote]:
    """One vote per item, of a voter that always answers: the solvers. Models vote through `ballots.cast`.

    Whether a vote is right is looked up only after the voter has chosen.
    """
    votes: list[Vote] = []
    for item, probabilities in zip(items, voter.choose([view(item) for item in items]), strict=True):
        if not isinstance(probabilities, tuple):
            raise InputError(f"voter {voter.name} did not answer {item.id}: a voter that may fail casts ballots")
        option = pick(probabilities)
        votes.append(Vote(model=voter.name, option=option, probabilities=probabilities, right=option == item.label))
    return votes


def pick(probabilities: Sequence[float]) -> Label:
    """The most probable label; the first of equals."""
    return LABELS[max(range(len(LABELS)), key=lambda index: (probabilities[index], -index))]


def to_probabilities(
    scores: Sequence[float], options: Sequence[str], *, seed: int, voter: str, key: str, sharpness: float = 1.0
) -> tuple[float, ...]:
    """Softmax of scores, rounded to 6 digits; equal scores are parted by a keyed hash of the option's text.

    The hash, not the position, decides between equals, so that the letters stay without influence.
    """
    ordered = sorted(range(len(scores)), key=lambda i: (scores[i], hash_text(f"{seed}:{voter}:{key}:{options[i]}")))
    top = scores[ordered[-1]]
    weights = [math.exp(sharpness * (score - top)) for score in scores]
    # The winner among equals gets a nudge that no rounding takes away.
    weights[ordered[-1]] += 1e-4
    total = sum(weights)
    rounded = [round(weight / total, 6) for weight in weights]
    rounded[ordered[-1]] = round(1 - sum(rounded) + rounded[ordered[-1]], 6)
    return tuple(rounded)


def hash_text(text: str) -> int:
    """The same number for the same text, in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())

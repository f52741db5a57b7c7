"""Ballots: what a voter was shown, what it chose, how sure it was. One Parquet row per item and voter.

The options are shown in an order drawn for each voter and item, so that a voter's liking for a letter falls on every
option alike; a ballot holds everything in the item's own order. Shown in all four orders, a ballot also says how much
the choice depends on the order.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import pyarrow as pa

from hopwright.difficulty.voters import (
    ChosenOption,
    MissingVote,
    Voter,
    VoterAnswer,
    VoterQuestion,
    hash_text,
    pick,
    view,
)
from hopwright.records import LABELS, Item, Rejected, Vote
from hopwright.records.arrow import read_parquet

Rotations = Literal["one", "all"]

_SPREAD = pa.list_(pa.float64())
BALLOT_SCHEMA = pa.schema(
    [
        ("item", pa.string()),
        ("voter", pa.string()),
        ("option", pa.string()),
        ("right", pa.bool_()),
        ("probabilities", _SPREAD),
        ("shown", pa.list_(pa.int8())),
        ("chosen", pa.list_(pa.int8())),
        ("spreads", pa.list_(_SPREAD)),
    ]
)


@dataclasses.dataclass(frozen=True, slots=True)
class Ballot:
    """One voter's answer to one item; every list of options is in the item's own order, A–D.

    shown: the rotations asked (by how many places the options moved up). chosen: under each of them, the index of the
    option picked. spreads: under each of them, the probabilities (6 digits), empty where the voter gives none.
    probabilities: their mean; empty for a single pick without any.
    """

    item: str
    voter: str
    option: str
    right: bool
    probabilities: tuple[float, ...]
    shown: tuple[int, ...]
    chosen: tuple[int, ...]
    spreads: tuple[tuple[float, ...], ...]

    def to_vote(self) -> Vote:
        """The ballot as an item carries it."""
        return Vote.model_validate(
            {"model": self.voter, "option": self.option, "probabilities": self.probabilities, "right": self.right}
        )


def cast(
    voter: Voter, items: Sequence[Item], *, seed: int, rotations: Rotations = "one"
) -> tuple[list[Ballot], list[Rejected]]:
    """Ask a voter about every item; returns its ballots, and one `Rejected` per item that it gave no vote on.

    Items in = ballots + rejected. Whether a ballot is right is looked up only after the voter has chosen.
    """
    asked = [(item, rotation) for item in items for rotation in _draw_rotations(seed, voter.name, item.id, rotations)]
    answers = voter.choose([rotate(view(item), rotation) for item, rotation in asked])
    by_item: dict[str, list[tuple[int, VoterAnswer]]] = {}
    for (item, rotation), answer in zip(asked, answers, strict=True):
        by_item.setdefault(item.id, []).append((rotation, answer))
    ballots: list[Ballot] = []
    unanswered: list[Rejected] = []
    for item in items:
        found = by_item[item.id]
        failed = next((answer for _, answer in found if isinstance(answer, MissingVote)), None)
        if failed is not None:
            unanswered.append(Rejected(key=item.id, check=failed.kind, reason=f"{voter.name}: {failed.reason}"))
        else:
            ballots.append(_fill(voter.name, item, found, seed))
    return ballots, unanswered


def rotate(choice: VoterQuestion, by: int) -> VoterQuestion:
    """The same question with its options moved up `by` places: what was option `by` is shown as A."""
    if not by % 4:
        return choice
    a, b, c, d = ((index + by) % 4 for index in range(4))
    options, entities = choice.options, choice.entities
    return dataclasses.replace(
        choice,
        options=(options[a], options[b], options[c], options[d]),
        entities=(entities[a], entities[b], entities[c], entities[d]),
    )


def draw_rotation(seed: int, voter: str, item: str) -> int:
    """The rotation (0–3) in which a voter sees an item."""
    return hash_text(f"{seed}:rotation:{voter}:{item}") % 4


def ballots_to_table(ballots: Iterable[Ballot]) -> pa.Table:
    """Ballots as a table of `BALLOT_SCHEMA`."""
    rows = list(ballots)
    columns = {name: [getattr(ballot, name) for ballot in rows] for name in BALLOT_SCHEMA.names}
    return pa.Table.from_pydict(columns, schema=BALLOT_SCHEMA)


def read_ballots(path: Path) -> list[Ballot]:
    """The ballots of one Parquet file. Raises InputError when it is none."""
    rows = read_parquet(path, BALLOT_SCHEMA).to_pylist()
    return [
        Ballot(
            item=row["item"],
            voter=row["voter"],
            option=row["option"],
            right=row["right"],
            probabilities=tuple(row["probabilities"]),
            shown=tuple(row["shown"]),
            chosen=tuple(row["chosen"]),
            spreads=tuple(map(tuple, row["spreads"])),
        )
        for row in rows
    ]


def _draw_rotations(seed: int, voter: str, item: str, rotations: Rotations) -> tuple[int, ...]:
    return (0, 1, 2, 3) if rotations == "all" else (draw_rotation(seed, voter, item),)


def _fill(voter: str, item: Item, found: Sequence[tuple[int, VoterAnswer]], seed: int) -> Ballot:
    spreads: list[tuple[float, ...]] = []
    chosen: list[int] = []
    options = [item.options[label] for label in LABELS]
    for rotation, answer in found:
        if isinstance(answer, ChosenOption):
            chosen.append((answer.index + rotation) % 4)
            continue
        assert isinstance(answer, tuple)
        spread = [0.0] * 4
        for place, probability in enumerate(answer):
            spread[(place + rotation) % 4] = round(probability, 6)
        spreads.append(tuple(spread))
        chosen.append(_pick_first(spread, options, f"{seed}:{voter}:{item.id}"))
    if len(spreads) == len(found):
        # Rounded before they are compared: equal means must not be parted by the order of a sum.
        mean = [round(math.fsum(column) / len(spreads), 6) for column in zip(*spreads, strict=True)]
    else:
        # Picks only: over several orders their shares are what there is to average.
        mean = [chosen.count(index) / len(chosen) for index in range(4)]
    option = LABELS[_pick_first(mean, options, f"{seed}:{voter}:{item.id}")]
    return Ballot(
        item=item.id,
        voter=voter,
        option=option,
        right=option == item.label,
        probabilities=() if not spreads and len(found) == 1 else tuple(mean),
        shown=tuple(rotation for rotation, _ in found),
        chosen=tuple(chosen),
        spreads=tuple(spreads),
    )


def _pick_first(spread: Sequence[float], options: Sequence[str], key: str) -> int:
    """The most probable option; among equals a keyed hash of the texts decides, so that no letter gains by it."""
    top = max(spread)
    equals = [index for index in range(4) if spread[index] == top]
    if len(equals) == 1:
        return LABELS.index(pick(spread))
    return max(equals, key=lambda index: hash_text(f"{key}:{options[index]}"))

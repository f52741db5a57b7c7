"""What a voter is shown, and what of that a ballot keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.difficulty.ballots import ballots_to_table, cast, draw_rotation, read_ballots, rotate
from hopwright.difficulty.voters import ChosenOption, MissingVote, VoterAnswer, VoterQuestion, view
from hopwright.records import LABELS, Item
from hopwright.records.arrow import encode_parquet
from tests.builders import all_items, chain_item


class LikesLetter:
    """Always the same letter, whatever it says."""

    name = "likes-b"

    def __init__(self, letter: str = "B", sure: float = 0.7) -> None:
        self._place = "ABCD".index(letter)
        self._sure = sure

    def choose(self, choices: Sequence[VoterQuestion]) -> list[VoterAnswer]:
        rest = (1 - self._sure) / 3
        return [tuple(self._sure if place == self._place else rest for place in range(4)) for _ in choices]


class KnowsAnswer:
    """Picks a text, wherever it stands; with or without saying how sure it is."""

    name = "knows"

    def __init__(self, texts: dict[str, str], *, words: bool = False) -> None:
        self._texts = texts
        self._words = words

    def choose(self, choices: Sequence[VoterQuestion]) -> list[VoterAnswer]:
        places = [choice.options.index(self._texts[choice.key]) for choice in choices]
        return [
            ChosenOption(at) if self._words else tuple(0.85 if at == n else 0.05 for n in range(4)) for at in places
        ]


def many(count: int) -> list[Item]:
    return [chain_item().model_copy(update={"id": f"hw-{number}"}) for number in range(count)]


@given(st.sampled_from(all_items()), st.integers(0, 7))
def test_a_rotation_moves_options_and_entities_alike_and_nothing_else(item: Item, by: int) -> None:
    plain, turned = view(item), rotate(view(item), by)
    for place in range(4):
        assert turned.options[place] == plain.options[(place + by) % 4]
        assert turned.entities[place] == plain.entities[(place + by) % 4]
    assert (turned.key, turned.question, turned.relation) == (plain.key, plain.question, plain.relation)


@pytest.mark.parametrize("rotations", ["one", "all"])
@pytest.mark.parametrize("words", [False, True])
def test_who_knows_the_answer_gets_it_in_every_order(rotations, words: bool) -> None:  # type: ignore[no-untyped-def]
    items = many(20)
    voter = KnowsAnswer({item.id: item.options[item.label] for item in items}, words=words)
    ballots, unanswered = cast(voter, items, seed=3, rotations=rotations)
    assert unanswered == []
    assert all(ballot.right for ballot in ballots)
    for ballot, item in zip(ballots, items, strict=True):
        assert ballot.option == item.label
        assert ballot.to_vote().right
        if words and rotations == "one":
            assert ballot.probabilities == ()
        else:
            assert ballot.probabilities[LABELS.index(item.label)] == (1.0 if words else 0.85)


def test_a_liking_for_a_letter_falls_on_every_option_alike() -> None:
    items = many(2000)
    ballots, _ = cast(LikesLetter(), items, seed=5)
    chosen = Counter(ballot.option for ballot in ballots)
    assert all(420 < chosen[label] < 580 for label in LABELS)
    assert Counter(ballot.shown for ballot in ballots).keys() == {(0,), (1,), (2,), (3,)}


def test_over_all_orders_a_liking_for_a_letter_is_no_liking_for_an_option() -> None:
    ballots, _ = cast(LikesLetter(), many(400), seed=5, rotations="all")
    for ballot in ballots:
        assert ballot.shown == (0, 1, 2, 3)
        assert sorted(ballot.chosen) == [0, 1, 2, 3]
        assert ballot.probabilities == (0.25,) * 4
    # Equals are parted by the option's text, never by its letter.
    assert len({ballot.option for ballot in ballots}) == 4


@given(st.integers(0, 10**6), st.text(max_size=5))
def test_the_order_depends_on_seed_model_and_item_only(seed: int, item: str) -> None:
    assert draw_rotation(seed, "m", item) == draw_rotation(seed, "m", item)
    assert 0 <= draw_rotation(seed, "m", item) <= 3


def test_every_model_sees_its_own_order() -> None:
    pairs = Counter((draw_rotation(0, "one", f"hw-{n}"), draw_rotation(0, "other", f"hw-{n}")) for n in range(3000))
    assert len(pairs) == 16
    assert min(pairs.values()) > 100


def test_batches_do_not_change_ballots() -> None:
    items = many(12)
    whole, _ = cast(LikesLetter(), items, seed=1)
    assert whole == [ballot for item in items for ballot in cast(LikesLetter(), [item], seed=1)[0]]


class Silent:
    name = "silent"

    def choose(self, choices: Sequence[VoterQuestion]) -> list[VoterAnswer]:
        return [
            MissingVote("refusal", "the model refused") if choice.key == "hw-1" and choice.options[0] == "95"
            else (0.4, 0.3, 0.2, 0.1)
            for choice in choices
        ]  # fmt: skip


def test_no_answer_in_one_order_is_no_ballot() -> None:
    ballots, unanswered = cast(Silent(), many(3), seed=0, rotations="all")
    assert [ballot.item for ballot in ballots] == ["hw-0", "hw-2"]
    (row,) = unanswered
    assert (row.key, row.check, row.reason) == ("hw-1", "refusal", "silent: the model refused")


def test_ballots_come_back_from_their_file_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "ballots.parquet"
    items = many(5)
    ballots = [
        *cast(LikesLetter(), items, seed=1, rotations="all")[0],
        *cast(KnowsAnswer({item.id: "95" for item in items}, words=True), items, seed=1)[0],
    ]
    path.write_bytes(encode_parquet(ballots_to_table(ballots)))
    assert read_ballots(path) == ballots
    path.write_bytes(encode_parquet(ballots_to_table([])))
    assert read_ballots(path) == []

"""Which of the proven chains are kept: answers and steps are spread, and chains that are hard to hear come last."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from hopwright.planning.mention_chains import ProvenChain, count_bare, select_chains
from hopwright.planning.mention_steps import NUMBERS, Step, StepKind

KINDS: tuple[StepKind, ...] = ("speaker", "companion", "place", "voice", "first", "last", "mentioned", "answered")


def chain(*kinds: StepKind, place: int, answer: int = 9) -> ProvenChain:
    """A chain of these kinds, whose steps are its own by their place."""
    steps = tuple(
        Step(kind, (1, 2)[: 2 * (kind == "companion")], number > 0, (100 * place + number,), answer)
        for number, kind in enumerate(kinds)
    )
    return ProvenChain(steps, (), (5000,) * (len(kinds) - 1), 0.5)


@st.composite
def list_chains(draw: st.DrawFn) -> list[ProvenChain]:
    kinds = st.lists(st.sampled_from(KINDS), min_size=1, max_size=3)
    last = st.sampled_from((*KINDS, *NUMBERS))
    rows = draw(st.lists(st.tuples(kinds, last, st.integers(0, 6)), max_size=60))
    return [chain(*held, end, place=place, answer=answer) for place, (held, end, answer) in enumerate(rows)]


@settings(max_examples=60, deadline=None)
@given(list_chains(), st.integers(1, 40), st.integers(0, 3))
def test_what_is_selected_is_spread(chains: list[ProvenChain], most: int, seed: int) -> None:
    taken = select_chains(chains, most, seed, "key")
    assert taken == select_chains(chains, most, seed, "key")
    assert len(taken) <= most
    assert Counter(one.steps for one in taken) <= Counter(one.steps for one in chains)
    answers = Counter((one.steps[-1].ends, one.steps[-1].answer) for one in taken)
    assert all(count <= max(2, -(-most // 10)) for count in answers.values())
    counting = sum(one.steps[-1].kind in NUMBERS for one in taken)
    assert 12 * (counting - 1) + 6 <= len(taken) or counting == 0


def test_chains_about_the_story_come_first() -> None:
    bare = [chain("companion", "companion", place=number, answer=number) for number in range(20)]
    mixed = [chain("voice", "companion", place=20 + number, answer=20 + number) for number in range(10)]
    told = [chain("speaker", "teller", place=40 + number, answer=40 + number) for number in range(5)]
    taken = select_chains([*bare, *mixed, *told], 35, 0, "key")
    assert [count_bare(one.steps) for one in taken] == [0] * 5 + [1] * 10 + [2] * 20


def test_words_to_be_found_again_are_no_question_of_their_own() -> None:
    assert count_bare(chain("speaker", place=0).steps) == 1
    assert count_bare(chain("speaker", "voice", place=0).steps) == 0


def test_a_step_is_taken_more_often_where_there_is_nothing_else() -> None:
    shared = Step("speaker", (), False, (1,), 8)
    ends = [chain("teller", place=place, answer=place).steps for place in range(99)]
    held = [ProvenChain((shared, *end), (), (5,), 0.5) for end in ends]
    own = [chain("voice", "teller", place=200 + place, answer=200 + place) for place in range(4)]
    taken = select_chains([*held, *own], 40, 0, "key")
    assert sum(one.steps[0] == shared for one in taken) == 12
    assert set(own) <= set(taken[:7])

"""What a proof has to refuse, on windows of a few paragraphs whose names are given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import pytest

from hopwright.knowledge.named_windows import NamedParagraph, NamedWindow
from hopwright.planning.mention_proofs import Refuted, WindowProver
from hopwright.planning.mention_steps import Step, StepKind

ANN, BOB, CID, DAN, EVE, FAY, GUS = range(7)
PERSONS = frozenset(range(7))


def make_window(
    *named: Collection[int],
    heard: Mapping[int, Collection[int]] = MappingProxyType({}),
    told: Mapping[int, Collection[int]] = MappingProxyType({}),
    otherwise: Collection[int] = (),
    doubted: Collection[int] = (),
    unnamed: Collection[int] = (),
    shared: Collection[int] = (),
    short: Collection[int] = (),
    unsure: Collection[tuple[int, int]] = (),
    chapters: Sequence[int] = (),
    words: tuple[tuple[int, int, int], ...] = (),
) -> NamedWindow:
    """A window whose paragraphs name these; in some of them it is not sure that somebody is meant.

    heard: of the paragraphs where somebody speaks, who may; it is not sure in those that are `doubted`. told: whom
    their words name, by a word of their own name but for those who are `otherwise` called. shared: the paragraphs where
    others may say some of the words.
    """
    doubts = frozenset(unsure)
    paragraphs = tuple(
        NamedParagraph(
            block=place, position=40 * place, usable=place not in short,
            chapter=(1, chapters[place] if chapters else 1), possible=frozenset(who),
            sure=frozenset(one for one in who if (place, one) not in doubts), unnamed=place in unnamed,
            voices=frozenset(heard.get(place, ())), heading=chapters[place] if chapters else None,
            speakers=tuple(heard.get(place, ())) if place not in doubted else (),
            spoken=frozenset(told.get(place, ())), shared=place in shared,
            called=frozenset(told.get(place, ())) - {-1, *otherwise},
        )
        for place, who in enumerate(named)
    )  # fmt: skip
    return NamedWindow(paragraphs, PERSONS, frozenset(), words)


def refuse(window: NamedWindow, *steps: Step) -> str:
    """Which proof refuses a chain; empty where all hold."""
    found = WindowProver(window).prove(steps)
    return found.proof if isinstance(found, Refuted) else ""


def step(kind: StepKind, clues: tuple[int, ...], place: int, answer: int, *, follows: bool = False) -> Step:
    return Step(kind, clues, follows, (place,), answer)


BEGIN = ((ANN, BOB), (ANN, CID, FAY), (BOB, DAN, EVE))
CHAIN = (step("first", (ANN,), 0, BOB), step("companion", (DAN,), 2, EVE, follows=True))


@pytest.mark.parametrize(("end", "proof"), [(GUS, ""), (EVE, "needed")])
def test_another_answer_on_the_way_may_lead_to_the_same_end(end: int, proof: str) -> None:
    assert refuse(make_window(*BEGIN, (CID, DAN, end), (DAN, ANN), (DAN, GUS)), *CHAIN) == proof


def test_the_answer_before_is_needed_to_find_the_paragraph() -> None:
    """Where the other names select the paragraph alone, or one of a few, the answer before is not needed."""
    assert refuse(make_window(*BEGIN, (CID, FAY)), *CHAIN) == "named"
    rare = make_window(*BEGIN, (CID, DAN, GUS), (DAN, GUS))
    assert refuse(rare, *CHAIN) == "chained"
    three = step("companion", (DAN, GUS), 2, EVE, follows=True)
    window = [(ANN, BOB), (ANN, CID, FAY), (BOB, DAN, EVE, GUS), (BOB, DAN), (BOB, GUS)]
    assert refuse(make_window(*window), CHAIN[0], three) == "named"
    assert refuse(make_window(*window, (DAN, GUS, CID)), CHAIN[0], three) == "chained"


def test_who_is_named_once_is_not_asked_for_as_named_first() -> None:
    assert refuse(make_window((ANN, BOB), (BOB, CID)), step("first", (ANN,), 0, BOB)) == "named"
    assert refuse(make_window((ANN, BOB), (ANN, CID, DAN)), step("first", (ANN,), 0, BOB)) == ""


def test_a_short_paragraph_answers_as_a_long_one() -> None:
    """Without the first paragraph a short one says the same; a hop rests on none."""
    window = make_window((ANN, BOB), (ANN, BOB), (BOB, CID), short=[1])
    assert refuse(window, step("first", (ANN,), 0, BOB)) == "needed"
    assert refuse(make_window((ANN, BOB), (ANN, CID), short=[0]), step("first", (ANN,), 0, BOB)) == "unique"


@pytest.mark.parametrize(
    ("chapters", "proof"), [((1, 3, 5, 9), ""), ((1, 1, 5, 9), ""), ((1, 1, 1, 9), "needed")]
)
def test_a_number_that_stays_whatever_is_meant_is_no_proof(chapters: tuple[int, ...], proof: str) -> None:
    """The second paragraph only may name Ann: without the first, it or the third may be where she comes first."""
    window = make_window((ANN,), (ANN,), (ANN,), (ANN,), unsure=[(1, ANN)], chapters=chapters)
    assert refuse(window, Step("chapters", (ANN,), False, (3, 0), 7)) == proof


@pytest.mark.parametrize("kind", ["companion", "first"])
def test_who_is_there_without_a_name_may_be_the_other_person(kind: StepKind) -> None:
    named = ((ANN, BOB), (ANN, CID, FAY), (BOB, CID))
    clues = (ANN,) if kind == "first" else (ANN, FAY)
    place, answer = (0, BOB) if kind == "first" else (1, CID)
    more = ((FAY, GUS),) if kind == "companion" else ()
    assert refuse(make_window(*named, *more), step(kind, clues, place, answer)) == ""
    assert refuse(make_window(*named, *more, unnamed=[place]), step(kind, clues, place, answer)) == "unique"


@pytest.mark.parametrize(
    ("heard", "told", "doubted", "proof"),
    [
        ({0: (ANN,), 2: (ANN,)}, {2: (BOB,)}, (), ""),
        ({2: (ANN,)}, {2: (BOB,)}, (), "named"),
        ({0: (ANN,), 2: (ANN,)}, {2: (BOB, CID)}, (), "unique"),
        ({0: (ANN,), 2: (ANN,)}, {2: (BOB, -1)}, (), "unique"),
        ({0: (ANN,), 2: (ANN,)}, {2: (BOB,)}, (2,), "unique"),
        ({0: (ANN,), 2: (ANN, CID)}, {2: (BOB,)}, (), "unique"),
        ({0: (ANN,), 2: (ANN,), 3: (ANN,)}, {2: (BOB,)}, (), "unique"),
        ({0: (ANN,), 2: (ANN,)}, {0: (BOB,), 2: (BOB,)}, (), "needed"),
    ],
)
def test_whom_somebody_names_when_last_heard(
    heard: Mapping[int, Collection[int]], told: Mapping[int, Collection[int]], doubted: Collection[int], proof: str
) -> None:
    """Ann speaks twice, and names Bob the last time; not where somebody else may speak, or she may speak once more."""
    window = make_window((ANN, BOB), (BOB, CID), (ANN, BOB, CID), (ANN, EVE), heard=heard, told=told, doubted=doubted)
    assert refuse(window, Step("mentioned", (ANN,), False, (2,), BOB, final=True)) == proof


@pytest.mark.parametrize(
    ("told", "heard", "proof"),
    [
        ({1: (ANN,), 2: (ANN,)}, {1: (BOB,), 2: (CID,)}, ""),
        ({1: (ANN,)}, {1: (BOB,), 2: (CID,)}, "named"),
        ({0: (ANN,), 1: (ANN,), 2: (ANN,)}, {1: (BOB,), 2: (CID,)}, ""),
        ({1: (ANN,), 2: (ANN,)}, {1: (BOB, EVE), 2: (CID,)}, "unique"),
        ({1: (ANN,), 2: (ANN,)}, {1: (BOB,), 2: (BOB,)}, "needed"),
    ],
)
def test_who_names_somebody_first_in_a_chapter(
    told: Mapping[int, Collection[int]], heard: Mapping[int, Collection[int]], proof: str
) -> None:
    """The second chapter has the paragraphs 1 and 2; what is said in the first does not count."""
    everybody = ((ANN,), (ANN, BOB, EVE), (ANN, BOB, CID), (ANN, FAY))
    window = make_window(*everybody, told=told, heard=heard, chapters=(1, 2, 2, 3))
    assert refuse(window, Step("teller", (ANN,), False, (1,), BOB, chapter=2)) == proof


@pytest.mark.parametrize(("chapters", "proof"), [((1, 2, 2, 3), ""), ((1, 2, 2, 2), "named"), ((1, 2, 3, 3), "named")])
def test_a_chapter_that_may_go_on_proves_nothing(chapters: tuple[int, ...], proof: str) -> None:
    """The chapter where a window ends may go on; one that names somebody once has no first time."""
    window = make_window((ANN, CID), (ANN, BOB), (ANN, DAN), (ANN, FAY), chapters=chapters)
    assert refuse(window, Step("first", (ANN,), False, (1,), BOB, chapter=2)) == proof


@pytest.mark.parametrize(
    ("heard", "proof"),
    [
        ({0: (ANN,), 2: (BOB,), 3: (CID,)}, ""),
        ({0: (ANN, FAY), 2: (BOB,), 3: (CID,)}, "unique"),
        ({0: (ANN,), 2: (BOB, DAN), 3: (CID,)}, "unique"),
        ({0: (ANN,), 2: (BOB,), 3: (BOB,)}, "needed"),
        ({0: (ANN,), 1: (ANN,), 2: (BOB,), 3: (CID,)}, ""),
        ({0: (ANN,), 1: (ANN, DAN), 2: (BOB,), 3: (CID,)}, "unique"),
    ],
)
def test_who_else_is_named_as_speaking_after_some_words(heard: Mapping[int, Collection[int]], proof: str) -> None:
    window = make_window((ANN, FAY), (DAN,), (BOB, DAN), (BOB, CID), heard=heard, words=((7, 0, ANN),))
    assert refuse(window, Step("reply", (), False, (2, 0), BOB, quotation=7)) == proof


@pytest.mark.parametrize(
    ("shared", "otherwise", "proof"), [((), (), ""), ((1,), (), "unique"), ((2,), (), ""), ((), (ANN,), "unique")]
)
def test_who_names_somebody_says_the_name_and_all_words(
    shared: Collection[int], otherwise: Collection[int], proof: str
) -> None:
    """Bob is no teller where somebody else may say it, or where Ann is called by another name."""
    everybody = ((ANN,), (ANN, BOB, EVE), (ANN, BOB, CID), (ANN, FAY))
    told, heard = {1: (ANN,), 2: (ANN,)}, {1: (BOB,), 2: (CID,)}
    window = make_window(
        *everybody, told=told, heard=heard, chapters=(1, 2, 2, 3), shared=shared, otherwise=otherwise
    )
    assert refuse(window, Step("teller", (ANN,), False, (1,), BOB, chapter=2)) == proof


ANSWERING = ((ANN,), (FAY,), (ANN,), (DAN,), (BOB, DAN), (CID,))


@pytest.mark.parametrize(
    ("heard", "doubted", "proof"),
    [
        ({0: (ANN,), 1: (FAY,), 2: (ANN,), 4: (BOB,), 5: (CID,)}, (), ""),
        ({2: (ANN,), 4: (BOB,), 5: (CID,)}, (), "named"),
        ({0: (ANN,), 1: (FAY,), 2: (ANN,), 4: (BOB,), 5: (CID,)}, (4,), "unique"),
        ({0: (ANN,), 1: (FAY,), 2: (ANN,), 4: (BOB, DAN), 5: (CID,)}, (), "unique"),
        ({0: (ANN,), 1: (BOB,), 2: (ANN,), 4: (BOB,), 5: (CID,)}, (), "needed"),
        ({0: (ANN,), 1: (FAY,), 2: (ANN,), 4: (BOB,), 5: (BOB,)}, (), "needed"),
        ({0: (ANN,), 1: (FAY,), 2: (ANN,), 4: (BOB,), 5: (BOB,)}, (5,), "needed"),
    ],
)
def test_who_is_named_as_speaking_next(
    heard: Mapping[int, Collection[int]], doubted: Collection[int], proof: str
) -> None:
    """Bob speaks next after Ann's last words; without those, or his own, it has to be another one."""
    named = tuple(tuple({*one, *heard.get(place, ())}) for place, one in enumerate(ANSWERING))
    window = make_window(*named, heard=heard, doubted=doubted)
    assert refuse(window, Step("answered", (ANN,), False, (4, 2), BOB, final=True)) == proof


@pytest.mark.parametrize(
    ("chapters", "unsure", "proof"),
    [((3, 4, 5), (), ""), ((3, 5, 5), (), "needed"), ((3, 4, 5), [(2, ANN)], "unique")],
)
def test_the_chapter_that_names_somebody_last(
    chapters: tuple[int, ...], unsure: Collection[tuple[int, int]], proof: str
) -> None:
    window = make_window((ANN,), (ANN,), (ANN, BOB), unsure=unsure, chapters=chapters)
    assert refuse(window, step("chapter", (ANN,), 2, 5)) == proof

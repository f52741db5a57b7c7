"""How facts become sentences: what stands together, in which order, and what is never said."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from hopwright.counterfactual.invented_facts import FactInventor
from hopwright.counterfactual.passage_clauses import write_ordinal
from hopwright.counterfactual.passage_frames import ToldFact, find_family, find_role
from hopwright.counterfactual.passage_phrases import list_role
from hopwright.counterfactual.passage_writer import PassageWriter
from hopwright.counterfactual.passages import PassagePlan, find_redundant
from hopwright.counterfactual.renamed_entities import NameRules
from hopwright.counterfactual.surrogate_names import SurrogateNameGenerator
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import LiteralFact, Passage, Triplet
from hopwright.records.values import EntityKind

TABLE = default_table()


class Names:
    """Names, nouns and kinds by id."""

    def __init__(self, known: Mapping[str, tuple[str, str, EntityKind]]) -> None:
        self._known = known

    def phrase(self, entity: str) -> str:
        return self._known[entity][0]

    def noun(self, entity: str) -> str:
        return self._known[entity][1]

    def kind(self, entity: str) -> EntityKind:
        return self._known[entity][2]


def state(subject: str, property: str, object: str) -> Triplet:
    return Triplet(
        subject=subject, property=property, object=object, subject_label="", property_label="", object_label=""
    )


def give(subject: str, property: str, value: str, datatype: str = "decimal") -> LiteralFact:
    return LiteralFact.model_validate(
        {"subject": subject, "property": property, "value": value, "datatype": datatype, "subject_label": "",
         "property_label": ""}
    )  # fmt: skip


def word_film(
    number: int, *, properties: tuple[str, ...] = ("P57", "P344", "P1040", "P86", "P2515", "P161")
) -> Passage:
    subject = f"Q{number}"
    people = {f"{subject}{name}": (f"{name} Velden", "person", "person") for name in properties}
    names = Names({subject: ('"Leaving Sabel"', "film", "work"), **people})  # type: ignore[dict-item]
    triplets = tuple(state(subject, name, f"{subject}{name}") for name in properties)
    literals = (give(subject, "P577", "1956-01-01T00:00:00Z", "dateTime"), give(subject, "P2047", "7980"))
    return PassageWriter(TABLE).word(PassagePlan(subject, "Leaving Sabel", "", triplets, literals, True), names)


def split_sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.]) (?=[A-Z\"])", text)


def test_a_passage_opens_with_what_its_subject_is_and_tells_facts_together() -> None:
    for number in range(40):
        text = word_film(number).text
        first, *rest = split_sentences(text)
        assert "Leaving Sabel" in first and "film" in first, text
        assert len(rest) + 1 <= 6, text  # eight facts
        assert all(text.count(f"{name} Velden") == 1 for name in ("P57", "P344", "P1040", "P86", "P2515", "P161")), text
        assert text.count("1956") == 1 and text.count("133 minutes") == 1, text


def test_sentences_of_films_vary() -> None:
    shapes = {re.sub(r"P\d+", "X", one) for number in range(60) for one in split_sentences(word_film(number).text)}
    assert len(shapes) > 30


def word_one(subject: tuple[str, str, EntityKind], *facts: Triplet | LiteralFact, calling: str = "") -> str:
    people = {f"Q{number}": (f"{name} Velden", "person", "person") for number, name in enumerate(("Mara", "Tev"), 2)}
    names = Names({"Q1": subject, **people})  # type: ignore[dict-item]
    triplets = tuple(one for one in facts if isinstance(one, Triplet))
    literals = tuple(one for one in facts if isinstance(one, LiteralFact))
    return PassageWriter(TABLE).word(PassagePlan("Q1", subject[0], "", triplets, literals, True, calling), names).text


def test_what_is_invented_in_words_is_told_as_it_stands() -> None:
    premise = "a ferryman on trial for an accident at sea"
    text = word_one(
        ('"Leaving Sabel"', "film", "work"), give("Q1", "premise", premise, "string"), state("Q1", "P57", "Q2")
    )
    assert premise in text and "Mara Velden" in text


def test_several_in_one_role_are_told_in_the_plural() -> None:
    both = (state("Q1", "P1431", "Q2"), state("Q1", "P1431", "Q3"))
    texts = {
        word_one(('"Leaving Sabel"', "film", "work"), *both, give("Q1", "P2047", str(60 * n))) for n in range(80, 99)
    }
    assert all("Mara Velden and Tev Velden" in one and not re.search(r"as an? |is credited", one) for one in texts)


@pytest.mark.parametrize(
    ("noun", "calling"), [("novelist", ""), ("person", "novelist"), ("cinematographer", "novelist")]
)
def test_a_life_begins_with_a_calling(noun: str, calling: str) -> None:
    text = word_one(
        ("Ada Lind", noun, "person"),
        give("Q1", "P569", "1911-04-02T00:00:00Z", "dateTime"),
        state("Q1", "P26", "Q2"),
        calling=calling,
    )
    assert "novelist" in split_sentences(text)[0] and "Ada Lind" in split_sentences(text)[0]


def test_the_crew_stands_before_the_release() -> None:
    behind = sum(
        max(map(word_film(number).text.index, ("P344", "P1040"))) < word_film(number).text.index("133")
        for number in range(40)
        if not split_sentences(word_film(number).text)[0].count("133")
    )
    assert behind > 20


def test_a_frame_is_filled_where_all_of_its_facts_are_there() -> None:
    family = find_family(frozenset(), "film", "work", ())
    facts = {"released": ToldFact("on 5 March 1956"), "director": ToldFact("A and B", many=True)}
    fitting = {one.text for one in family.openings if one.fits(facts, {})}
    assert "{name} is {a} directed by {director} and released {released}" in fitting
    assert not any("{a_released}" in one for one in fitting)  # it takes a bare year
    dated = {**facts, "released": ToldFact("in 1811")}
    filled = [one.fill(dated) for one in family.openings if "{a_released}" in one.text and one.fits(dated, {})]
    assert filled and all("an 1811" in one for one in filled)
    single = [one for one in family.frames if one.text == "{cast1} plays the leading part"]
    assert [one.fits({"cast": ToldFact("A")}, {}) for one in single] == [True]
    assert not any(one.fits({"cast": ToldFact("A and B", many=True)}, {}) for one in single)  # one actor, not two


def test_a_place_in_a_series_is_an_ordinal() -> None:
    assert [write_ordinal(number) for number in (1, 3, 10, 11, 12, 13, 21, 22, 43, 111)] == [
        "first", "third", "tenth", "11th", "12th", "13th", "21st", "22nd", "43rd", "111th",
    ]  # fmt: skip
    names = Names({"Q1": ("the 1986 Tour de France", "edition", "event")})
    plan = PassagePlan("Q1", "1986 Tour de France", "", (), (give("Q1", "P991340", "22"),), supporting=True)
    text = PassageWriter(TABLE).word(plan, names).text
    assert text.startswith("The 1986 Tour de France was the 22nd of the Tours de France") and "list" not in text


def test_two_lists_that_name_one_commander_say_it_once() -> None:
    known: dict[str, tuple[str, str, EntityKind]] = {
        "Q1": ("Gemini 6A", "space mission", "event"), "Q2": ("Mara Velden", "astronaut", "person"),
    }  # fmt: skip
    both = (state("Q1", "P991481", "Q2"), state("Q1", "P991041", "Q2"))
    text = PassageWriter(TABLE).word(PassagePlan("Q1", "Gemini 6A", "", both, (), True), Names(known)).text
    assert find_role("P991481") == find_role("P991041") and text.count("Mara Velden") == 1


def test_beside_a_first_degree_no_other_studies_are_told() -> None:
    assert "P69" in find_redundant({"P990280"}) and "P69" in find_redundant({"P991921"})
    assert find_redundant({"P276"}) == {"P131"} and not find_redundant({"P57"})
    assert {"P144", "P990188"} <= find_redundant({"P990187"})  # the source of a film is told once


class OneNoun(Names):
    def __init__(self, noun: str, kind: EntityKind) -> None:
        self._phrase, self._noun, self._kind = "the 1912 Velmora Cup final", noun, kind

    def phrase(self, entity: str) -> str:
        return self._phrase

    def noun(self, entity: str) -> str:
        return self._noun

    def kind(self, entity: str) -> EntityKind:
        return self._kind


def invent(plans: list[PassagePlan], names: Names) -> list[PassagePlan]:
    inventor = FactInventor(
        "k", frozenset(), plans, names, SurrogateNameGenerator(1, lambda _: False), NameRules((), ()), TABLE,
        (f"QX{n}" for n in range(10**4)), {}, {},
    )  # fmt: skip
    return [inventor.add_facts(plan) for plan in plans]


def test_members_of_a_series_share_their_organiser_and_are_told_what_suits_them() -> None:
    names = OneNoun("edition", "event")
    plans = [PassagePlan(f"Q{n}", f"Cup {n}", "", (), (give(f"Q{n}", "P991290", str(n)),), True) for n in range(1, 9)]
    made = invent(plans, names)
    organisers = {one.object for plan in made for one in plan.triplets if one.property == "P664"}
    stadiums = {one.object for plan in made for one in plan.triplets if one.property == "stadium"}
    told = {one.property for plan in made for one in (*plan.triplets, *plan.literals)}
    assert len(organisers) == 1 and len(stadiums) == len(made)
    assert "broadcaster" not in told  # nobody showed a match of 1912 on television


def test_few_of_a_crew_are_made_up_and_films_are_told_different_things() -> None:
    names = OneNoun("film", "work")
    plans = [PassagePlan(f"Q{n}", f"Film {n}", "", (state(f"Q{n}", "P990187", f"Q9{n}"),), (), True) for n in range(12)]
    made = invent(plans, names)
    told = [{one.property for one in (*plan.triplets, *plan.literals)} for plan in made]
    assert all(len(one & {*list_role("crew")}) <= 4 and "P144" not in one for one in told)
    assert len({frozenset(one) for one in told}) > 8
    premises = [one.value for plan in made for one in plan.literals if one.property == "premise"]
    assert len(premises) == len({*premises}) > 3


def test_whoever_nothing_is_known_of_gets_a_calling_and_keeps_it() -> None:
    plan = PassagePlan("Q1", "Ada Lind", "", (), (), False)
    first, again = invent([plan, plan], OneNoun("person", "person"))
    assert first.calling and first.calling == again.calling
    assert not invent([plan], OneNoun("novelist", "person"))[0].calling  # her noun says it


@pytest.mark.parametrize("word", ["Lasmira", "Lasmitz"])
def test_names_that_begin_alike_are_kept_apart(word: str) -> None:
    rules = NameRules((), ())
    rules.use("Gobel Lasmiro")
    assert rules.refuse(f"Tera {word}") and not rules.refuse("Tera Kolmitz")
    assert not rules.refuse("Tera Lasmiro")  # a relative
    assert not rules.refuse(f"The {word[:3]} Foundation")


def test_names_are_no_common_words() -> None:
    namer = SurrogateNameGenerator(3, lambda _: False)
    given = {str(namer.name(f"{number}", "Ada Lind", "person")).split()[0].lower() for number in range(3000)}
    assert not given & {"none", "gone", "done", "bone", "doctor", "broken", "woman"}

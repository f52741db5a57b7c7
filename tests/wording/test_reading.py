"""Reading a wording against its plan: what is right passes, and each way of going wrong is seen and named."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.llm.answers import WordedItem
from hopwright.llm.prompts import read_prompts
from hopwright.records import Item
from hopwright.settings import prompts_folder
from hopwright.text.matching import is_distinctive_name
from hopwright.wording.llm.plan_brief import PlanBriefWriter
from hopwright.wording.llm.text_constraints import PlanEntity, TextConstraintBuilder, TextConstraints, spell
from hopwright.wording.llm.vocabulary import Vocabulary, find_steps, stem
from hopwright.wording.llm.wording_checks import WordingChecker
from hopwright.wording.marks import read_marks
from tests.drafts import draft_items
from tests.planning.plans import Told, compose, read_natural, synthesizer

BOOK_CAPITAL = next(id for id, entry in default_table().literal.items() if entry.timeline == "world_book_capital")
_OPPOSITES = {
    "after": "before", "before": "after", "larger": "smaller", "smaller": "larger", "fewer": "more",
    "later": "earlier", "less": "more", "first": "last", "last": "first", "oldest": "youngest", "youngest": "oldest",
    "latest": "earliest", "earliest": "latest", "tallest": "shortest", "shortest": "tallest",
}  # fmt: skip

_WRITTEN_OUT = {
    "three": "five", "four": "seven", "Four": "Eleven", "Six": "Nine", "forty": "fifty", "sixty": "seventy",
    "Sixty": "Eighty", "fortieth": "thirtieth", "seventy-five": "seventy-four", "seventy-fifth": "sixty-fifth",
}  # fmt: skip


@pytest.fixture(scope="module")
def reader(sample: GraphStore) -> WordingChecker:
    vocabulary = Vocabulary(default_table())
    return WordingChecker(vocabulary, TextConstraintBuilder(vocabulary, sample))


@pytest.fixture(scope="module")
def natural(sample: GraphStore) -> tuple[Told, ...]:
    return read_natural(sample)


def kinds(reader: WordingChecker, told: Told, question: str = "", subs: dict[int, str] | None = None) -> set[str]:
    """What is wrong once the whole question or some sub-questions are replaced."""
    texts = [(subs or {}).get(index, text) for index, text in enumerate(told.sub_questions, start=1)]
    return {problem.kind for problem in reader.read(told.draft, texts, question or told.question)}


def test_the_rules_own_wording_of_every_draft_is_right(reader: WordingChecker, sample: GraphStore) -> None:
    for draft in draft_items(sample):
        assert reader.read(draft, [hop.question for hop in draft.hops], draft.question) == []


def test_natural_wordings_are_right(reader: WordingChecker, natural: tuple[Told, ...]) -> None:
    wrong = {
        told.question: found
        for told in natural
        if (found := reader.read(told.draft, told.sub_questions, told.question))
    }
    assert wrong == {}
    assert len(natural) >= 45


def test_the_prompts_own_examples_are_right(reader: WordingChecker, sample: GraphStore) -> None:
    plans: list[tuple[str, list[tuple[dict[str, Any], str, str]]]] = [
        ("bridge", [
            ({"op": "lookup", "subject": "Q207130", "property": "P57"}, "entity", ""),
            ({"op": "lookup", "subject": "hop1", "property": "P569"}, "number", "year"),
            ({"op": "lookup", "subject": "Q207130", "property": "P577"}, "number", "year"),
            ({"op": "compute", "expression": "abs(hop2 - hop3)", "kind": "temporal"}, "number", "years"),
        ]),
        ("converging", [
            ({"op": "lookup", "subject": "Q211372", "property": "P57"}, "entity", ""),
            ({"op": "lookup", "subject": "Q1124332", "property": "P57"}, "entity", ""),
            ({"op": "compute", "expression": "argmax(P569, hop1, hop2)", "kind": "comparison"}, "entity", ""),
            ({"op": "lookup", "subject": "hop3", "property": "P570"}, "date", ""),
        ]),
        ("chain", [
            ({"op": "lookup", "subject": "Q294583", "property": "P570"}, "number", "year"),
            ({"op": "reverse_lookup", "property": BOOK_CAPITAL, "value": "hop1"}, "entity", ""),
            ({"op": "reverse_lookup", "property": "P36", "value": "hop2"}, "entity", ""),
            ({"op": "compute", "expression": "size(all(P47, hop3))", "kind": "counting"}, "number", ""),
        ]),
    ]  # fmt: skip
    shown = read_prompts(prompts_folder())["word-item"].turns[0].template.render()
    answers = [
        WordedItem.model_validate_json(text)
        for text in re.findall(r"^\{\"sub_questions.*?\}$", shown, re.MULTILINE | re.DOTALL)
    ]
    assert len(answers) == len(plans)
    for (topology, steps), answer in zip(plans, answers, strict=True):
        fields = [{"derivation": one, "answer_type": kind, "unit": unit} for one, kind, unit in steps]
        draft = compose(sample, topology, fields)
        assert draft is not None
        questions, whole = [hop.question for hop in answer.sub_questions], read_marks(answer.question).text
        assert reader.read(draft, questions, whole, marked=answer.question) == []
        assert write_brief(draft, sample) <= set(shown.splitlines())
        for hop in draft.hops:
            assert json.dumps(hop.answer, ensure_ascii=False) in shown


def test_another_name_in_place_of_one_is_seen_wherever_it_stands(
    reader: WordingChecker, natural: tuple[Told, ...]
) -> None:
    tried = 0
    for told, place, text in every_place(reader, natural):
        for name in (*place.required, *place.shown):
            if name.label not in text:
                continue
            tried += 1
            changed = text.replace(name.label, "Zanzibar Records")
            assert "entities" in kinds(reader, told, **put(place, changed)), changed
    assert tried > 80


def test_a_lower_cased_or_first_word_does_not_hide_a_strange_name(
    reader: WordingChecker, natural: tuple[Told, ...]
) -> None:
    for told in natural:
        assert "entities" in kinds(reader, told, question=f"Lummerland aside, {told.question}")
        assert "entities" in kinds(reader, told, question=told.question.removesuffix("?") + ' ("the long road")?')


def test_an_answer_is_seen_in_the_question_by_any_of_its_names(
    reader: WordingChecker, natural: tuple[Told, ...], sample: GraphStore
) -> None:
    tried = 0
    for told in natural:
        stated = reader.read(told.draft, told.sub_questions, told.question)
        assert stated == []
        for hop in told.draft.hops:
            others = [name for name in hop.answer_aliases if name.count(" ") and name.isascii()]
            names = [hop.answer, *filter(is_distinctive_name, others)]
            for name in names:
                if name in told.question or hop.answer in {"1", "2"} or is_constant(told.draft, name):
                    continue
                tried += 1
                leaking = told.question.removesuffix("?") + f", as {name} was?"
                assert "leakage" in kinds(reader, told, question=leaking), leaking
    assert tried > 60


def test_every_number_that_is_changed_is_seen(reader: WordingChecker, natural: tuple[Told, ...]) -> None:
    tried = 0
    for told, place, text in every_place(reader, natural):
        for number in place.written:
            if number not in text:
                continue
            tried += 1
            changed = text.replace(
                number, f"{int(number.replace(',', '')) + 3:,}" if "," in number else str(int(number) + 3)
            )
            assert kinds(reader, told, **put(place, changed)) & {"numbers", "leakage"}, changed
    assert tried > 25


def test_every_number_in_words_that_is_changed_is_seen(reader: WordingChecker, natural: tuple[Told, ...]) -> None:
    tried = 0
    for told, place, text in every_place(reader, natural):
        for word, other in _WRITTEN_OUT.items():
            if re.search(rf"(?<!\w){word}(?!\w)", text):
                tried += 1
                assert "numbers" in kinds(reader, told, **put(place, text.replace(word, other)))
    assert tried >= 10


def test_every_comparison_that_is_turned_round_is_seen(reader: WordingChecker, natural: tuple[Told, ...]) -> None:
    tried = 0
    for told, place, text in every_place(reader, natural):
        for word, opposite in _OPPOSITES.items():
            if place.sides and re.search(rf"\b{word}\b", text):
                tried += 1
                assert "direction" in kinds(reader, told, **put(place, re.sub(rf"\b{word}\b", opposite, text)))
    assert tried > 15


@pytest.mark.parametrize(
    "change",
    [
        "Who is the spouse of whoever answers this: {}",
        "{} And what is its currency?",
        "In the words of its translator, {}",
        "{bare}, and who was its mayor?",
        "{bare}, whose anthem is well known?",
        "Which river flows past the place in this question: {}",
    ],
)
def test_a_further_step_is_seen(reader: WordingChecker, natural: tuple[Told, ...], change: str) -> None:
    for told in natural:
        if "Which river" in change and "river" in told.draft.question:
            continue
        question = change.format(told.question, bare=told.question.removesuffix("?"))
        assert "extra_hop" in kinds(reader, told, question=question)
        first = change.format(told.sub_questions[0], bare=told.sub_questions[0].removesuffix("?"))
        assert "extra_hop" in kinds(reader, told, subs={1: first})


def test_a_hop_that_is_left_out_is_seen(reader: WordingChecker, natural: tuple[Told, ...]) -> None:
    """The whole question replaced by the last sub-question with its inputs described as `it`."""
    for told in natural:
        last = told.draft.hops[-1]
        question = told.sub_questions[-1]
        for index in last.depends_on:
            question = question.replace(told.draft.hops[index - 1].answer, "it")
        assert kinds(reader, told, question=question) & {"missing_hop", "entities", "numbers", "direction"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("capital", "seaport"),
        ("drafted", "trained"),
        ("edited", "financed"),
        ("directed", "financed"),
        ("composed the music for", "praised"),
        ("tributaries", "rivals"),
    ],
)
def test_a_relation_that_is_exchanged_is_seen(
    reader: WordingChecker, natural: tuple[Told, ...], old: str, new: str
) -> None:
    tried = 0
    for told in natural:
        for index, text in enumerate(told.sub_questions, start=1):
            if old in text:
                tried += 1
                assert kinds(reader, told, subs={index: text.replace(old, new)}) & {"missing_hop", "extra_hop"}, text
    assert tried


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"Summer (Olympics|Games)", r"Winter \1"),
        (r"Summer (Olympics|Games)", r"\1"),
        (r"Summer (Olympics|Games)", r"Asian Games"),
        (r"\b(hosted|held|staged|host|venue)\b", "won"),
        (r"\b(won|winners?|champions)\b", "hosted"),
        (r"(men's )?(FIFA|football) World Cup", "Rugby World Cup"),
        (r"\b(won|winners?|champions)\b", "runner-up"),
    ],
)
def test_a_timeline_that_is_exchanged_is_seen(
    reader: WordingChecker, natural: tuple[Told, ...], old: str, new: str
) -> None:
    tried = 0
    for told, place, text in every_place(reader, natural):
        changed = re.sub(old, new, text)
        if place.timelines and changed != text:
            tried += 1
            assert kinds(reader, told, **put(place, changed)) & {"missing_hop", "entities"}, changed
    assert tried >= 5


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"\bturned (\S+?)(\?|$| )", r"was \1 years old\2"),
        (r"\bturn (\S+?)\?", r"live at the age of \1?"),
        (r"\bin which (\D+) turned (\S+)", r"in which \1 was born"),
        (r"\bturned\b", "died at"),
        (r"the year of ((?:\S+ )+?)(\S+) birthday", r"the time when \1was \2"),
        (r"\b(forti|sixti|50th|60th)", "45th"),
        (r"\b(forty|sixty|50)\b", "45"),
        (r"[Ss]ixty years after", "Sixty years before"),
    ],
)
def test_an_age_that_is_turned_otherwise_is_seen(
    reader: WordingChecker, natural: tuple[Told, ...], old: str, new: str
) -> None:
    tried = 0
    for told, place, text in every_place(reader, natural):
        changed = re.sub(old, new, text)
        if "turned" in place.ages and changed != text:
            tried += 1
            assert kinds(reader, told, **put(place, changed)) & {"precision", "numbers"}, changed
    assert tried


def test_an_age_on_a_day_is_not_taken_for_one_reached_in_a_year(
    reader: WordingChecker, natural: tuple[Told, ...]
) -> None:
    tried = 0
    for told, place, text in every_place(reader, natural):
        changed = re.sub(r"[Hh]ow old did (.*?) turn\b", r"How old was \1", text)
        changed = re.sub(r"[Ww]hat age (did|had) (.*?) reach(ed)?\b", r"what age was \2", changed)
        if "in a year" in place.ages and changed != text and "end of" not in changed and "birthday" not in changed:
            tried += 1
            assert "precision" in kinds(reader, told, **put(place, changed)), changed
    assert tried >= 5


def test_a_year_that_is_to_be_worked_out_is_not_stated(reader: WordingChecker, natural: tuple[Told, ...]) -> None:
    tried = 0
    for told in natural:
        for hop in told.draft.hops[:-1]:
            if hop.unit == "year" and hop.answer not in told.question:
                tried += 1
                stated = f"{told.question.removesuffix('?')}, the year being {hop.answer}?"
                assert "leakage" in kinds(reader, told, question=stated)
    assert tried >= 20


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("First, find the country. {}", "enumeration"),
        ("1. Find it. 2. {}", "enumeration"),
        ("Step 1 is easy. {}", "enumeration"),
        ("Of the entity that is meant: {}", "style"),
    ],
)
def test_lists_and_machine_words_are_seen(
    reader: WordingChecker, natural: tuple[Told, ...], question: str, kind: str
) -> None:
    for told in natural:
        assert kind in kinds(reader, told, question=question.format(told.question))


def test_a_name_in_other_letters_is_seen(reader: WordingChecker, natural: tuple[Told, ...]) -> None:
    tried = 0
    for told, place, text in every_place(reader, natural):
        for name in place.required:
            if name.label in text and name.label.lower() != name.label:
                tried += 1
                lowered = text.replace(name.label, name.label.lower())
                changed = lowered[:1].upper() + lowered[1:]
                if name.label not in changed:
                    assert "entities" in kinds(reader, told, **put(place, changed)) or len(name.label.split()) == 1, (
                        changed
                    )
    assert tried > 40


def test_dashes_and_apostrophes_are_put_right() -> None:
    names = (
        PlanEntity("Q1", "1990–91 Cypriot Cup"),
        PlanEntity("Q2", "Craig's Wife"),
        PlanEntity("Q3", "Gregson-Williams"),
    )
    said = "Which club in the 1990-91 Cypriot Cup knew Craig’s Wife by Gregson–Williams?"
    assert spell(said, names) == "Which club in the 1990–91 Cypriot Cup knew Craig's Wife by Gregson-Williams?"
    assert spell("In 1990-91 it was another Cypriot Cup?", names) == "In 1990-91 it was another Cypriot Cup?"


def test_a_unit_that_is_left_out_is_seen(reader: WordingChecker, natural: tuple[Told, ...]) -> None:
    timed = [told for told in natural if "How many years" in told.question]
    assert len(timed) >= 5
    for told in timed:
        assert "units" in kinds(reader, told, question=told.question.replace("How many years", "How much time"))


def test_words_of_steps_are_matched_as_written() -> None:
    assert find_steps("It may be found on its own, whose mayor and founder are known", frozenset()) == [
        "mayor",
        "founder",
    ]
    assert find_steps("directed by its director", frozenset({stem("directing")})) == []


def every_place(reader: WordingChecker, natural: tuple[Told, ...]) -> Iterator[tuple[Told, TextConstraints, str]]:
    for told in natural:
        for place, text in zip(reader._places.lay_out(told.draft), (*told.sub_questions, told.question), strict=True):
            yield told, place, text


def write_brief(draft: Item, graph: GraphStore) -> set[str]:
    """What a brief says of the computations and the timelines of a draft, line by line as the prompt shows it."""
    places = TextConstraintBuilder(Vocabulary(default_table()), graph).lay_out(draft)
    hops = PlanBriefWriter(default_table(), synthesizer(graph).kinds).write(draft, places)["hops"]
    return {f"  means: {hop['means']}" for hop in hops if hop["means"]}


def put(place: TextConstraints, text: str) -> dict[str, Any]:
    return {"subs": {place.hop: text}} if place.hop else {"question": text}


def is_constant(draft: Item, text: str) -> bool:
    """Whether an answer also stands in the plan as a constant, which the question must state."""
    return any(text in str(hop.derivation.model_dump()) for hop in draft.hops)

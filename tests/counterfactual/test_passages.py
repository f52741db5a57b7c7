"""Evidence passages on real facts, and on worlds drawn at random."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopwright.counterfactual.authors import PassageDraft, find_fault
from hopwright.counterfactual.constants import list_constants
from hopwright.counterfactual.passage_builder import PassageBuilder
from hopwright.counterfactual.passage_context import add_evidence, find_unanswered
from hopwright.counterfactual.passage_writer import PassageWriter
from hopwright.counterfactual.passages import PassagePlan, PassagePlanner, collect_extra_evidence, list_conditions
from hopwright.counterfactual.rewriting import TwinServices, find_real_names
from hopwright.counterfactual.twin_verification import retrieve_candidates, verify_twins
from hopwright.errors import InputError
from hopwright.knowledge.documents.corpus import CorpusPassage, PassageCorpus, read_corpus
from hopwright.knowledge.facts import EvidenceFacts
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.llm.asking import QueryResult
from hopwright.planning.execution import run_plan, same, stated_value
from hopwright.records import Compute, Item, LiteralFact, Lookup, Passage, ReverseLookup
from hopwright.records.values import EntityKind
from tests.drafts import draft_deaths, draft_items, draft_numbers, draft_others

TABLE = default_table()
YEAR = re.compile(r"(?<!\d)(?:1[0-9]{3}|20[0-9]{2})(?!\d)")


def list_passages(item: Item) -> list[Passage]:
    return [passage for hop in item.hops for passage in hop.evidence.passages]


@pytest.fixture(scope="module")
def services(sample: GraphStore) -> TwinServices:
    return TwinServices(sample, KindIndex(sample), TABLE, seed=1)


@pytest.fixture(scope="module")
def items(sample: GraphStore) -> tuple[Item, ...]:
    return draft_items(sample, 80)


@pytest.fixture(scope="module")
def with_passages(services: TwinServices, items: tuple[Item, ...]) -> list[Item]:
    return [one.item for one in services.make_passage_builder().build_passages(items)]


@pytest.fixture(scope="module")
def twins(services: TwinServices, with_passages: list[Item]) -> list[Item]:
    made, rejected = services.make_twins(with_passages)
    assert len(rejected) <= 0.4 * len(with_passages), [(one.check, one.reason) for one in rejected]
    return made


def test_every_hop_that_rests_on_facts_has_a_passage_with_its_answer(with_passages: list[Item]) -> None:
    for item in with_passages:
        assert find_unanswered(item) == ""
        for hop in item.hops:
            supporting = [passage for passage in hop.evidence.passages if passage.supporting]
            assert bool(supporting) == bool(hop.evidence.triplets or hop.evidence.literals)
    assert any(not passage.supporting for item in with_passages for passage in list_passages(item))


def test_every_fact_of_the_plan_is_told(with_passages: list[Item]) -> None:
    for item in with_passages:
        for hop in item.hops:
            text = " ".join(passage.text for passage in hop.evidence.passages if passage.supporting)
            for triplet in hop.evidence.triplets:
                for label in (triplet.subject_label, triplet.object_label):
                    # A sentence begins with a capital, and the article of a name may be a small one.
                    forms = (label.replace('"', "'"), label[:1].upper() + label[1:], f"the {label[4:]}")
                    assert any(form in text for form in forms), label


def test_what_the_passages_tell_beside_the_plan_leaves_one_answer_to_every_hop(
    services: TwinServices, items: tuple[Item, ...]
) -> None:
    for item in items:
        whole = add_evidence(item, collect_extra_evidence(item, services.planner.plan(item)))
        assert len(whole.model_dump_json()) > len(item.model_dump_json())
        values = run_plan(whole.hops, EvidenceFacts(whole.hops, TABLE), TABLE)
        assert all(same(values[hop.index], stated_value(hop)) for hop in whole.hops)


def test_a_distractor_passage_is_about_somebody_else(with_passages: list[Item]) -> None:
    for item in with_passages:
        for hop in item.hops:
            if isinstance(hop.derivation, Compute):
                continue
            told = {passage.title for passage in hop.evidence.passages if passage.supporting}
            others = [passage.title for passage in hop.evidence.passages if not passage.supporting]
            most = 3 if isinstance(hop.derivation, ReverseLookup) else 1
            assert not told & set(others) and hop.answer not in others and len(others) <= most


def test_twins_are_proven_with_their_passages(twins: list[Item], services: TwinServices) -> None:
    proof = verify_twins(twins, services.graph, TABLE)
    # Of thousands of words, out of some ten million for an ending, a few may come twice.
    assert proof.shared_surrogates <= 2, proof.examples
    proof.shared_surrogates = 0
    assert proof.holds, proof.examples
    assert proof.twins == len(twins) and proof.passages > 4 * len(twins) and proof.surrogates > 8 * len(twins)


def test_nobody_flies_into_space_before_there_were_rockets(twins: list[Item]) -> None:
    launches = [one for twin in twins for hop in twin.hops for one in hop.evidence.literals if one.property == "P619"]
    assert all(int(one.value[:4]) >= 1957 for one in launches)


def test_every_life_says_what_its_subject_was(twins: list[Item], with_passages: list[Item]) -> None:
    told = (one.text for twin in twins for one in list_passages(twin))
    lives = [text for text in told if text[0] != '"' and re.search(r" (?:she|he|She|He) ", text)]  # no story of a film
    assert lives
    for text in lives:
        assert re.search(r" (?:is|was) an? [a-z]+", re.split(r"(?<=[a-z0-9])[.] ", text)[0]), text


def test_passages_of_twins_tell_the_same_story(with_passages: list[Item], twins: list[Item]) -> None:
    originals = {item.id: item for item in with_passages}
    for twin in twins:
        old, new = (list_passages(one) for one in (originals[twin.twin or ""], twin))
        assert sum(one.supporting for one in old) == sum(one.supporting for one in new) and len(old) <= len(new)
        assert not {one.title for one in old} & {one.title for one in new}
        for before, after in zip(originals[twin.twin or ""].hops, twin.hops, strict=True):
            kept = len(before.evidence.passages)
            assert [one.supporting for one in before.evidence.passages] == [
                one.supporting for one in after.evidence.passages[:kept]
            ]


def test_order_and_company_have_no_influence_on_passages(
    services: TwinServices, with_passages: list[Item], items: tuple[Item, ...]
) -> None:
    other = TwinServices(services.graph, KindIndex(services.graph), TABLE, seed=1)
    again = [one.item for one in other.make_passage_builder().build_passages(items[::-1][:8])]
    known = {item.id: item for item in with_passages}
    assert all(known[item.id] == item for item in again)


def test_a_passage_edited_by_hand_is_rewritten_mention_by_mention(
    services: TwinServices, with_passages: list[Item]
) -> None:
    """Whatever is no longer what the rules make of the facts goes the other way, and holds as well."""
    done = 0
    for item in with_passages[:24]:
        hop = item.hops[0]
        passages = tuple(
            one.model_copy(update={"text": f"As everybody knows, {one.text}"}) for one in hop.evidence.passages
        )
        evidence = hop.evidence.replace(passages=passages)
        edited = item.model_copy(update={"hops": (hop.model_copy(update={"evidence": evidence}), *item.hops[1:])})
        made, _ = services.make_twins([edited])
        for twin in made:
            assert twin.hops[0].evidence.passages[0].text.startswith("As everybody knows, ")
            assert find_real_names(twin, services.graph) == "" and find_unanswered(twin) == ""
            done += 1
    assert done >= 4


def test_without_distractors_there_are_none(services: TwinServices, items: tuple[Item, ...]) -> None:
    planner = PassagePlanner(services.traversals, seed=1, distractors=0)
    plans = [planner.plan(item) for item in items[:10]]
    assert all(plan.supporting for item in plans for hop in item for plan in hop)


class Parrot:
    """An author with one trick."""

    name = "parrot/1"

    def __init__(self, change: str) -> None:
        self._change = change

    def write(self, drafts: list[PassageDraft]) -> list[QueryResult[Passage]]:
        out = []
        for draft in drafts:
            text = self._change.format(text=draft.passage.text)
            fault = find_fault(draft, text)
            out.append(
                QueryResult(None, fault, 3)
                if fault
                else QueryResult(draft.passage.model_copy(update={"text": text}), "", 1)
            )
        return out


def test_an_author_that_adds_what_it_remembers_is_refused_and_rules_step_in(
    services: TwinServices, items: tuple[Item, ...], with_passages: list[Item]
) -> None:
    for change, passes in (("{text} It is well known.", True), ("{text} Napoleon liked it.", False),
                           ("{text} It happened in 1492.", False), ("Nothing to say.", False)):  # fmt: skip
        passage_builder = PassageBuilder(services.planner, services.names, TABLE, author=Parrot(change))
        for one, by_rules in zip(passage_builder.build_passages(items[:6]), with_passages, strict=False):
            (check,) = [check for check in one.item.checks if check.name == "passages"]
            assert check.outcome == ("pass" if passes else "fail"), check
            assert bool(one.rules) != passes
            if not passes:
                assert list_passages(one.item) == list_passages(by_rules)


def test_passages_of_a_corpus_are_taken_where_they_hold_the_answer(
    services: TwinServices, items: tuple[Item, ...], sample: GraphStore
) -> None:
    item = next(
        item
        for item in items
        if isinstance(item.hops[0].derivation, Lookup) and item.hops[0].evidence.triplets
        if len(sample.bearers(item.hops[0].evidence.triplets[0].subject_label)) == 1  # no film of a play's name
        if services.make_twins([one.item for one in services.make_passage_builder().build_passages([item])])[0]
    )
    hop = item.hops[0]
    subject = hop.evidence.triplets[0].subject_label
    good = CorpusPassage(title=subject, text=f"{subject} has to do with {hop.answer} in many ways since 1987.")
    for passage, taken in ((good, True), (CorpusPassage(title=subject, text="Nothing is known."), False)):
        corpus = PassageCorpus(sample, [passage])
        passage_builder = PassageBuilder(services.planner, services.names, TABLE, corpus=corpus)
        (one,) = passage_builder.build_passages([item])
        assert one.item.hops[0].evidence.passages[0].text.startswith(f"{subject} has to do") == taken
        assert one.other or not taken  # what says nothing may still stand beside another hop
        made, rejected = services.make_twins([one.item])
        assert len(made) == 1, rejected
        if taken:
            text = made[0].hops[0].evidence.passages[0].text
            assert made[0].hops[0].answer in text and subject not in text and "1987" not in text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[{]", "not JSON"),
        ('{"title": "A"}\n', "line 1: text"),
        ("", "no passages"),
        ('[{"title": "A", "text": ""}]', "1"),
    ],
)
def test_a_corpus_that_cannot_be_read_is_named_with_its_place(tmp_path, text: str, says: str) -> None:
    path = tmp_path / "corpus.json"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        read_corpus(path)


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_any_seed_gives_proven_twins(sample: GraphStore, seed: int) -> None:
    shop = TwinServices(sample, KindIndex(sample), TABLE, seed=seed, distractors=seed % 3)
    some = draft_items(sample, 40)[seed % 30 : seed % 30 + 2]
    made, rejected = shop.make_twins([one.item for one in shop.make_passage_builder().build_passages(some)])
    assert len(made) + len(rejected) == len(some)
    proof = verify_twins(made, sample, TABLE)
    assert proof.holds, proof.examples


def test_a_name_that_begins_within_a_word_of_the_facts_is_one_of_them() -> None:
    passage = Passage(title="Il Giornale d'Italia", text="Il Giornale d'Italia was founded by Anglo-Saxons.")
    draft = PassageDraft("k", passage, ("Il Giornale d'Italia",))
    assert find_fault(draft, f"{passage.text} It is well known.") == ""
    assert "'Roma' is named" in find_fault(draft, f"{passage.text} Its seat is in Roma.")


def test_every_answer_constant_and_year_of_the_question_changes(
    with_passages: list[Item], twins: list[Item], services: TwinServices, sample: GraphStore
) -> None:
    dated = [one.item for one in services.make_passage_builder().build_passages(draft_deaths(sample)[:12])]
    originals = {item.id: item for item in (*with_passages, *dated)}
    numbers = unchanged = 0
    for twin in (*twins, *services.make_twins(dated)[0]):
        item = originals[twin.twin or ""]
        assert twin.answer != item.answer
        assert not set(YEAR.findall(item.question)) & set(YEAR.findall(twin.question))
        for old, new in zip(item.hops, twin.hops, strict=True):
            numbers += old.answer_type != "entity"
            unchanged += old.answer == new.answer
            pairs = zip(list_constants(old.derivation), list_constants(new.derivation), strict=True)
            assert all(one != other for one, other in pairs)
    assert numbers >= 3 and unchanged <= 0.04 * numbers


def test_no_open_condition_alone_finds_the_answer(twins: list[Item]) -> None:
    """A retriever that looks for the name in a condition has the answer and two rivals at least to choose from."""
    found = [candidates for twin in twins for _, _, candidates in retrieve_candidates(twin)]
    assert min(found, default=3) >= 3
    for twin in twins:
        for hop in twin.hops:
            named, measured = list_conditions(twin, hop)
            if named and len(named) + len(measured) > 1:
                titles = {passage.title for passage in hop.evidence.passages}
                assert set(hop.options.values()) <= titles


def test_wrong_options_of_films_and_people_are_told_of(twins: list[Item]) -> None:
    told = missing = 0
    for twin in twins:
        texts = " ".join(f"{passage.title} {passage.text}" for passage in list_passages(twin))
        for hop in twin.hops:
            property = hop.derivation.property if isinstance(hop.derivation, Lookup) else ""
            if property in TABLE.entity and not TABLE.entity[property].series and hop.answer_id:
                absent = [one for one in hop.options.values() if one not in texts]
                told += len(hop.options) - len(absent)
                missing += len(absent)
    assert told > 100 and missing < 0.1 * told


def test_passages_of_twins_are_prose_of_some_length(twins: list[Item]) -> None:
    texts = [passage.text for twin in twins for passage in list_passages(twin)]
    lengths = sorted(len(text.split()) for text in texts)
    assert 80 <= lengths[len(lengths) // 2] <= 105
    long = [text for text in texts if len(text.split()) > 120]  # all operas of somebody who wrote thirty
    short = [text for text in long if text.count("\"") < 24 and text.count(", ") < 6]
    assert all(len(text.split()) <= 150 for text in short), short  # who stands in several series
    assert len(long) < 0.05 * len(texts)
    for text in texts:
        assert text[0] == '"' or text[0].isupper() or text[0].isdigit()
        assert text.endswith((".", '."')) and ".." not in text and "  " not in text and "{" not in text
        assert not re.search(r"[a-z](?<!\b[JS]r)\. [a-z]", text)


def test_openings_vary_by_kind(services: TwinServices, sample: GraphStore) -> None:
    """First sentences about one kind of subject take at least a dozen shapes, names and values aside."""
    writer = PassageWriter(TABLE)
    shapes: dict[str, list[str]] = {}
    # The longer chains are those that lead through places and countries.
    for item in (*draft_items(sample, 120), *draft_others(sample, "chain-5"), *draft_numbers(sample)):
        for plans in services.planner.plan(item):
            for plan in plans:
                text = writer.word(plan, services.names).text
                kind = services.names.kind(plan.subject)
                first = re.split(r"(?<=[.;]) ", text)[0]
                shapes.setdefault(kind, []).append(
                    re.sub(r'"[^"]*"|\b[A-Z0-9][\w,.\'-]*(?: [A-Z0-9][\w,.\'-]*)*', "X", first)
                )
    counts = {kind: len(set(found)) for kind, found in shapes.items() if len(found) >= 40}
    # Few plans lead through a place or a country.
    assert {"work", "person"} <= set(counts) and min(counts.values()) >= 12, counts


def test_the_same_facts_give_the_same_words(services: TwinServices, items: tuple[Item, ...]) -> None:
    for plan in (plan for item in items[:5] for plans in services.planner.plan(item) for plan in plans):
        assert PassageWriter(TABLE).word(plan, services.names) == PassageWriter(TABLE).word(plan, services.names)


class OneNames:
    """Names of a world in which everything is of one kind."""

    def __init__(self, kind: EntityKind) -> None:
        self._kind = kind

    def phrase(self, entity: str) -> str:
        return "Velmora"

    def noun(self, entity: str) -> str:
        return self._kind

    def kind(self, entity: str) -> EntityKind:
        return self._kind


@pytest.mark.parametrize("property", sorted(name for name, one in TABLE.literal.items() if one.value != "number"))
def test_a_day_has_on_and_a_year_has_in(property: str) -> None:
    entry, writer = TABLE.literal[property], PassageWriter(TABLE)
    for kind in entry.subject:
        for day in ("1966-03-16", "1966-01-01"):
            for place in range(12):  # the subject decides on the wording
                literal = LiteralFact(
                    subject=f"Q{place}", property=property, value=f"{day}T00:00:00Z", datatype="dateTime",
                    subject_label="Velmora", property_label=entry.label,
                )  # fmt: skip
                plan = PassagePlan(f"Q{place}", "Velmora", "female", (), (literal,), supporting=True)
                text = writer.word(plan, OneNames(kind)).text
                assert not re.search(r"\b(?:in|since|of) 16 March", text), text
                assert not re.search(r"\bon 1966", text), text
                assert "1966" in text or not entry.year_predicate, text

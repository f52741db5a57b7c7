"""The registry of checks: silent on good items, precise on bad ones, honest about what it cannot decide."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

import pytest

from hopwright.checks import (
    CHECKS,
    CheckContext,
    CheckedItem,
    DuplicateFinder,
    Finding,
    examine,
    failures,
    run_checks,
)
from hopwright.checks.choices import find_odd_trait, is_true
from hopwright.checks.findings import is_objection, make_result, read_findings
from hopwright.checks.grammar import find_form_problems, find_grammar_problems
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Constraint, Item, ReverseLookup, Surrogate, Triplet, Vote, plan_id
from hopwright.release.format import parse_row
from hopwright.text.matching import contains_alias, differs_in_form, find_numbers, fold, holds, pad
from tests.builders import all_items, bridge_item, chain_item, converging_item
from tests.drafts import draft_items
from tests.faults import kinds, plant_faults
from tests.sample_claims import draft_claimed_items, pick_claimed
from tests.worlds import DictGraph, settle_all

TABLE = default_table()
GRAPH = DictGraph()
CONTEXT = CheckContext(settle_all(TABLE), graph=GRAPH)


def failed(item: Item, context: CheckContext = CONTEXT) -> dict[str, str]:
    return {result.name: result.reason for result in failures(run_checks(item, context))}


def with_hop(item: Item, index: int, **changes: object) -> Item:
    hops = [hop.model_copy(update=changes) if hop.index == index else hop for hop in item.hops]
    return item.model_copy(update={"hops": tuple(hops)})


@pytest.mark.parametrize("item", all_items(), ids=lambda item: item.topology)
def test_good_items_pass_every_check(item):
    results = run_checks(item, CONTEXT)
    assert [result.name for result in results] == [check.name for check in CHECKS if check.concerns is None]
    assert {(result.outcome, result.reason) for result in results} == {("pass", "")}


def test_names_are_unique_and_described():
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    assert all(check.description for check in CHECKS)


def test_without_a_graph_checks_that_need_it_skip_and_say_so():
    results = {result.name: result for result in run_checks(chain_item(), CheckContext(TABLE))}
    for check in CHECKS:
        if check.concerns is not None:
            assert check.name not in results
            continue
        expected = ("skip", "no graph was given") if "graph" in check.needs else ("pass", "")
        assert (results[check.name].outcome, results[check.name].reason) == expected


def test_reasons_name_the_hop():
    assert failed(with_hop(chain_item(), 2, question="Of which country is she a citizen?"))["inputs-shown"] == (
        "hop 2: does not name the answer of hop 1, 'Ada Lindqvist'"
    )


def test_a_wrong_intermediate_answer_is_blamed_on_its_hop_and_what_follows_from_it():
    item = with_hop(chain_item(), 3, answer="1906")
    reason = failed(item)["recomputation"]
    assert "hop 3: states '1906', but its derivation gives '1905'" in reason
    assert "hop 4" in reason and "hop 1" not in reason


def test_a_second_fact_in_the_graph_breaks_uniqueness_though_the_evidence_agrees():
    graph = DictGraph(triplets=[*GRAPH._triplets, ("Q902", "P27", "Q909")])
    reasons = failed(chain_item(), CheckContext(TABLE, graph=graph))
    assert "2 answers" in reasons["uniqueness"] and "recomputation" not in reasons
    assert "is true as well" in reasons["distractors-false"]  # Iria is an option of hop 2


def test_a_distractor_that_meets_all_conditions_of_a_reverse_lookup_is_true():
    derivation = ReverseLookup(property="P27", value="Q903", constraints=(Constraint(property="P19", value="Q910"),))
    hop = chain_item().hops[0].model_copy(update={"derivation": derivation})
    facts = CONTEXT.facts
    twin_of_ada = hop.distractors[0].model_copy(update={"id": "Q902"})
    half_right = hop.distractors[0].model_copy(update={"id": "Q907"})
    assert is_true(hop, twin_of_ada, {}, facts, CONTEXT) and not is_true(hop, half_right, {}, facts, CONTEXT)
    by_name_alone = hop.distractors[0].model_copy(update={"id": None, "text": "Ada Lindqvist"})
    assert is_true(hop, by_name_alone, {}, facts, CONTEXT)


def test_a_distractor_known_to_the_graph_as_an_alias_of_the_answer_is_refused():
    hop = chain_item().hops[1]
    texts = ("Kingdom of Vestmark", "Karelund", "Ostmark")
    distractors = tuple(
        one.model_copy(update={"text": t, "id": None}) for one, t in zip(hop.distractors, texts, strict=True)
    )
    options = {k: "Kingdom of Vestmark" if v == "Iria" else v for k, v in hop.options.items()}
    assert (
        "another name of the answer"
        in failed(with_hop(chain_item(), 2, distractors=distractors, options=options))["distractors"]
    )


def test_a_comparison_may_repeat_an_answer_and_name_it_but_a_lookup_may_not():
    assert not failed(converging_item())
    item = with_hop(converging_item(), 2, answer="Vestmark", answer_id="Q903")
    assert "hop 2: 'Vestmark' is the answer of hop 1 too" in failed(item)["repetition"]


def test_a_comparison_with_a_named_entity_may_repeat_its_input():
    """One input and one entity that the question names: the winner is the input."""
    item = converging_item()
    hop = item.hops[2]
    case = CheckedItem(item)
    named = hop.model_copy(
        update={"derivation": hop.derivation.model_copy(update={"expression": "argmax(P2046, hop1, Q909)"})}
    )
    assert case.by_selection(named) and not case.by_selection(item.hops[0])


class TestCounterfactual:
    def twin(self) -> Item:
        names = {"Vestmark": "Ruland", "Ada Lindqvist": "Mirel Osk", "Night Harbour": "Pale Lantern",
                 "Iria": "Sombria", "Tomas Ferreira": "Joren Vale", "Karelund": "Ulmark", "Ostmark": "Westria",
                 "Rolf Ekman": "Tev Aril", "Mia Sundt": "Sanna Brock"}  # fmt: skip
        text = chain_item().model_dump_json()
        for old, new in names.items():
            text = text.replace(old, new)
        for old, new in {"Q901": "QX1_a", "Q902": "QX2_a", "Q903": "QX3_a"}.items():
            text = text.replace(old, new)
        item = Item.model_validate_json(text)
        return item.model_copy(
            update={
                "id": plan_id("chain", tuple(hop.derivation for hop in item.hops), "counterfactual"),
                "variant": "counterfactual",
                "twin": chain_item().id,
                "world": tuple(Surrogate(original=old, surrogate=new) for old, new in names.items()),
            }
        )

    def test_a_twin_is_judged_by_its_own_evidence(self):
        results = {result.name: result for result in run_checks(self.twin(), CONTEXT)}
        assert not failures(tuple(results.values()))
        assert results["uniqueness"].outcome == "skip" and "counterfactual" in results["uniqueness"].reason
        assert results["recomputation"].outcome == results["surrogates"].outcome == "pass"

    def test_a_twin_whose_evidence_says_otherwise_fails(self):
        twin = self.twin()
        evidence = twin.hops[0].evidence
        moved = evidence.replace(triplets=(evidence.triplets[0].model_copy(update={"object": "QX9_a"}),))
        assert {"recomputation", "evidence"} <= set(failed(with_hop(twin, 1, evidence=moved)))

    def test_a_surrogate_that_the_graph_knows_fails(self):
        graph = DictGraph(labels={**GRAPH._labels, "Q77": "Ruland"})
        assert (
            "'Ruland' is a name that the graph knows"
            in failed(self.twin(), CheckContext(TABLE, graph=graph))["surrogates"]
        )

    def test_an_original_that_survives_fails(self):
        twin = self.twin().model_copy(
            update={"question": "How many years before 2000 was Vestmark, home of Pale Lantern, founded?"}
        )
        assert "'Vestmark' survives" in failed(twin)["world"]

    def test_numbers_may_move_in_several_ways_but_a_name_in_one(self):
        twin = self.twin()
        numbers = (
            Surrogate(original="1905", surrogate="1911", id="a.P571"),
            Surrogate(original="1905", surrogate="1910", id="b.P571"),
        )
        assert not failed(twin.model_copy(update={"world": (*twin.world, *numbers)}))
        again = (Surrogate(original="Vestmark", surrogate="Elsewhere"),)
        assert "two surrogates" in failed(twin.model_copy(update={"world": (*twin.world, *again)}))["world"]

    def test_a_twin_without_a_world_or_a_twin_fails(self):
        assert {"world", "identity"} <= set(failed(self.twin().model_copy(update={"world": (), "twin": None})))


class TestDuplicates:
    def test_the_first_is_fine_and_the_second_names_it(self):
        finder = DuplicateFinder()
        assert finder.add(CheckedItem(chain_item())) == finder.add(CheckedItem(bridge_item())) == ()
        assert {reason for _, reason in finder.add(CheckedItem(chain_item()))} == {
            "the id is that of item 1", "the question is that of item 1", "the plan is that of item 1",
        }  # fmt: skip

    def test_a_plan_and_its_twin_are_no_duplicates(self):
        finder = DuplicateFinder()
        finder.add(CheckedItem(chain_item()))
        other = chain_item().model_copy(update={"id": "hw-2", "variant": "counterfactual", "question": "Another one?"})
        assert finder.add(CheckedItem(other)) == ()


class TestText:
    def test_folding_drops_case_accents_and_punctuation(self):
        assert fold("  São  Paulo’s (City)! ") == "sao paulo s city"
        assert fold("?!") == "?!" and fold("!!!") != fold("???")

    def test_words_are_matched_whole(self):
        assert holds(pad("Where is Vestmark's capital?"), "Vestmark") and not holds(pad("a Vestmarkian"), "Vestmark")

    @pytest.mark.parametrize(
        ("text", "alias", "found"),
        [
            ("Which of us was first?", "US", False),
            ("Which US city is it?", "US", True),
            ("Who sings country music?", "Country", False),
            ("in the KINGDOM OF VESTMARK?", "Kingdom of Vestmark", True),
            ("Who was it?", "It", False),
            ("Who was It?", "The Who", False),
            ("Which of the states is larger?", "the States", False),
            ("Which city in the States is larger?", "the States", True),
            ("Who wrote for the Vestmarks?", "The Vestmarks", True),
        ],
    )
    def test_single_word_aliases_count_only_as_written(self, text, alias, found):
        assert contains_alias(text, pad(text), alias) is found

    def test_numbers_are_read_with_separators_and_names_set_apart(self):
        found = find_numbers("Did Apollo 11 carry 1,234 pieces in 1969, or 3.5?")
        assert found == {(Decimal(11), False), (Decimal(1234), True), (Decimal(1969), True), (Decimal("3.5"), True)}
        assert find_numbers("the 1958–59 season") == {(Decimal(1958), False), (Decimal(59), False)}

    @pytest.mark.parametrize(
        ("text", "answer", "unit", "fits"),
        [
            ("1,234", "2,345", "", True), ("1234", "2,345", "", False), ("1905", "1908", "year", True),
            ("1,905", "1908", "year", False), ("12.5", "11.2", "", True), ("12", "11.2", "", False),
            ("-3", "4", "", False), ("many", "4", "", False), ("NaN", "4", "", False),
        ],
    )  # fmt: skip
    def test_numbers_stand_together_only_in_one_form(self, text, answer, unit, fits):
        assert (differs_in_form(text, answer, "number", unit) is None) is fits

    def test_a_year_among_names_is_of_another_type(self):
        assert differs_in_form("1905", "Vestmark", "entity", "") and not differs_in_form("1917", "1984", "entity", "")

    @pytest.mark.parametrize(
        ("answer", "others", "trait"),
        [
            ("1,200", ["900", "950", "800"], "has a comma"), ("12,000", ["12,345", "11,987", "13,111"], "round"),
            ("Paris", ["rome", "oslo", "bern"], "capital"),
            ("The Extraordinarily Long Name", ["A", "B", "C"], "longer"),
            ("Oslo", ["Rome", "Bern", "Paris"], None), ("1,200", ["1,300", "900", "800"], None),
        ],
    )  # fmt: skip
    def test_what_sets_an_answer_apart(self, answer, others, trait):
        found = find_odd_trait(answer, others)
        assert found is None if trait is None else trait in found


def find_problems(question: str, case: CheckedItem) -> list[str]:
    return [*find_form_problems(question, case), *find_grammar_problems(question, case)]


class TestForm:
    @pytest.mark.parametrize(
        "question",
        [
            "Who directed Night Harbour?",
            "Take Vestmark and Iria. Which of the two covers the larger area?",
            "Who was an heir of a European union and a one-time NBA champion in an 11-year reign?",
            "In what year did an FBI agent, born an hour earlier, join a university?",
            'Who wrote "Night Harbour"?',
        ],
    )
    def test_good_questions_are_left_alone(self, question):
        assert find_problems(question, CheckedItem(chain_item())) == []

    @pytest.mark.parametrize(
        "question",
        [
            "Who directed Night Harbour", "who directed Night Harbour?", "Who directed  Night Harbour?",
            "Who directed the the film?", "Who directed {s}?", "Who directed hop1 in 1990?", "Who directed #1 and #2?",
            'Who directed "Night Harbour?', "Who directed (Night Harbour?", "Who directed a animal film?",
            "Who directed an film?", "Who directed Night Harbour ?", "Who directed Night Harbour??", "Who?",
            "Who directed it? Who wrote it?", "Who directed Night Harbour,?", "Who directed Q901 in Vestmark?",
        ],
    )  # fmt: skip
    def test_bad_ones_are_named(self, question):
        assert find_problems(question, CheckedItem(chain_item()))

    def test_names_are_not_held_to_our_grammar(self):
        item = chain_item()
        for title in ("Who's  \"That?", "An Boat (a Apple", "the the Q99 {s}"):
            triplet = item.hops[0].evidence.triplets[0]
            evidence = item.hops[0].evidence.replace(
                triplets=(Triplet(**{**triplet.model_dump(), "subject_label": title}),)
            )
            case = CheckedItem(with_hop(item, 1, evidence=evidence))
            assert find_problems(f"Who directed {title} in Vestmark?", case) == []


def test_votes_must_agree_with_the_options():
    item = chain_item()
    good = Vote(model="prior", option=item.label, probabilities=(0.25, 0.25, 0.25, 0.25), right=True)
    assert not failed(item.model_copy(update={"votes": (good,)}))
    for bad in (good.model_copy(update={"right": False}), good.model_copy(update={"probabilities": (0.5, 0.5)})):
        assert "votes" in failed(item.model_copy(update={"votes": (bad,)}))


def test_fewer_domains_than_asked_for_fail():
    assert "domains" in failed(chain_item(), CheckContext(TABLE, graph=GRAPH, min_domains=4))


class TestOnTheSample:
    def test_drafted_items_pass_with_a_fresh_context(self, sample: GraphStore):
        context = CheckContext(TABLE, graph=sample)
        items = (*draft_items(sample), *draft_claimed_items(sample))
        assert len(items) >= 150
        for item in items:
            assert not failures(run_checks(item, context)), item.question

    def test_every_fault_planted_in_them_is_found(self, sample: GraphStore):
        """At least 400 faults of at least 40 kinds in real items: all are found, each by a check that should."""
        context = CheckContext(TABLE, graph=sample)
        planted: Counter[str] = Counter()
        for item in (*draft_items(sample)[::20], *pick_claimed(sample)[::4]):
            for fault in plant_faults(item, sample):
                planted[fault.kind] += 1
                parsed = parse_row(fault.row)
                found = {"schema"} if parsed.problems else set()
                if parsed.item is not None:
                    case = CheckedItem(parsed.item, planned=parsed.planned)
                    found |= {
                        e.check.name for e in examine(case, context) if e.findings and e.check.severity == "error"
                    }
                assert found & set(fault.checks), (fault.kind, item.question, found)
        assert planted.total() >= 400 and len(planted) >= 40
        rare = {
            "number_dropped_from_the_question", "swapped_operands", "last_hop_that_tells_all", "hop_that_cancels_out",
            "number_of_the_question_among_the_options", "unlike_units",
        }  # fmt: skip
        assert set(planted) >= set(kinds()) - rare


@pytest.mark.parametrize("warning", [True, False])
@pytest.mark.parametrize("findings", [[(2, "the answer stands in it")], [(None, "no verb"), (1, "twice"), (3, "a: b")]])
def test_findings_are_read_from_a_result_as_they_were_found(findings: list[Finding], warning: bool) -> None:
    result = make_result("some_check", findings, warning=warning)
    assert (result.outcome, is_objection(result)) == ("pass" if warning else "fail", True)
    assert read_findings(result) == findings


def test_a_check_that_found_nothing_objects_to_nothing() -> None:
    passed = make_result("some_check", [], warning=False)
    assert (passed.outcome, passed.reason, read_findings(passed), is_objection(passed)) == ("pass", "", [], False)

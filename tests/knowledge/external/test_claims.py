"""Claims from the bank to the item: what may be used, how it is drawn, worded, proven, checked and counted."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from annotation.export import build_tasks
from annotation.schema import ReviewTaskKind
from annotation.worked_computations import write_worked_steps
from hopwright.checks import CheckContext, failures, run_checks
from hopwright.checks.claims import find_faults
from hopwright.checks.near_duplicates import NearDuplicateFinder
from hopwright.counterfactual.twins import TwinMaker
from hopwright.errors import ExpressionError, InputError
from hopwright.knowledge.external.bank import format_bank, hash_bank, parse_bank, read_bank, validate_bank, write_bank
from hopwright.knowledge.external.graph_comparison import compare_claims_with_graph
from hopwright.knowledge.external.linking import link_claim
from hopwright.knowledge.external.notes import write_note
from hopwright.knowledge.facts import EvidenceFacts, GraphFacts
from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.planning.computation_forms import ClaimComputation, read_form
from hopwright.planning.execution import execute
from hopwright.planning.expressions import claims_in, evaluate
from hopwright.planning.operations.claim_operations import CLAIMED
from hopwright.planning.programs import OperationSequence, load_sequence_index
from hopwright.planning.target_distribution import TargetDistribution, chance
from hopwright.records import Claim, Compute, Hop, Item, Rejected, ReverseLookup, make_claim
from hopwright.records.values import render
from hopwright.release.audit import audit
from hopwright.release.format import to_release
from hopwright.release.separation import facts_of
from hopwright.release.statistics import describe
from hopwright.stages.drafting import Synthesizer
from hopwright.topologies import TOPOLOGIES as SHAPES
from hopwright.wording.llm.text_constraints import TextConstraintBuilder
from hopwright.wording.llm.vocabulary import Vocabulary
from hopwright.wording.llm.wording_checks import WordingChecker
from tests.builders import all_items, score, write_jsonl
from tests.sample_claims import APOLLO, BANK, TOPOLOGIES, any_claim, draft_claimed_items, pick_claimed, write_claim

TABLE = default_table()
NOTHING = EvidenceFacts((), TABLE)


def hop_of(item: Item) -> Hop:
    """The hop that rests on a claim."""
    return next(hop for hop in item.hops if hop.evidence.claims)


def reseal(claim: Claim, **changes: object) -> Claim:
    return make_claim(**(claim.model_dump(exclude={"id"}) | changes))


class TestEvaluation:
    @given(any_claim(), st.integers(1, 10**6))
    def test_a_claim_counts_as_its_number(self, claim: Claim, other: int) -> None:
        number, call = Decimal(claim.value.replace(",", "")), f'claim("{claim.id}")'
        for expression, by_hand in (
            (f"hop1 + {call}", other + number), (f"hop1 - {call}", other - number), (f"{call} - hop1", number - other),
            (f"abs(hop1 - {call})", abs(other - number)), (f"hop1 * {call}", other * number),
            (f"round({call} / hop1, 2)", None),
        ):  # fmt: skip
            if by_hand is None:
                by_hand = Decimal(evaluate(f"round({number:f} / hop1, 2)", {1: other}, NOTHING))  # type: ignore[arg-type]
            assume(abs(by_hand) <= 10**15)
            assert Decimal(evaluate(expression, {1: other}, NOTHING, (claim,))) == by_hand  # type: ignore[arg-type]

    @given(st.integers(3, 60), st.integers(2, 5))
    def test_ways_to_choose(self, pool: int, size: int) -> None:
        claim = reseal(APOLLO, value=str(pool))
        assert evaluate(f'comb(claim("{claim.id}"), hop1)', {1: size}, NOTHING, (claim,)) == math.comb(pool, size)

    @given(any_claim())
    def test_a_claim_that_is_missing_or_was_changed_gives_nothing(self, claim: Claim) -> None:
        expression = f'hop1 + claim("{claim.id}")'
        with pytest.raises(ExpressionError, match="0 claims"):
            evaluate(expression, {1: 2}, NOTHING)
        forged = claim.model_copy(update={"value": "1" if claim.value != "1" else "2"})
        with pytest.raises(ExpressionError, match="was changed"):
            evaluate(expression, {1: 2}, NOTHING, (forged,))

    @pytest.mark.parametrize("call", ["claim()", "claim(6)", 'claim("cl-x", 1)', "claim(hop1)", 'claim(id="cl-x")'])
    def test_other_calls_are_refused(self, call: str) -> None:
        with pytest.raises(ExpressionError):
            evaluate(f"hop1 + {call}", {1: 2}, NOTHING, (APOLLO,))

    def test_only_a_computation_may_rest_on_one(self) -> None:
        look_up = ReverseLookup(property="P571", value=f'claim("{APOLLO.id}")')
        with pytest.raises(ExpressionError, match="0 claims"):
            execute(look_up, "entity", {}, NOTHING, TABLE, (APOLLO,))

    def test_an_expression_says_which_claims_it_rests_on(self) -> None:
        assert claims_in(f'hop1 + claim("{APOLLO.id}")') == (APOLLO.id,)
        assert claims_in("hop1 + 2") == ()
        assert read_form(f'comb(claim("{APOLLO.id}"), 3)') == ClaimComputation("group", "3", APOLLO.id)


class TestRules:
    def test_the_bank_keeps_them(self) -> None:
        assert [fault for claim in BANK for fault in find_faults(claim)] == []

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"phrase": "the 6 Apollo missions to the Moon"}, "gives away"),
            ({"phrase": "the six Apollo missions to the Moon"}, "gives away"),
            ({"phrase": "Apollo missions to the Moon"}, "no noun phrase"),
            ({"phrase": "the number of Apollo missions to the Moon?"}, "no noun phrase"),
            ({"phrase": "the number of Apollo missions to the Moon so far"}, "time of reading"),
            ({"phrase": "the current number of Apollo missions to the Moon"}, "time of reading"),
            ({"statement": "As of 2024, six Apollo missions landed."}, "time of reading"),
            ({"statement": "Many Apollo missions landed on the Moon."}, "does not state the value"),
            ({"phrase": "the number of Apollo missions that NASA landed on the Moon"}, "names 'NASA'"),
            ({"names": ("Apollo", "Moon", "Buzz Aldrin")}, "neither statement nor phrase"),
            ({"source_url": "https://www.nasa.gov"}, "a site, not a page"),
            ({"source_url": "https://www.nasa.gov/"}, "a site, not a page"),
            ({"value": "2", "statement": "Two Apollo missions landed people on the Moon."}, "hides in the grammar"),
            ({"unit": "year"}, "calendar year"),
            ({"author": "model"}, "names a model"),
            ({"model": "openai/some"}, "names a model"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_used_is_named(self, changes: dict[str, object], reason: str) -> None:
        assert any(reason in fault for fault in find_faults(reseal(APOLLO, **changes)))

    def test_a_number_in_words_is_found_up_to_a_hundred(self) -> None:
        chess = reseal(BANK[1], phrase="the number of the sixty-four squares on a board")
        assert any("gives away" in fault for fault in find_faults(chess))


class TestBank:
    def test_it_comes_back_whatever_the_order_of_its_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "claims.jsonl"
        write_bank(reversed(BANK), path)
        assert read_bank(path) == tuple(sorted(BANK, key=lambda one: one.id)) == parse_bank(format_bank(BANK))
        told = BANK[0].model_copy(update={"phrase": "a\u2028phrase\x85of two lines"})
        assert parse_bank(format_bank([told])) == (told,)
        path.write_text("\n".join(claim.model_dump_json() for claim in BANK))
        assert hash_bank(read_bank(path)) == hash_bank(BANK) != hash_bank(BANK[1:])

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            ("not JSON", "no claim: Invalid JSON"),
            ("{}", "no claim: id: the field is missing"),
            (APOLLO.model_dump_json().replace('"6"', '"7"'), "was changed"),
            (BANK[1].model_dump_json(), "is in line 1 already"),
        ],
    )
    def test_a_wrong_line_is_named(self, tmp_path: Path, line: str, reason: str) -> None:
        path = tmp_path / "claims.jsonl"
        path.write_text(f"{BANK[1].model_dump_json()}\n\n{line}\n")
        with pytest.raises(InputError) as caught:
            read_bank(path)
        assert str(caught.value).startswith(f"{path}, line 3: ") and reason in str(caught.value)
        assert "\n" not in str(caught.value)
        assert validate_bank(path).claims == (BANK[1],)

    def test_of_two_values_for_one_phrase_neither_is_kept(self, tmp_path: Path) -> None:
        other = reseal(BANK[1], value="65", statement="A standard chessboard has 65 squares.")
        third = reseal(BANK[1], value="66", statement="A standard chessboard has 66 squares.")
        path = tmp_path / "claims.jsonl"
        path.write_text("".join(f"{claim.model_dump_json()}\n" for claim in (BANK[1], APOLLO, other, third)))
        validated = validate_bank(path)
        assert validated.claims == (APOLLO,)
        assert {one.key for one in validated.refused} == {"line 1", "line 3", "line 4"}
        assert {one.check for one in validated.refused} == {"claim_contradiction"}
        assert all("64" in one.reason and "65" in one.reason for one in validated.refused)

    @pytest.mark.parametrize("text", ["", "\n\n"])
    def test_an_empty_bank_is_none(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "claims.jsonl"
        path.write_text(text)
        with pytest.raises(InputError, match="no claims in it"):
            read_bank(path)

    def test_a_missing_one_is_one_line(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot be read"):
            read_bank(tmp_path / "claims.jsonl")

    def test_what_the_graph_holds_is_refused_and_names_are_linked(self, sample: GraphStore) -> None:
        moon = next(one.id for one in sample.find("Moon") if one.by_label)
        links, refused = compare_claims_with_graph(BANK, sample, TABLE)
        assert refused == [] and any(moon in text for text in links[0].entities)
        subject = next(id for id in sample.literal_subjects("P2046") if len(sample.find(sample.label(id))) == 1)
        area = read_area(sample, subject)
        label = sample.label(subject)
        held = write_claim(
            f"The area of {label} is {area} square kilometres.", f"the area of {label}", area, "A page",
            "https://example.org/page", label, unit="square kilometres",
        )  # fmt: skip
        _, refused = compare_claims_with_graph([held], sample, TABLE)
        assert [one.check for one in refused] == ["claim_in_graph"] and "the graph holds it" in refused[0].reason


def list_claimed_programs(topology: str) -> tuple[OperationSequence, ...]:
    """The programs of a topology that rest on a claim."""
    return load_sequence_index(SHAPES[topology], (), True).programs


def read_area(graph: GraphStore, subject: str) -> str:
    """The area of an entity, as answers are written."""
    return render(GraphFacts(graph, TABLE).scalars(subject, "P2046")[0])


class TestItems:
    def test_slots_that_may_rest_on_one_mostly_do(self, sample: GraphStore) -> None:
        items = draft_claimed_items(sample)
        shapes = {name for name in TOPOLOGIES if list_claimed_programs(name)}
        able = [item for item in items if item.topology in shapes]
        assert len(pick_claimed(sample)) >= 0.5 * len(able) >= 10
        forms = {form.how for item in pick_claimed(sample) if (form := form_of(hop_of(item)))}
        assert {"sum", "minus"} <= forms  # what else is computed with a count is rarer than a test can draw
        assert {item.topology for item in pick_claimed(sample)} == shapes < set(TOPOLOGIES)

    def test_every_way_to_use_a_number_has_its_place_in_some_plan(self) -> None:
        used = {one.name for name in SHAPES for program in list_claimed_programs(name) for one in program.operations}
        assert {one.name for one in CLAIMED if one.takes} <= used

    def test_the_share_is_kept_and_all_other_slots_stay_as_they_were(self, sample: GraphStore) -> None:
        mix = TargetDistribution(dict.fromkeys(TOPOLOGIES, 1.0), claim_share=0.25)
        plain = Synthesizer(sample, TABLE, seed=4, distribution=mix)
        with_bank = Synthesizer(sample, TABLE, seed=4, distribution=mix, claims=BANK)
        # One by one: within a shard, a slot may take the plan that an earlier one leaves for a claim.
        before = [item for slot in range(40) for item in plain.draft((), slot, 1)[0]]
        after = [item for slot in range(40) for item in with_bank.draft((), slot, 1)[0]]
        changed = {item.id for item in after} - {item.id for item in before}
        resting = {item.id for item in after if any(hop.evidence.claims for hop in item.hops)}
        assert changed == resting
        wanting = sum(chance(4, slot, "claim") < 0.25 for slot in range(40))
        assert 0 < len(resting) <= wanting
        kept = {item.id: item for item in before}
        assert all(item == kept[item.id] for item in after if item.id not in resting)
        figures = with_bank.ledger.take()
        assert figures["slots for a claim"] == wanting
        assert max(0.3 * wanting, len(resting)) <= figures["plans on a claim"] <= wanting
        assert not any("claim" in name for name in plain.ledger.take())

    def test_nothing_shows_the_number_and_everything_says_what_it_is(self, sample: GraphStore) -> None:
        context = CheckContext(TABLE, graph=sample)
        for item in pick_claimed(sample):
            hop = hop_of(item)
            (claim,) = hop.evidence.claims
            assert claim.sealed and claim.phrase in item.question and claim.phrase in hop.question
            assert hop.verify == write_note(claim) and claim.source_url in hop.verify
            assert isinstance(hop.derivation, Compute) and claims_in(hop.derivation.expression) == (claim.id,)
            assert not failures(run_checks(item, context))
            linked = link_claim(claim, sample)
            assert linked.entities.isdisjoint({one.answer_id for one in item.hops})

    def test_an_item_without_claims_is_told_nothing_of_them(self) -> None:
        for item in all_items():
            assert "claims" not in {result.name for result in run_checks(item, CheckContext(TABLE))}

    def test_an_audit_of_the_file_alone_finds_nothing_and_counts_them_apart(
        self, sample: GraphStore, tmp_path: Path
    ) -> None:
        finder = NearDuplicateFinder()  # as the selection does, which no draft of these has met
        items = [item for item in draft_claimed_items(sample) if finder.add(item.question, item.id) is None]
        claimed = [item for item in items if any(hop.evidence.claims for hop in item.hops)]
        path = tmp_path / "data.jsonl"
        write_jsonl(items, path)
        for graph in (None, sample):
            report = audit(path, graph, TABLE)
            assert report.clean, report.text()
            assert report.claims == score(items).claims == describe(items).claims
            assert report.claims.items == len(claimed) == sum(report.claims.claims.values()) > 0
            assert report.claims.describe() in report.text()
        used = {claim.id for item in items for hop in item.hops for claim in hop.evidence.claims}
        assert set(report.claims.claims) == used <= {claim.id for claim in BANK}
        assert report.claims.authors == {"a person": len(used)}
        assert sum(report.claims.domains.values()) == report.claims.items
        assert json.loads(report.model_dump_json())["claims"]["items"] == report.claims.items

    def test_no_twin_is_made_of_one(self, sample: GraphStore) -> None:
        maker = TwinMaker(sample, GraphNames(KindIndex(sample)), TABLE, seed=0)
        outcome = maker.make_twin(pick_claimed(sample)[0])
        assert isinstance(outcome, Rejected)
        assert outcome.check == "twin_claim" and "no world of a graph can prove" in outcome.reason

    def test_an_expert_sees_the_claim_and_its_source(self, sample: GraphStore) -> None:
        for item in pick_claimed(sample)[:5]:
            hop = hop_of(item)
            (claim,) = hop.evidence.claims
            working = write_worked_steps(hop, item)
            assert any(claim.phrase in line for line in working) and working[-1].endswith(f"= {with_unit(hop)}")
            assert not any("claim(" in line for line in working)
            tasks = {
                task["data"]["kind"]: task["data"]
                for task in build_tasks(item)
                if task["data"].get("hop") in (None, hop.index)
            }
            for data in (tasks[ReviewTaskKind.SINGLE_HOP.value], tasks[ReviewTaskKind.MULTI_HOP.value]):
                assert f'href="{claim.source_url}"' in data["item_html"]
                assert "look it up" in data["item_html"]

    def test_two_sets_that_share_a_claim_share_a_fact(self, sample: GraphStore) -> None:
        hop = hop_of(pick_claimed(sample)[0])
        (claim,) = hop.evidence.claims
        assert (claim.id, "", claim.value) in facts_of(hop)

    def test_a_model_must_keep_the_phrase_and_not_say_the_number(self, sample: GraphStore) -> None:
        places = TextConstraintBuilder(Vocabulary(TABLE), sample)
        reader = WordingChecker(Vocabulary(TABLE), places)
        for item in pick_claimed(sample)[:12]:
            (claim,) = hop_of(item).evidence.claims
            questions = [hop.question for hop in item.hops]
            assert not [one for one in reader.read(item, questions, item.question) if one.kind in ("claims", "leakage")]
            other = item.question.replace(claim.phrase, "that number")
            assert "claims" in {problem.kind for problem in reader.read(item, questions, other)}
            told = item.question.replace(claim.phrase, f"{claim.phrase}, {claim.value},")
            assert "leakage" in {problem.kind for problem in reader.read(item, questions, told)}


def form_of(hop: Hop) -> ClaimComputation | None:
    assert isinstance(hop.derivation, Compute)
    form = read_form(hop.derivation.expression)
    return form if isinstance(form, ClaimComputation) else None


def with_unit(hop: Hop) -> str:
    return hop.answer if hop.unit in ("", "year") else f"{hop.answer} {hop.unit}"


def test_a_row_of_a_release_says_all_of_a_claim(sample: GraphStore) -> None:
    item = pick_claimed(sample)[0]
    hop = hop_of(item)
    row = to_release(item)["single_hop"][hop.index - 1]
    assert row["evidence"]["claims"] == [
        claim.model_dump(mode="json", exclude={"kind"}) for claim in hop.evidence.claims
    ]


def test_the_pages_example_is_a_claim() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "claims.md").read_text()
    claim = Claim.model_validate_json(page.partition("```json\n")[2].partition("```")[0])
    assert not list(find_faults(claim)) and claim.author == "person"

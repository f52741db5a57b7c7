"""Wording by a fallible model, over both wire formats: no faulty answer gets through, each fault is counted rightly."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hopwright.checks import failures, run_checks
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.llm.answers import WordedHop, WordedItem
from hopwright.llm.prompts import read_prompts
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef
from hopwright.records import Item, Lookup, Rejected
from hopwright.settings import prompts_folder
from hopwright.wording.base import RulesOnlyWriter, WordingResult
from hopwright.wording.llm.editing import FORGIVEN, Editor
from hopwright.wording.llm.model import ModelWriter, ModelWriterSettings
from hopwright.wording.llm.plan_brief import PlanBriefWriter
from tests.drafts import draft_items, draft_others
from tests.e2e.serving import serving
from tests.llm.builders import settings
from tests.planning.plans import RECORDED, compose, read_natural, synthesizer
from tests.wording.fallible_model import KINDS, FallibleModel, Rates

MIXED = Rates(0.06, 0.06, 0.06, 0.06, 0.06, 0.06, 0.06, stubborn=0.1)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWRIGHT_TEST_KEY", "k")


@pytest.fixture(scope="module")
def editor(sample: GraphStore) -> Editor:
    made = synthesizer(sample)
    return Editor(sample, default_table(), made.kinds, made.context, made.distractors, seed=1)


@pytest.fixture(scope="module")
def drafts(sample: GraphStore) -> tuple[Item, ...]:
    return tuple({item.id: item for item in draft_items(sample)}.values())


def word(
    server: FallibleModel, editor: Editor, graph: GraphStore, drafts: Sequence[Item], folder: Path, *,
    kind: str = "compatible", rounds: int = 3, keep_rules: bool = False,
) -> list[WordingResult]:  # fmt: skip
    """What a writer makes of drafts with this server."""
    briefs = PlanBriefWriter(default_table(), synthesizer(graph).kinds)
    prompt = read_prompts(prompts_folder())["word-item"]
    url = server.url if kind == "anthropic" else server
    with Session(settings(url, kind=kind), folder / "llm.sqlite", run="r") as session:
        terms = ModelWriterSettings(ModelRef("local", "tiny"), rounds=rounds)
        return ModelWriter(session, prompt, terms, editor, briefs, RulesOnlyWriter() if keep_rules else None).word(
            drafts
        )


def add_faults(worded: Sequence[WordingResult]) -> Counter[str]:
    return sum((one.faults for one in worded), Counter[str]())


def join_leaks(faults: Counter[str]) -> Counter[str]:
    """A wrong number may be that of an answer: `1960 World Series`."""
    return Counter("leakage" if kind == "numbers" else kind for kind in faults.elements())


@pytest.mark.parametrize("kind", ["compatible", "openai", "anthropic"])
def test_no_faulty_answer_gets_through_and_each_fault_is_counted(
    kind: str,
    editor: Editor,
    sample: GraphStore,
    drafts: tuple[Item, ...],
    tmp_path: Path,
) -> None:
    with serving(FallibleModel(MIXED)) as server:
        drafts = drafts if kind == "compatible" else drafts[:150]  # so many that every fault is among the answers
        worded = word(server, editor, sample, drafts, tmp_path, kind=kind)
        given, answers = server.given, server.answers
    assert join_leaks(add_faults(worded)) == join_leaks(given)
    assert set(given) == set(KINDS.values())
    assert sum(one.requests for one in worded) == answers
    items = [one.result for one in worded if isinstance(one.result, Item)]
    rejected = [one.result for one in worded if isinstance(one.result, Rejected)]
    assert len(items) + len(rejected) == len(drafts)
    assert len(items) > 0.65 * len(drafts)
    for item in items:
        assert item.question not in server.spoilt
        assert not {hop.question for hop in item.hops} & server.spoilt
        assert not failures(item.checks)
    assert {one.check for one in rejected} <= set(KINDS.values()) - FORGIVEN


def test_what_can_be_repaired_is_repaired_in_three_answers_at_most(
    editor: Editor, sample: GraphStore, drafts: tuple[Item, ...], tmp_path: Path
) -> None:
    with serving(FallibleModel(Rates(wrong_entity=0.25, broken_json=0.2))) as server:
        worded = word(server, editor, sample, drafts[:80], tmp_path)
    rounds = sum((one.counts for one in worded), Counter[str]())
    assert rounds["accepted_after.2"] > 5 < rounds["accepted_after.1"]
    assert rounds["accepted_after.3"] > 0
    assert max(one.requests for one in worded) == 3
    for one in worded:
        if isinstance(one.result, Rejected):
            assert one.requests == 3
            assert one.result.reason


def test_one_round_means_one_answer(
    editor: Editor, sample: GraphStore, drafts: tuple[Item, ...], tmp_path: Path
) -> None:
    with serving(FallibleModel(Rates(wrong_entity=0.3, broken_json=0.3))) as server:
        worded = word(server, editor, sample, drafts[:40], tmp_path, rounds=1)
        assert server.answers == 40
    assert {one.requests for one in worded} == {1}


def test_the_rules_words_are_kept_only_where_that_was_chosen_and_labelled_as_theirs(
    editor: Editor, sample: GraphStore, drafts: tuple[Item, ...], tmp_path: Path
) -> None:
    with serving(FallibleModel(Rates(refusal=0.3))) as server:
        worded = word(server, editor, sample, drafts[:30], tmp_path, keep_rules=True)
        refused = server.given["refusal"]
    items = [one.result for one in worded]
    assert all(isinstance(item, Item) for item in items)
    kept = [item for item, draft in zip(items, drafts, strict=False) if item == draft]
    assert len(kept) == refused >= 3
    assert all(isinstance(item, Item) and item.provenance.generator == "rules" for item in kept)


def test_an_item_says_which_model_said_what_at_what_cost(
    editor: Editor, sample: GraphStore, drafts: tuple[Item, ...], tmp_path: Path
) -> None:
    with serving(FallibleModel(Rates(wrong_entity=0.3))) as server:
        worded = word(server, editor, sample, drafts[:20], tmp_path)
    for one in worded:
        if not isinstance(one.result, Item):
            continue
        made = one.result.provenance
        assert (made.generator, made.model, made.model_version) == ("model", "local/tiny", "tiny-v1")
        assert (made.prompt, made.prompt_version) == ("word-item", "7")
        assert len(made.request_keys) == len(set(made.request_keys)) == one.requests
        assert made.input_tokens > 1000 and made.output_tokens > 50
        assert one.result.id in {draft.id for draft in drafts}


def test_the_same_answers_give_the_same_items_and_are_paid_once(
    editor: Editor, sample: GraphStore, drafts: tuple[Item, ...], tmp_path: Path
) -> None:
    with serving(FallibleModel(Rates(wrong_entity=0.2, leaked_answer=0.1))) as server:
        first = word(server, editor, sample, drafts[:40], tmp_path)
        answers = server.answers
        again = word(server, editor, sample, tuple(reversed(drafts[:40])), tmp_path)
        assert server.answers == answers
    assert [one.result for one in again] == [one.result for one in reversed(first)]
    assert add_faults(first) == add_faults(again)


def test_natural_wordings_of_real_plans_become_items(editor: Editor, sample: GraphStore) -> None:
    """No check of the registry minds a natural wording."""
    good = 0
    for told in read_natural(sample):
        if failures(run_checks(told.draft, synthesizer(sample).context)):
            continue
        edited = editor.edit(told.draft, answer_of(told.draft, told.sub_questions, told.marked))
        assert edited.problems == ()
        assert edited.item.question == told.question
        good += 1
    assert good >= 10


class Objecting(FallibleModel):
    """Objects to every plan."""

    def speak(self, body: dict[str, Any], prompt: str) -> tuple[str, str]:
        answer = json.loads(super().speak(body, prompt)[0])
        return json.dumps({**answer, "objection": "ambiguous", "objection_reason": "Two films have that title."}), ""


class Paraphrasing(FallibleModel):
    """Says of nobody that he died, in words that no list knows; everything else is right."""

    def speak(self, body: dict[str, Any], prompt: str) -> tuple[str, str]:
        answer = json.loads(super().speak(body, prompt)[0])
        answer["question"] = answer["question"].replace(" died}", " stopped breathing}")
        return json.dumps(answer), ""


def test_hand_answers_become_items_with_their_contexts(editor: Editor, sample: GraphStore) -> None:
    """Whole answers to real requests: accepted, nearly every context kept, each distractor taken or refused by kind."""
    counts, refused = Counter[str](), 0
    told = [row for row in json.loads(RECORDED.read_text("utf-8"))["rows"] if any(row["contexts"])]
    rows = [row for number, row in enumerate(told) if number % 3 == 0 or any(row["distractors"])]
    for row in rows:
        draft = compose(sample, row["topology"], row["steps"])
        assert draft is not None
        hops = [
            WordedHop(index=index, question=question, context=context, distractors=wrong)
            for index, (question, context, wrong) in enumerate(
                zip(row["sub_questions"], row["contexts"], row["distractors"], strict=True), start=1
            )
        ]
        edited = editor.edit(draft, WordedItem(sub_questions=hops, question=row["marked"]))
        refused += any(not one.hint and one.kind in ("structure", "entities", "leakage") for one in edited.problems)
        counts.update(edited.counts)
        counts["written"] += sum(bool(hop.context) for hop in hops)
    assert len(rows) >= 20
    assert refused <= 1
    assert counts["contexts_kept"] >= 0.95 * counts["written"] >= 50
    sorted_out = sum(count for kind, count in counts.items() if kind.startswith("distractors_refused."))
    assert counts["distractors_proposed"] >= 15
    assert sorted_out + counts["distractors_taken"] <= counts["distractors_proposed"]


def test_an_objection_sets_a_draft_aside_and_is_counted(
    editor: Editor, sample: GraphStore, drafts: tuple[Item, ...], tmp_path: Path
) -> None:
    with serving(Objecting(Rates())) as server:
        worded = word(server, editor, sample, drafts[:5], tmp_path, keep_rules=True)
    for one, draft in zip(worded, drafts, strict=False):
        assert isinstance(one.result, Rejected)
        assert (one.result.check, one.result.reason) == ("objection_ambiguous", "Two films have that title.")
        assert (one.result.key, one.requests, one.counts["objections"]) == (draft.id, 1, 1)


@pytest.mark.parametrize("rounds", [1, 3])
def test_unknown_words_are_asked_about_once_and_stand(
    rounds: int, editor: Editor, sample: GraphStore, tmp_path: Path
) -> None:
    some = [
        draft
        for topology in ("chain-3", "converging-3")  # of four hops nobody's death is asked about for its own sake
        for draft in draft_others(sample, topology, 200)
        if " died}" in draft.marked and sum("P570" in str(hop.derivation) for hop in draft.hops) == 1
        and not any("all(" in str(hop.derivation) for hop in draft.hops)  # there a death parts a list
    ][:4]
    assert some
    with serving(Paraphrasing(Rates())) as server:
        worded = word(server, editor, sample, some, tmp_path, rounds=rounds)
    for one in worded:
        assert isinstance(one.result, Item), one.result.reason
        assert "stopped breathing" in one.result.question
        assert one.requests == min(rounds, 2)
        assert one.counts["kept_in_unknown_words"] == 1


def test_sub_questions_of_other_hops_are_sent_back(editor: Editor, drafts: tuple[Item, ...]) -> None:
    draft = drafts[0]
    answer = answer_of(draft, [hop.question for hop in draft.hops], draft.marked)
    short = answer.model_copy(update={"sub_questions": answer.sub_questions[:-1]})
    assert editor.edit(draft, short).fault == "structure"


def test_context_is_kept_where_it_says_the_facts_and_no_more(editor: Editor, drafts: tuple[Item, ...]) -> None:
    draft = next(one for one in drafts if isinstance(one.hops[0].derivation, Lookup) and one.hops[0].evidence.triplets)
    fact = draft.hops[0].evidence.triplets[0]
    right = f"The {fact.property_label} of {fact.subject_label} is {fact.object_label}."
    for context, kept in (
        (right, True),
        ("", False),
        (f"{right} Otto von Lummerland liked it.", False),
        (f"{right} It was in 1066.", False),
        (f"{fact.subject_label} is known for something.", False),
        (f"Is the {fact.property_label} of {fact.subject_label} not {fact.object_label}?", False),
    ):
        answer = answer_of(draft, [hop.question for hop in draft.hops], draft.marked, context)
        edited = editor.edit(draft, answer)
        assert edited.fault == ""
        assert bool(edited.item.hops[0].evidence.passages) is kept
        assert bool(edited.remarks) is (bool(context) and not kept)
        if kept:
            assert edited.item.hops[0].evidence.passages[0].title == fact.subject_label


def test_true_and_unknown_distractors_are_not_taken(
    editor: Editor, drafts: tuple[Item, ...], sample: GraphStore
) -> None:
    draft = next(one for one in drafts if one.hops[0].answer_type == "entity" and len(one.hops[0].answer_aliases) > 1)
    hop = draft.hops[0]
    for text in (hop.answer, hop.answer_aliases[0]):
        edited = editor.edit(draft, propose(draft, 1, [text]))
        assert edited.remarks == {"true_distractor"}
        assert edited.item.hops[0].distractors == hop.distractors
    edited = editor.edit(draft, propose(draft, 1, ["Otto von Lummerland", "12"]))
    assert edited.remarks == frozenset()
    assert edited.item.hops[0].distractors == hop.distractors


def test_a_second_true_value_of_the_graph_is_not_taken(
    editor: Editor, drafts: tuple[Item, ...], sample: GraphStore
) -> None:
    """For a reverse look-up with conditions, whatever meets them all is true; with one fewer it may be a distractor."""
    tried = 0
    for draft in drafts:
        hop = draft.hops[0]
        if not isinstance(hop.derivation, Lookup) or hop.answer_type != "entity":
            continue
        beside = [
            id for property, id in sample.out_edges(hop.derivation.subject) if id != hop.answer_id and property != "P31"
        ]
        texts = [sample.label(id) for id in beside][:3]
        edited = editor.edit(draft, propose(draft, 1, texts))
        tried += len(texts)
        same = {id for property, id in sample.out_edges(hop.derivation.subject) if property == hop.derivation.property}
        assert not {one.id for one in edited.item.hops[0].distractors} & same
    assert tried > 50


def test_proposed_numbers_are_candidates_like_all_others(editor: Editor, sample: GraphStore) -> None:
    """Some are taken, none in another form, and the options are those of the last hop."""
    taken = Counter[str]()
    for draft in draft_others(sample, "chain-3", 600):  # few end in a number
        hop = draft.hops[-1]
        if hop.answer_type != "number" or hop.unit == "year" or "." in hop.answer:
            continue
        value = int(hop.answer.replace(",", ""))
        texts = [f"{value + 7:,}", f"{value - 7:,}", f"{value}.5"]
        edited = editor.edit(draft, propose(draft, hop.index, texts))
        last = edited.item.hops[-1]
        assert sorted(last.options.values()) == sorted([last.answer, *(one.text for one in last.distractors)])
        assert (edited.item.options, edited.item.label) == (last.options, last.label)
        chosen = {one.text: one.kind for one in last.distractors}
        assert f"{value}.5" not in chosen
        taken.update(kind for text, kind in chosen.items() if text in texts)
        assert edited.fault == ""
    assert sum(taken.values()) > 1


def test_proposed_names_are_taken_where_they_serve(
    editor: Editor, drafts: tuple[Item, ...], sample: GraphStore
) -> None:
    """What other plans give for the same relation: candidates, and some chosen; these the graph knows to be wrong."""
    found = defaultdict[str, dict[str, None]](dict)
    for draft in drafts:
        for hop in draft.hops:
            if isinstance(hop.derivation, Lookup) and hop.answer_id:
                found[hop.derivation.property][hop.answer] = None
    taken = 0
    for number, draft in enumerate(drafts[:140]):
        asked = [(one, one.derivation) for one in draft.hops if isinstance(one.derivation, Lookup) and one.answer_id]
        if not asked:
            continue
        hop, derivation = asked[0]
        others = [name for name in found[derivation.property] if name != hop.answer]
        texts = (others[number % len(others) :] + others)[:6] if others else []
        edited = editor.edit(draft, propose(draft, hop.index, texts))
        now = edited.item.hops[hop.index - 1].distractors
        assert all(one.id and sample.label(one.id) == one.text for one in now)
        taken += len({one.text for one in now} & set(texts) - {one.text for one in hop.distractors})
        assert edited.fault == "" or edited.fault == "true_distractor"
    assert taken > 3


def answer_of(draft: Item, subs: Sequence[str], question: str, context: str = "") -> WordedItem:
    """An answer with these questions, no distractors, and context for the first hop only."""
    hops = [
        WordedHop(index=index, question=text, context=context if index == 1 else "", distractors=[])
        for index, text in enumerate(subs, start=1)
    ]
    return WordedItem(sub_questions=hops, question=question)


def propose(draft: Item, index: int, texts: Sequence[str]) -> WordedItem:
    """The rules' wording with these distractors for one hop."""
    answer = answer_of(draft, [hop.question for hop in draft.hops], draft.marked)
    hops = [
        hop.model_copy(update={"distractors": list(texts)}) if hop.index == index else hop
        for hop in answer.sub_questions
    ]
    return answer.model_copy(update={"sub_questions": hops})

"""Reading back: a reader that understands words agrees with what was planned, and differs where the words differ."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flows.console.read_back import ReadingOptions, add_reading
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.llm.answers import AnsweredBack, ReadQuestion, ReadStep
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import read_prompts
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef, Request
from hopwright.records import Hop, Item
from hopwright.records.arrow import items_to_table
from hopwright.release.audit import AuditReport
from hopwright.release.format import to_release
from hopwright.settings import SynthesizeParameters, prompts_folder
from hopwright.stages.models import ModelAccess
from hopwright.stages.reading_back import read_back
from hopwright.stages.wording import WordingShard, list_requests, make_reader
from hopwright.wording.llm.editing import Editor
from hopwright.wording.llm.model import ModelWriter, ModelWriterSettings
from hopwright.wording.llm.plan_brief import PlanBriefWriter
from hopwright.wording.llm.reading_back import is_same_answer
from hopwright.wording.llm.text_constraints import TextConstraintBuilder, TextConstraints
from hopwright.wording.llm.vocabulary import Vocabulary
from tests.drafts import draft_items, draft_numbers
from tests.e2e.serving import serving
from tests.llm.builders import settings
from tests.planning.plans import compose, read_natural, synthesizer
from tests.wording.fallible_model import FallibleModel, Rates

_SAID = {
    "greater": "larger", "smaller": "smaller", "later": "after", "earlier": "before", "first": "first", "last": "last",
}  # fmt: skip
_TURNED = {
    "larger": "smaller", "smaller": "larger", "after": "before", "before": "after", "first": "last", "last": "first",
}  # fmt: skip
_TITLE = re.compile(r'"[^"]+"')
READ = Path(__file__).with_name("read_back.json")
PLACES = TextConstraintBuilder(Vocabulary(default_table()), None)


def understand(item: Item) -> ReadQuestion:
    """What somebody makes of the question who understands it as it was planned."""
    places = PLACES.lay_out(item)
    asked = {name.id for name in places[-1].required}
    stated = places[-1].numbers | places[-1].constants
    steps = [_step(hop, place, asked, stated) for hop, place in zip(item.hops, places[:-1], strict=True)]
    return ReadQuestion(steps=steps)


def _step(hop: Hop, place: TextConstraints, asked: set[str], stated: frozenset[Decimal]) -> ReadStep:
    kinds = {"entity": "other", "date": "date", "number": "number", "text": "other"}
    return ReadStep(
        number=hop.index,
        uses=list(hop.depends_on),
        names=[name.label for name in place.required if name.id in asked],
        # Who reads the bare question does not know the titles that earlier steps give.
        relation=_TITLE.sub("it", hop.question)[:100],
        gives="year" if hop.unit == "year" else kinds[hop.answer_type],  # type: ignore[arg-type]
        direction=next((_SAID[side] for side in sorted(place.sides)), ""),  # type: ignore[arg-type]
        numbers=[str(number) for number in sorted((place.numbers | place.constants) & stated)],
    )


class KnowingModel(FallibleModel):
    """Words plans, and reads the questions of known items back as they are planned, but for the `misread` ones."""

    def __init__(self, items: Sequence[Item], misread: frozenset[str] = frozenset()) -> None:
        super().__init__(Rates())
        self.truth = {" ".join(item.question.lower().split()): item for item in items}
        self.misread = misread
        self.read = self.solved = 0

    def speak(self, body: dict[str, Any], prompt: str) -> tuple[str, str]:
        asked = re.search(r"^Question: (.*)$", prompt, re.MULTILINE)
        if asked is None or "\nHop 1" in prompt:
            return super().speak(body, prompt)
        question = " ".join(asked[1].lower().split())
        item = next(item for known, item in self.truth.items() if question.endswith(known[-40:]))
        if "\nFacts:" in f"\n{prompt}":
            self.solved += 1
            return AnsweredBack(working="w", answer=item.answer).model_dump_json(), ""
        self.read += 1
        read = understand(item)
        if item.id in self.misread:
            steps = [step.model_copy(update={"negated": True}) for step in read.steps]
            read = read.model_copy(update={"steps": steps})
        return read.model_dump_json(), ""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWRIGHT_TEST_KEY", "k")


@pytest.fixture(scope="module")
def drafts(sample: GraphStore) -> tuple[Item, ...]:
    by_end = {item.question[-40:]: item for item in draft_items(sample)}
    return tuple(by_end.values())


def test_who_understands_a_question_agrees_with_its_plan(drafts: tuple[Item, ...]) -> None:
    reader = make_reader("local/tiny", default_table())
    for item in drafts:
        assert reader.compare(item, understand(item), PLACES.lay_out(item)) == ""
        assert reader.judge(item, AnsweredBack(answer=item.answer)) == ""


def test_who_understands_another_question_does_not(drafts: tuple[Item, ...], sample: GraphStore) -> None:
    """A branch that is left out, another direction, a negation, names that are lost: each is told."""
    reader = make_reader("local/tiny", default_table())
    told = {"branch": 0, "direction": 0, "negated": 0, "dropped": 0}
    for item in (*drafts, *(one.draft for one in read_natural(sample))):
        places, read = PLACES.lay_out(item), understand(item)
        by_number = {step.number: step for step in read.steps}
        joins = [step for step in read.steps if len({tuple(by_number[one].names) for one in step.uses} - {()}) > 1]
        if joins:
            alone = {joins[0].number: joins[0].uses[:1]}
            steps = [step.model_copy(update={"uses": alone.get(step.number, step.uses)}) for step in read.steps]
            told["branch"] += 1
            assert reader.compare(item, ReadQuestion(steps=steps), places)
        if len({step.direction for step in read.steps} - {""}) == 1:
            steps = [
                step.model_copy(update={"direction": _TURNED.get(step.direction, "")}) for step in read.steps
            ]  # fmt: skip
            told["direction"] += 1
            found = reader.compare(item, ReadQuestion(steps=steps), places)
            assert found
        steps = [step.model_copy(update={"negated": step.number == 1}) for step in read.steps]
        told["negated"] += 1
        assert "does not hold" in reader.compare(item, ReadQuestion(steps=steps), places)
        named = [step for step in read.steps if not step.names]
        if len(named) < len(read.steps):
            told["dropped"] += 1
            steps = [step.model_copy(update={"names": []}) for step in read.steps]
            assert reader.compare(item, ReadQuestion(steps=steps), places)
    assert all(told.values()), told


def test_hand_answers_agree_with_right_wordings_and_differ_from_wrong_ones(sample: GraphStore) -> None:
    """Answers given by hand by somebody who saw the bare questions, mixed: 27 right ones, 28 wrong ones.

    More than half of the wrong ones are such as the marks let pass.
    """
    reader = make_reader("local/tiny", default_table())
    differs = Counter[bool]()
    agrees = 0
    for row in json.loads(READ.read_text("utf-8"))["rows"]:
        draft = compose(sample, row["topology"], row["steps"])
        assert draft is not None
        read = ReadQuestion.model_validate(row["read"])
        found = reader.compare(draft.model_copy(update={"question": row["question"]}), read, PLACES.lay_out(draft))
        if row["wrong"]:
            differs[bool(found)] += 1
        else:
            agrees += not found
    assert differs.total() == differs[True] == 28
    assert agrees == 26


def test_an_answer_from_the_facts_is_held_against_the_gold_one(sample: GraphStore, drafts: tuple[Item, ...]) -> None:
    number = next(item for item in draft_numbers(sample) if item.hops[-1].answer_type == "number")
    name = next(item for item in drafts if item.hops[-1].answer_type == "entity")
    assert is_same_answer(f"{number.answer} years", number)
    assert not is_same_answer("123456", number)
    assert is_same_answer(name.answer.upper(), name)
    assert not is_same_answer("Otto von Lummerland", name)


def test_a_wording_is_kept_only_where_its_reader_agrees(
    sample: GraphStore, drafts: tuple[Item, ...], tmp_path: Path
) -> None:
    made = synthesizer(sample)
    editor = Editor(sample, default_table(), made.kinds, made.context, made.distractors, seed=1)
    some = drafts[:12]
    misread = frozenset(item.id for item in some[:3])
    briefs, prompt = PlanBriefWriter(default_table(), made.kinds), read_prompts(prompts_folder())["word-item"]
    with (
        serving(KnowingModel(some, misread)) as server,
        Session(settings(server, kind="compatible"), tmp_path / "llm.sqlite", run="r") as session,
    ):
        terms = ModelWriterSettings(ModelRef("local", "tiny"), rounds=2)
        reader = make_reader("local/tiny", default_table())
        worded = ModelWriter(session, prompt, terms, editor, briefs, reader=reader).word(some)
    kept = {one.result.id for one in worded if isinstance(one.result, Item)}
    refused = {one.result.key: one.result for one in worded if not isinstance(one.result, Item)}
    assert refused.keys() == misread
    assert all(one.check == "reading" and "does not hold" in one.reason for one in refused.values())
    assert kept == {item.id for item in some} - misread
    assert sum(one.counts["reading.answer_agree"] for one in worded) == len(kept) == server.solved
    assert sum(one.counts["reading.steps_differ"] for one in worded) == 2 * len(misread)


def test_an_audit_has_a_foreign_file_read_back(
    drafts: tuple[Item, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three questions stand at plans that they do not ask for; a row without a plan cannot be compared."""
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path))
    some = list(drafts[:12])
    rows = [to_release(item) for item in some]
    for place in (0, 4, 8):
        rows[place]["multi_hop_question"] = some[place + 1].question
    bare = ("id", "multi_hop_question", "multi_hop_answer", "multiple_choice_options", "correct_answer_label")
    rows.append({
        **{name: rows[-1][name] for name in bare}, "motif_type": rows[-1]["motif_type"],
        "single_hop": [
            {name: hop[name] for name in ("question", "answer", *bare[3:])} for hop in rows[-1]["single_hop"]
        ],
    })  # fmt: skip
    file = tmp_path / "foreign.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    with serving(KnowingModel(some)) as server:
        (tmp_path / "endpoints.toml").write_text(
            f'[endpoints.local]\nkind = "compatible"\nbase_url = "{server.url}/v1"\nkey_env = "HOPWRIGHT_TEST_KEY"\n'
        )
        options = ReadingOptions("local/tiny", tmp_path / "endpoints.toml", None)
        report = add_reading(file, AuditReport(file=str(file), items=len(rows)), options)
    assert {one.line for one in report.violations} == {1, 5, 9}
    assert report.counts == {"reads-otherwise": 3}
    assert [one.items for one in report.skipped] == [1]


def test_what_it_would_cost_counts_reading_back(
    sample_folder: Path, drafts: tuple[Item, ...], tmp_path: Path
) -> None:
    """Three requests an item, of which the two that read are known about."""
    part = tmp_path / "part-00000.parquet"
    pq.write_table(items_to_table(drafts[:4]), part)
    access = ModelAccess(None, tmp_path / "llm.sqlite", "r", None, ("openai/gpt-5-mini",))
    found = {}
    for reading in ("", "openai/gpt-5"):
        wanted = SynthesizeParameters(writer="openai", model="openai/gpt-5-mini", reading_model=reading)
        found[reading] = list(list_requests(WordingShard(sample_folder, 0, wanted, ((part, (0, 1, 3)),), access)))
    assert [isinstance(one, Request) for one in found[""]] == [True] * 3
    asked = [one.request for one in found["openai/gpt-5"] if isinstance(one, ApproximateRequest)]
    assert len(asked) == 6
    assert {one.prompt for one in asked} == {"read-question", "answer-back"}
    assert {one.model for one in asked} == {"gpt-5"}


def test_reading_states_costs_and_failures(drafts: tuple[Item, ...], tmp_path: Path) -> None:
    class Silent(KnowingModel):
        def speak(self, body: dict[str, Any], prompt: str) -> tuple[str, str]:
            return "no JSON", ""

    with (
        serving(Silent(drafts)) as server,
        Session(settings(server, kind="compatible"), tmp_path / "llm.sqlite", run="r") as session,
    ):
        (row,) = read_back(drafts[:1], "local/tiny", session, default_table())
    assert row.unread and not row.differs

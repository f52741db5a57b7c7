"""The shard functions of every stage, on the sample, without Prefect: what workers do."""

from __future__ import annotations

import gzip
import json
import math
import shutil
from pathlib import Path

import pytest

from annotation.stages.review import SampleRequest, write_sample
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item
from hopwright.records.arrow import items_to_table, read_columns, read_items, table_to_items
from hopwright.runs import RunFolder, ShardOutput, Stage, part_path, rejected_path, write_shard
from hopwright.settings import RewriteParameters, SynthesizeParameters, SynthesizeRun, sample_folder
from hopwright.stages.drafting import DraftSlots, draft_slots, write_target_distribution
from hopwright.stages.filter import FilterPart, name_voters, vote_on_part
from hopwright.stages.retrieve import AnchorSlice, count_questions, ingest_corpus, link_slice
from hopwright.stages.rewrite import (
    DraftsPart,
    PassagesPart,
    RewritePart,
    add_passages_to_part,
    finish_twins_of_part,
    make_twins_of_part,
    resolve_name_collisions,
)
from hopwright.stages.rewrite_context import RewriteContext
from hopwright.stages.selection import SelectionPart, keep_selected, survey_drafts
from hopwright.stages.synthesize import plan_drafts
from tests.stage_runs import run_stage

DRAFTS = 120
QUESTIONS = sample_folder() / "anchors.jsonl"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work") / "store"
    counts = ingest_corpus(sample_folder(), folder)
    assert counts["entities"] == sum(1 for _ in GraphStore.open(folder).entities())
    return folder


@pytest.fixture(scope="module")
def run(store: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run up to its drafts, in shards of 60, and what is left of them without duplicates."""
    run = RunFolder(tmp_path_factory.mktemp("home"), "r")
    total = count_questions(QUESTIONS)
    assert total >= 200
    slices = [AnchorSlice(QUESTIONS, store, start, min(100, total - start)) for start in range(0, total, 100)]
    run_stage(Stage(run, "retrieve"), slices, link_slice, parameters={})
    run_stage(Stage(run, "synthesize/drafts"), slots(run, store, 60), draft_slots, parameters={})
    kept = select_all(Stage(run, "synthesize/drafts").parts(), 1.0)
    run_stage(Stage(run, "synthesize"), kept, keep_selected, parameters={})
    return run


def slots(run: RunFolder, store: Path, size: int) -> list[DraftSlots]:
    anchors = tuple(Stage(run, "retrieve").parts())
    mix = write_target_distribution(SynthesizeParameters())
    return [DraftSlots(store, anchors, 0, mix, start, size) for start in range(0, DRAFTS, size)]


def select_all(parts: list[Path], share: float) -> list[SelectionPart]:
    survey = survey_drafts(parts, SynthesizeParameters(max_answer_share=share, max_frame_share=1.0, items=0))
    return [SelectionPart(part, dropped) for part, dropped in zip(parts, survey.dropped, strict=True)]


def read_all(stage: Stage) -> list[Item]:
    return [item for part in stage.parts() for item in read_items(part)]


def test_most_anchors_are_linked_and_counts_add_up(run: RunFolder) -> None:
    counts = Stage(run, "retrieve").read().counts
    assert counts.taken == count_questions(QUESTIONS)
    assert counts.out >= 0.9 * counts.taken


def test_drafts_depend_on_no_other_shard(run: RunFolder, store: Path, tmp_path: Path) -> None:
    """A shard passes over what it has drawn, and so it begins as a shorter one does; others make no difference."""
    other = RunFolder(tmp_path, "r")
    run_stage(Stage(other, "last"), slots(run, store, 60)[-1:], draft_slots, parameters={})
    run_stage(Stage(other, "short"), slots(run, store, 40)[:1], draft_slots, parameters={})
    parts = Stage(run, "synthesize/drafts").parts()
    assert read_all(Stage(other, "last")) == list(read_items(parts[-1]))
    short = read_all(Stage(other, "short"))
    assert short == list(read_items(parts[0]))[: len(short)]
    assert len(read_all(Stage(run, "synthesize/drafts"))) > DRAFTS / 3


def test_selection_keeps_rows_in_order_and_names_what_it_drops(run: RunFolder) -> None:
    drafts = Stage(run, "synthesize/drafts")
    selections = select_all(drafts.parts(), 0.02)
    outputs = [keep_selected(one) for one in selections]
    kept = [id for output in outputs for id in output.rows.column("id").to_pylist()]
    dropped = {row.key for output in outputs for row in output.rejected}
    items = read_all(drafts)
    assert kept == list(dict.fromkeys(item.id for item in items if item.id in set(kept)))
    assert len(kept) + sum(len(output.rejected) for output in outputs) == len(items)
    checks = {row.check for output in outputs for row in output.rejected}
    shares = {f"{one}_share" for one in ("answer", "ending", "frame", "opening", "owner", "step")}
    assert checks <= {"duplicate", "near_duplicate"} | shares
    assert dropped <= {item.id for item in items}
    assert len(kept) == len(set(kept))


def test_a_repeated_draft_is_dropped_wherever_it_stands(run: RunFolder) -> None:
    part = Stage(run, "synthesize/drafts").parts()[0]
    once, twice = select_all([part, part], 1.0)
    assert len(twice.dropped) == keep_selected(twice).taken
    assert keep_selected(twice).rows.num_rows == 0
    assert keep_selected(once).rows.num_rows == keep_selected(once).taken - len(once.dropped) > 0


def test_votes_stay_on_the_items_and_counts_add_up(run: RunFolder, store: Path) -> None:
    part = Stage(run, "synthesize/drafts").parts()[0]
    output = vote_on_part(FilterPart(part, store, 0, 1))
    voters = name_voters(store, 0)
    assert len(voters) == 4
    assert output.taken == output.rows.num_rows + len(output.rejected)
    for votes in output.rows.column("votes").to_pylist():
        assert [vote["model"] for vote in votes] == voters
        assert sum(vote["right"] for vote in votes) <= 1


def test_the_steps_of_the_rewrite_stage_fit_together(run: RunFolder, store: Path, tmp_path: Path) -> None:
    """Passages, stage-one twins, finished twins: nothing is lost on the way, and names that met are parted."""
    part = Stage(run, "synthesize/drafts").parts()[0]
    context = RewriteContext(store, 0, RewriteParameters(back_translation="off"))
    built = add_passages_to_part(PassagesPart(part, context))
    assert built.rows.num_rows == built.taken and not built.rejected
    write_shard(tmp_path / "passages", 0, built)
    items = part_path(tmp_path / "passages", 0)
    drafts = make_twins_of_part(DraftsPart(items, context))
    assert drafts.taken == drafts.rows.num_rows + len(drafts.rejected) == built.taken
    write_shard(tmp_path / "drafts", 0, drafts)
    made = part_path(tmp_path / "drafts", 0)
    met = resolve_name_collisions([made], [items], context)
    # Of two twins whose names met no others, the second is given a name of the first: it is the one to be named anew.
    first, second, *others = sorted(read_items(made), key=lambda twin: twin.twin in met)
    meeting = second.model_copy(update={"world": (first.world[0], *second.world[1:])})
    write_shard(
        tmp_path / "meeting", 0, ShardOutput(items_to_table([first, meeting, *others]), [], taken=len(others) + 2)
    )
    salts = resolve_name_collisions([part_path(tmp_path / "meeting", 0)], [items], context)
    assert salts == {**met, second.twin: 1}
    spec = RewritePart(made, rejected_path(tmp_path / "drafts", 0), items, context, translate=False, salts=salts)
    output = finish_twins_of_part(spec)
    assert output.taken == output.rows.num_rows + len(output.rejected) == built.taken
    assert output.skipped == {"back-translation": output.rows.num_rows}
    assert set(output.rows.column("variant").to_pylist()) == {"counterfactual"}
    before = {twin.twin: twin.world for twin in read_items(made)}
    after = {twin.twin: twin.world for twin in table_to_items(output.rows)}
    assert {item for item in after if after[item] != before[item]} == salts.keys()


def write_review(run: RunFolder, folder: Path, count: int, seed: int) -> dict[str, bytes]:
    """The files of a review of so many items, a fifth of them gold."""
    request = SampleRequest(
        parts=tuple(Stage(run, "synthesize").parts()),
        twins=(),
        count=count,
        seed=seed,
        folder=folder,
        kinds=("single_hop", "multi_hop", "twin"),
        overlap=2,
        agreement_overlap=3,
        agreement_items=5,
        gold_share=0.2,
    )
    gold = math.ceil(count * 0.2)
    whole = {"single_hop": 4 * count + gold, "multi_hop": count + gold, "gold": 2 * gold} if count else {"gold": 0}
    assert write_sample(request) == whole
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.js*")} | {
        "gold": folder.with_name(f"{folder.name}-gold.jsonl").read_bytes()
    }


@pytest.mark.parametrize("count", [0, 7, 12])
def test_a_review_sample_is_even_and_repeatable(count: int, run: RunFolder, tmp_path: Path) -> None:
    files = write_review(run, tmp_path / "a", count, seed=0)
    assert files == write_review(run, tmp_path / "b", count, seed=0)
    if not count:
        return
    assert files != write_review(run, tmp_path / "c", count, seed=1)
    tasks = [task["data"] for task in json.loads(files["multi_hop/tasks-000.json"])]
    gold = {json.loads(line)["item_id"]: json.loads(line) for line in files["gold"].splitlines()}
    assert gold and "gold.jsonl" not in files, "told to whoever gets the tasks"
    kept = [task for task in tasks if task["item_id"] not in gold]
    shapes = [task["topology"] for task in kept]
    columns = (column for part in Stage(run, "synthesize").parts() for (column,) in read_columns(part, "topology"))
    drafted = [column.title() for column in columns]
    spare = {shape for shape in shapes if drafted.count(shape) > shapes.count(shape)}  # the others are taken whole
    assert max(map(shapes.count, set(shapes))) - min(map(shapes.count, spare)) <= 1
    assert len(json.loads(files["review.json"])["items"]) == min(5, count)
    assert not {one["source"] for one in gold.values()} & {task["item_id"] for task in kept}, "shown twice"


def test_malformed_lines_of_the_corpus_are_counted(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    shutil.copytree(sample_folder(), corpus)
    assert ingest_corpus(corpus, tmp_path / "good")["malformed_lines"] == 0
    triplets = corpus / "wikidata5m_all_triplet.txt.gz"
    with gzip.open(triplets, "ab") as file:
        file.write(b"neither\tthree columns\nQ1 P2 Q3\n")
    for _ in range(2):  # made, then found again
        assert ingest_corpus(corpus, tmp_path / "bad")["malformed_lines"] == 2
    triplets.unlink()
    with pytest.raises(InputError, match=r"no wikidata5m_all_triplet\.txt"):
        ingest_corpus(corpus, tmp_path / "bad")


def test_questions_that_are_about_nothing_in_the_graph_stop_the_run(store: Path, tmp_path: Path) -> None:
    question = json.loads(QUESTIONS.read_text("utf-8").splitlines()[0])
    question |= {"answer": "Brzeczyszczykiewicz", "answer_aliases": []}
    questions = tmp_path / "anchors.jsonl"
    questions.write_text(json.dumps(question) + "\n", "utf-8")
    run = RunFolder(tmp_path, "r")
    stage = Stage(run, "retrieve")
    run_stage(stage, [AnchorSlice(questions, store, 0, 1)], link_slice, parameters={}, notes={"store": str(store)})
    with pytest.raises(InputError, match=r"none of the 1 anchor questions .*retrieve/rejected says why"):
        plan_drafts(run, SynthesizeRun(run="r"))

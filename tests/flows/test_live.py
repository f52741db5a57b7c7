"""What is shown of a stage while it works and after: figures, examples of rejections, the funnel."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from hopwright.records import Rejected
from hopwright.records.arrow import rejected_to_table
from hopwright.runs import Counts, RunFolder, ShardOutput, ShardReport, Stage, StageManifest, write_shard
from hopwright.runs.code import digest_code
from hopwright.runs.manifest import ResourceUsage
from hopwright.runs.shards import read_report
from hopwright.stages.funnel import draw_funnel, list_steps
from hopwright.stages.rejections import describe_row, find_examples
from tasks.artifacts import count_rows, describe_stage, describe_stage_end, show_rejected
from tasks.live import StageProgress, describe_shard, listen, name_artifact
from tasks.reports import encode_picture, tabulate_steps
from tests.builders import all_items


def reject(number: int, check: str) -> Rejected:
    return Rejected(key=f"hw-{number:04x}", check=check, reason=f"`{check}` <b>said</b> no {number}")


def output(rejected: list[Rejected], kept: int) -> ShardOutput:
    rows = rejected_to_table([Rejected(key=f"k{number}", check="", reason="") for number in range(kept)])
    return ShardOutput(rows, rejected, taken=kept + len(rejected), usage=ResourceUsage(cost_usd=0.5))


def test_figures_add_up_over_shards() -> None:
    heard: list[tuple[str, int, int]] = []
    listen(lambda *words: heard.append(words))
    progress = StageProgress("filter", 4, 1, "items")
    assert "| Shards | 1 of 4, 1 from an earlier start |" in progress.render()
    assert "Rate" not in progress.render()
    for number in range(2):
        counts = Counts.model_validate({"in": 50, "out": 40, "rejected": {"too_easy": 10}})
        progress.advance(ShardReport(number, counts, ResourceUsage(cost_usd=0.25), {}, {}))
    page = progress.render()
    for row in ("3 of 4, 1 from", "| Items | 100 in, 80 out |", "| Yield | 80.0% |", "too_easy 20", "0.5000 by these"):
        assert row in page
    assert "| Time left | about " in page
    progress.advance()
    assert "Time left" not in progress.render()
    assert heard == [("filter", done, 4) for done in (1, 2, 3, 4)]


def test_a_shard_is_told_with_an_id_for_every_check(tmp_path: Path) -> None:
    rejected = [reject(1, "leakage"), reject(2, "choices"), reject(3, "leakage")]
    report = write_shard(tmp_path, 7, output(rejected, 5))
    assert report == read_report(tmp_path, 7), "what is told apart is not what it is"
    line = "drafts, shard 7: 8 in, 5 out; rejected 2 leakage (such as hw-0001), 1 choices (such as hw-0002)"
    assert describe_shard("drafts", report) == line
    many = write_shard(tmp_path, 8, output([reject(number, f"check{number}") for number in range(6)], 0))
    assert describe_shard("drafts", many).endswith("and 3 more")


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=40), st.integers(1, 4))
def test_examples_are_as_many_as_there_are_up_to_the_limit(checks: list[str], each: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for shard in range(0, len(checks), 9):
            rows = [reject(shard + number, check) for number, check in enumerate(checks[shard : shard + 9])]
            write_shard(folder, shard // 9, output(rows, 1))
        total = {check: checks.count(check) for check in set(checks)}
        found = find_examples(folder / "rejected", total, each)
    assert {check: len(rows) for check, rows in found.items()} == {
        check: min(each, rows) for check, rows in total.items()
    }
    assert all(row.check == check for check, rows in found.items() for row in rows)


def test_the_pages_of_rejections_name_ids_and_quote_what_came_from_elsewhere(tmp_path: Path) -> None:
    item = all_items()[0]
    whole = Rejected(key=item.id, check="too_easy", reason="two were right", row=item.model_dump_json())
    write_shard(tmp_path, 0, output([whole, reject(2, "leakage")], 2))
    counts = Counts.model_validate({"in": 4, "out": 2, "rejected": {"too_easy": 1, "leakage": 1}})
    manifest = StageManifest(stage="filter", counts=counts, versions={"code": "0ld"})
    examples = find_examples(tmp_path / "rejected", counts.rejected)
    assert count_rows(manifest, examples)[2]["examples"] == item.id
    page = show_rejected(manifest, examples)
    assert f"- `{item.id}`: `two were right`" in page
    assert item.question.split()[0] in page
    assert "`'leakage' <b>said</b> no 2`" in page, "no backtick of it ends the quotation"
    assert describe_row(reject(1, "x")) == ""
    assert describe_stage_end(manifest, "items") == "filter is finished: 4 items in, 2 out, 2 rejected"
    assert "made by another version of the code (0ld)" in describe_stage(manifest, "items", "folder")
    same = manifest.model_copy(update={"versions": {"code": digest_code("filter")}})
    assert "another version" not in describe_stage(same, "items", "folder")


def test_the_funnel_holds_what_is_finished(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, "r")
    with run.hold():
        run.begin({})
        for name, taken, out in (("synthesize/drafts", 60, 50), ("synthesize", 50, 45)):
            stage = Stage(run, name)
            stage.begin({})
            lost = {"leakage": taken - out}
            stage.finish(counts=Counts.model_validate({"in": taken, "out": out, "rejected": lost}))
        Stage(run, "filter").begin({})
    steps = list_steps(run)
    assert [(step.stage, step.taken, step.out) for step in steps] == [
        ("synthesize/drafts", 60, 50),
        ("synthesize", 50, 45),
    ]
    assert tabulate_steps(steps)[0]["share"] == "83.3%"
    assert tabulate_steps(steps)[1]["rejected most"] == "leakage 5"
    picture = draw_funnel(steps)
    assert picture == draw_funnel(steps), "the same figures, the same bytes"
    path = tmp_path / "funnel.png"
    path.write_bytes(picture)
    assert Image.open(path).width > 500
    assert encode_picture(picture).startswith("data:image/png;base64,iVBOR")


def test_keys_of_artifacts_hold_what_prefect_takes() -> None:
    assert name_artifact("rewrite/drafts", "live") == "rewrite-drafts-live"
    assert name_artifact("evaluate/openai-gpt-4.1_Mini", "live") == "evaluate-openai-gpt-4-1-mini-live"

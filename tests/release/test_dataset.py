import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hopwright.checks import CheckedItem
from hopwright.checks.overlap import OverlapReport
from hopwright.difficulty.report import ReportBuilder
from hopwright.errors import InputError, RunError
from hopwright.records import CheckResult, Item, Source, Vote
from hopwright.release import folder_swap as swap
from hopwright.release.card import render_card
from hopwright.release.dataset import ReleaseManifest, read_manifest, write_release
from hopwright.release.facts import ReviewFacts, RunFacts, SetFigures, StageCounts
from hopwright.release.format import HOP_FIELDS, ITEM_FIELDS, from_release, to_release
from hopwright.release.parquet import RELEASE_SCHEMA
from hopwright.release.separation import ItemSet
from hopwright.release.statistics import describe
from hopwright.reporting.scorecard import ScorecardMaker
from tests.builders import all_items, chain_item

FACTS = RunFacts(
    seed=7,
    versions={"hopwright": "0.1.0"},
    corpus="a world of a dozen entities",
    sources=(Source(name="Wikidata", licence="CC0"),),
    anchors=3,
    stages=(StageCounts(stage="synthesize", unit="plans", entered=10, left=3, rejected=7),),
    voters=("prior", "overlap"),
    back_translation_skipped="apertium is not installed",
)
REJECTIONS = {"synthesize": {"leakage": 3, "uniqueness": 4}}


def factual_items() -> list[Item]:
    return [
        item.model_copy(update={"votes": (Vote(model="prior", option="A", right=item.label == "A"),)})
        for item in all_items()
    ]


def twin_items() -> list[Item]:
    return [
        item.model_copy(update={"id": item.id + "c", "variant": "counterfactual", "twin": item.id})
        for item in all_items()[:2]
    ]


def release(folder: Path, **changes: Any) -> ReleaseManifest:
    arguments: dict[str, Any] = {
        "factual": factual_items(),
        "twins": twin_items(),
        "folder": folder,
        "name": "tiny",
        "version": "1.0.0",
        "facts": FACTS,
        "rejections": REJECTIONS,
    } | changes
    return write_release(arguments.pop("factual"), arguments.pop("twins"), **arguments)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_folder_holds_what_the_manifest_says(tmp_path: Path) -> None:
    manifest = release(tmp_path / "out")
    files = snapshot(tmp_path / "out")
    assert set(files) == {entry.path for entry in manifest.files} | {"manifest.json", "checksums.sha256"}
    for entry in manifest.files:
        assert hashlib.sha256(files[entry.path]).hexdigest() == entry.sha256
        assert len(files[entry.path]) == entry.bytes
    for line in files["checksums.sha256"].decode().splitlines():
        digest, path = line.split("  ")
        assert hashlib.sha256(files[path]).hexdigest() == digest
    assert (manifest.items, manifest.twins) == (3, 2)
    assert manifest.main.factual.voters["prior"].votes == 3
    assert read_manifest(tmp_path / "out") == manifest


@pytest.mark.usefixtures("no_plots")
def test_rows_are_sorted_linked_and_read_back(tmp_path: Path) -> None:
    release(tmp_path / "out")
    lines = (tmp_path / "out/data.jsonl").read_text("utf-8").splitlines()
    items = [from_release(json.loads(line)) for line in lines]
    assert [item.id for item in items] == sorted(item.id for item in all_items())
    twins = [
        from_release(json.loads(line))
        for line in (tmp_path / "out/counterfactual.jsonl").read_text("utf-8").splitlines()
    ]
    links = {item.id: item.twin for item in items if item.twin}
    assert links == {twin.twin: twin.id for twin in twins}
    assert len(links) == 2
    unlinked = {item.id: item.model_copy(update={"twin": None}) for item in items}
    assert unlinked == {item.id: item for item in factual_items()}


@pytest.mark.usefixtures("no_plots")
def test_parquet_holds_the_rows_of_the_jsonl(tmp_path: Path) -> None:
    release(tmp_path / "out")
    for jsonl, config in (("data.jsonl", "synth"), ("counterfactual.jsonl", "synth_counterfactual")):
        rows = [json.loads(line) for line in (tmp_path / "out" / jsonl).read_text("utf-8").splitlines()]
        table = pq.read_table(tmp_path / f"out/data/{config}")
        assert table.schema.equals(RELEASE_SCHEMA)
        assert table.to_pylist() == rows
    assert list(to_release(chain_item())) == RELEASE_SCHEMA.names


def test_same_items_in_any_order_give_the_same_bytes(tmp_path: Path) -> None:
    release(tmp_path / "one")
    release(tmp_path / "two", factual=reversed(factual_items()), twins=iter(reversed(twin_items())))
    assert snapshot(tmp_path / "one") == snapshot(tmp_path / "two")


@pytest.mark.usefixtures("no_plots")
def test_release_of_the_same_content_is_left_alone(tmp_path: Path) -> None:
    release(tmp_path / "out")
    before = (tmp_path / "out").stat()
    release(tmp_path / "out")
    after = (tmp_path / "out").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert names(tmp_path) == ["out"]


@pytest.mark.usefixtures("no_plots")
def test_release_of_other_content_is_replaced_whole(tmp_path: Path) -> None:
    release(tmp_path / "out")
    manifest = release(tmp_path / "out", twins=[], version="1.0.1")
    files = snapshot(tmp_path / "out")
    assert set(files) == {entry.path for entry in manifest.files} | {"manifest.json", "checksums.sha256"}
    assert not any("counterfactual" in path for path in files)
    assert b"counterfactual" not in files["README.md"].split(b"---")[1]
    assert names(tmp_path) == ["out"]


@pytest.mark.usefixtures("no_plots")
def test_tampered_release_is_written_again(tmp_path: Path) -> None:
    release(tmp_path / "out")
    whole = snapshot(tmp_path / "out")
    (tmp_path / "out/data.jsonl").write_text("{}\n")
    release(tmp_path / "out")
    assert snapshot(tmp_path / "out") == whole


@pytest.mark.usefixtures("no_plots")
def test_without_the_kernel_call_the_folder_is_still_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release(tmp_path / "out")
    monkeypatch.setattr(swap, "_exchange", lambda one, other: False)
    manifest = release(tmp_path / "out", version="2.0.0")
    assert read_manifest(tmp_path / "out") == manifest
    assert names(tmp_path) == ["out"]


@pytest.mark.usefixtures("no_plots")
def test_failure_half_way_leaves_the_old_release(tmp_path: Path) -> None:
    def broken() -> Iterator[Item]:
        yield factual_items()[0]
        raise OSError(28, "No space left on device")

    release(tmp_path / "out")
    before = snapshot(tmp_path / "out")
    with pytest.raises(RunError, match="No space left on device"):
        release(tmp_path / "out", factual=broken())
    assert snapshot(tmp_path / "out") == before
    assert names(tmp_path) == ["out"]


def test_kill_half_way_leaves_no_release_and_does_not_disturb_the_next(tmp_path: Path) -> None:
    script = """
import os, signal, sys
from pathlib import Path
from tests.release.test_dataset import factual_items, release
def dying():
    yield factual_items()[0]
    os.kill(os.getpid(), signal.SIGKILL)
release(Path(sys.argv[1]), factual=dying(), twins=[])
"""
    killed = subprocess.run([sys.executable, "-c", script, str(tmp_path / "out")], check=False)
    assert killed.returncode == -9
    assert not (tmp_path / "out").exists()
    assert names(tmp_path) == [".out.partial"]
    release(tmp_path / "out")
    release(tmp_path / "clean")
    assert snapshot(tmp_path / "out") == snapshot(tmp_path / "clean")
    assert names(tmp_path) == ["clean", "out"]


@pytest.mark.usefixtures("no_plots")
def test_two_writers_of_one_folder_do_not_mix(tmp_path: Path) -> None:
    def intruding() -> Iterator[Item]:
        with pytest.raises(RunError, match="another process"):
            release(tmp_path / "out")
        yield from factual_items()

    assert release(tmp_path / "out", factual=intruding()).items == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "../tiny"}, "release name"),
        ({"version": "one"}, "semantic version"),
        ({"factual": [chain_item(), chain_item()], "twins": []}, "occurs twice"),
        ({"factual": [chain_item().model_copy(update={"variant": "counterfactual"})]}, "stands among"),
        ({"factual": [chain_item().model_copy(update={"twin": "hw-nowhere"})], "twins": []}, "hw-nowhere"),
        ({"factual": [], "twins": twin_items()}, "not among the factual items"),
        ({"twins": [twin_items()[0], twin_items()[0]]}, "two twins"),
        ({"twins": [twin_items()[0].model_copy(update={"twin": None})]}, "does not name"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        release(tmp_path / "out", **changes)
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == []


def test_folder_that_is_no_release_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="other than a release"):
        release(tmp_path / "home")
    assert snapshot(tmp_path / "home") == {"thesis.tex": b"precious"}


def test_file_that_was_added_to_a_release_is_not_lost(tmp_path: Path) -> None:
    release(tmp_path / "out")
    (tmp_path / "out/thesis.tex").write_text("precious")
    before = snapshot(tmp_path / "out")
    with pytest.raises(InputError, match=r"thesis\.tex"):
        release(tmp_path / "out", name="another")
    assert snapshot(tmp_path / "out") == before


def test_read_only_place_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write the release"):
        release(tmp_path / "file" / "out")


@pytest.mark.usefixtures("no_plots")
def test_empty_release_is_still_a_release(tmp_path: Path) -> None:
    manifest = release(tmp_path / "out", factual=[], twins=[], rejections={})
    assert manifest.items == 0
    assert pq.read_table(tmp_path / "out/data/synth").num_rows == 0


def test_plots_are_pictures_of_fair_size(tmp_path: Path) -> None:
    release(tmp_path / "out")
    plots = list((tmp_path / "out/plots").iterdir())
    assert len(plots) == 7
    for plot in plots:
        data = plot.read_bytes()
        width, height = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
        assert data.startswith(b"\x89PNG")
        assert width > 900
        assert height > 200


def figures_of(items: list[Item], twins: list[Item]) -> SetFigures:
    maker = ScorecardMaker()
    for item in items:
        maker.add(CheckedItem(item))
    return SetFigures(
        items=len(items),
        twins=len(twins),
        factual=describe(items),
        counterfactual=describe(twins),
        scorecard=maker.finish(),
        overlap=OverlapReport(),
    )


def card(facts: RunFacts = FACTS, **changes: Any) -> str:
    arguments: dict[str, Any] = {
        "name": "tiny",
        "version": "1.0.0",
        "sets": {"synth": figures_of(factual_items(), twin_items())},
        "facts": facts,
        "rejections": REJECTIONS,
        "plots": ("topologies.png",),
    } | changes
    return render_card(**arguments)


@pytest.mark.usefixtures("no_plots")
def test_front_matter_is_yaml_that_names_files_that_exist(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    release(tmp_path / "out", name="no")  # a YAML boolean, were it not quoted
    _, front, _ = (tmp_path / "out/README.md").read_text("utf-8").split("---\n", 2)
    fields = yaml.safe_load(front)
    assert fields["pretty_name"] == "no"
    assert fields["license"] == "cc-by-4.0"
    assert fields["size_categories"] == ["n<1K"]
    assert [config["config_name"] for config in fields["configs"]] == ["synth", "synth_counterfactual"]
    for config in fields["configs"]:
        assert (tmp_path / "out" / config["data_files"][0]["path"]).is_file()


@pytest.mark.parametrize(
    "change",
    [
        {"generator": "model", "model": "some model 3"},
        {"seed": 8},
        {"versions": {"hopwright": "0.2.0"}},
        {"corpus": "another graph"},
        {"corpus_share": "half of it"},
        {"sources": (Source(name="Elsewhere", licence="ODbL"),)},
        {"licence": "cc0-1.0"},
        {"anchors": 4},
        {"stages": (StageCounts(stage="synthesize", entered=11, left=3, rejected=8),)},
        {"voters": ()},
        {"drop_at": 3},
        {"back_translation": "apertium", "back_translation_skipped": ""},
        {"back_translation_skipped": "no time"},
        {"review": ReviewFacts(annotators=3, reviews=777, outcomes={"accepted": 5})},
        {"prompts": {"write-item version 9": 3}},
        {"splits": {"test": 0.125}},
        {"not_run": {"review": "no server"}},
    ],
)
def test_every_fact_of_the_run_shows_on_the_card(change: dict[str, Any]) -> None:
    changed = FACTS.model_copy(update=change)
    assert card(changed) != card()
    for value in change.values():
        if isinstance(value, str) and value:
            assert value.lower().replace("-", " ") in card(changed).lower().replace("-", " ")


def test_every_figure_shows_on_the_card() -> None:
    sets = figures_of(factual_items(), twin_items())
    figures = sets.factual
    for change in (
        {"items": 987_654},
        {"distinct_answers": 4321},
        {"own_ids": 2345},
        {"failed_checks": 17},
        {"letters_p": 0.123},
        {"letters": {"A": 777, "B": 0, "C": 0, "D": 0}},
        {"largest_answer": figures.largest_answer.model_copy(update={"count": 555})},
    ):
        changed = sets.model_copy(update={"factual": figures.model_copy(update=change)})
        assert card(sets={"synth": changed}) != card()
    assert card(rejections={"synthesize": {"leakage": 99}}) != card()


def render_again(folder: Path, manifest: ReleaseManifest) -> str:
    """The card from the manifest and the first row alone."""
    text = (folder / "README.md").read_text("utf-8")
    return render_card(
        name=manifest.name,
        version=manifest.version,
        sets=manifest.sets,
        facts=manifest.facts,
        rejections=manifest.rejections,
        plots=re.findall(r"\(plots/(.+?)\)", text),
        example=from_release(json.loads((folder / "data.jsonl").read_text("utf-8").splitlines()[0])),
        changes=manifest.changes,
        anchors=(folder / "anchors.tsv").is_file(),
    )


def test_refused_rewordings_are_counted_apart_from_failed_checks(tmp_path: Path) -> None:
    refused = CheckResult(name="back_translation", outcome="fail", reason="a mask was lost")
    skipped = refused.model_copy(update={"outcome": "skip"})
    for results, said in (((refused, refused, skipped), True), ((skipped,), False)):
        made = zip(twin_items(), results, strict=False)
        release(tmp_path / str(said), twins=[one.model_copy(update={"checks": (*one.checks, it)}) for one, it in made])
        text = (tmp_path / str(said) / "README.md").read_text()
        assert "0 failed" in text
        assert ("`back_translation` refused" in text) == said


def test_the_card_names_every_field(tmp_path: Path) -> None:
    release(tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    for name in (*ITEM_FIELDS, *HOP_FIELDS):
        assert any(f"`{name}`" in row for row in rows), name


def test_the_card_is_made_of_the_manifest_and_changes_with_it(tmp_path: Path) -> None:
    chain, *rest = factual_items()
    others = {"bench": ItemSet([chain])}
    release(tmp_path / "out", factual=rest, twins=[], others=others, rule="paths")
    written = json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))
    manifest = ReleaseManifest.model_validate(written)
    card = (tmp_path / "out/README.md").read_text("utf-8")
    assert render_again(tmp_path / "out", manifest) == card
    for path, figure in (
        (("sets", "synth", "separation", "considered"), 98_765),
        (("sets", "synth", "separation", "sharing", "fact"), 43_210),
        (("sets", "bench", "items"), 76_543),
        (("sets", "bench", "factual", "distinct_answers"), 54_321),
        (("facts", "anchors"), 87_654),
        (("rejections", "synthesize", "leakage"), 65_432),
    ):
        changed = json.loads(json.dumps(written))
        place = changed
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = figure
        again = render_again(tmp_path / "out", ReleaseManifest.model_validate(changed))
        assert f"{figure:,}" in again
        assert f"{figure:,}" not in card


def test_card_says_plainly_what_made_the_items_and_what_was_skipped() -> None:
    text = card()
    assert "not by a language model" in text
    assert "skipped (apertium is not installed)" in text
    assert "No expert has accepted these items" in text
    assert "There is no set bench" in text
    assert "not by a language model" not in card(FACTS.model_copy(update={"generator": "model", "model": "m"}))
    assert "No expert" not in card(sets={"bench": figures_of(factual_items(), [])})


@pytest.mark.usefixtures("no_plots")
def test_questions_that_only_look_like_musiques_are_called_what_they_are(tmp_path: Path) -> None:
    own = tmp_path / "anchors.jsonl"
    row = {"id": "2hop__1_2", "question": "Who was there?", "paragraphs": [{"idx": 0}], "question_decomposition": []}
    own.write_text(json.dumps(row) + "\n")
    for folder, names, told in (
        ("one", {}, "MuSiQue (`anchors"),
        ("two", {own: "our own questions"}, "our own questions"),
    ):
        release(tmp_path / folder, against=[own], names=names)
        text = (tmp_path / folder / "README.md").read_text("utf-8")
        assert f"synth, compared with {told}" in text
        assert ("was not compared with MuSiQue" in text) == bool(names)


def test_text_of_the_data_is_no_markup_on_the_card() -> None:
    planted = chain_item().model_copy(update={"question": "<script>x</script> | [a](b)\n# head"})
    text = card(example=planted)
    assert r"\<script\>x\</script\> \| \[a\](b) \# head" in text
    assert "<script>" not in text


def test_votes_of_models_are_in_the_card_with_their_plot(tmp_path: Path) -> None:
    builder = ReportBuilder(["tiny"])
    votes = (Vote(model="tiny", option="A", probabilities=(0.7, 0.1, 0.1, 0.1), right=False),)
    builder.add_items([item.model_copy(update={"votes": votes}) for item in all_items()])
    facts = FACTS.model_copy(update={"voters": ("tiny",), "voters_kind": "models", "difficulty": builder.make()})
    manifest = release(tmp_path / "r", facts=facts)
    card = (tmp_path / "r" / "README.md").read_text()
    assert "1 models voted (tiny" in card
    assert "## How difficult the items are" in card
    assert "### Calibration" in card
    assert "plots/calibration.png" in card
    assert (tmp_path / "r" / "plots" / "calibration.png").exists()
    assert manifest.facts.difficulty == facts.difficulty
    assert "How difficult" not in (release(tmp_path / "s"), (tmp_path / "s" / "README.md").read_text())[1]

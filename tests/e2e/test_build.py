"""The whole line without a server, as `make run` runs it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hopwright.records.arrow import read_items, read_rejected
from tests.e2e.conftest import QUICK, SMALL, Home

pytestmark = [pytest.mark.e2e]


def test_the_summary_has_the_figures_and_they_are_sound(built: tuple[Home, dict[str, Any]]) -> None:
    home, summary = built
    assert summary["accepted"] > 15  # of 150 slots some half become drafts, and of these some repeat an answer
    assert set(summary["topologies"]) == {"Chain", "Converging", "Bridge"}
    assert summary["items_with_computation"] == summary["accepted"]
    assert min(int(number) for number in summary["domains_per_item"]) >= 2
    assert summary["failed_checks"] == 0
    assert summary["letters_p"] > 0.001
    assert summary["audit"]["violations"] == 0
    assert summary["audit"]["items"] == summary["accepted"] + summary["twins"]
    assert summary["twins"] > 0.6 * summary["accepted"]
    assert summary["back_translation"] or summary["back_translation_skipped"]
    assert summary["review_items"] == min(30, summary["accepted"]) < summary["review_tasks"]
    assert Path(summary["release"]).is_dir()
    assert Path(summary["folder"]) == home.path / "runs" / "sample"


def test_counts_add_up_in_every_stage_and_between_them(built: tuple[Home, dict[str, Any]]) -> None:
    counts = built[1]["counts"]
    for stage, one in counts.items():
        assert one["in"] == one["out"] + sum(one["rejected"].values()), stage
    assert counts["synthesize/drafts"]["in"] == 150
    assert counts["synthesize"]["in"] == counts["synthesize/drafts"]["out"]
    assert counts["filter"]["in"] == counts["synthesize"]["out"]
    assert counts["rewrite"]["in"] == counts["filter"]["out"] == built[1]["accepted"]
    assert counts["release"]["out"] == counts["filter"]["out"] + counts["rewrite"]["out"]


def test_every_row_is_somewhere_with_its_reason(built: tuple[Home, dict[str, Any]]) -> None:
    root = built[0].path / "runs" / "sample"
    for stage, counts in built[1]["counts"].items():
        if stage in ("retrieve", "review", "release"):
            continue
        parts = sorted((root / stage).glob("part-*.parquet"))
        rejected = [row for part in parts for row in read_rejected(part.parent / "rejected" / part.name)]
        assert sum(len(read_items(part)) for part in parts) == counts["out"]
        assert len(rejected) == sum(counts["rejected"].values())
        assert all(row.key and row.check and row.reason for row in rejected)


def test_the_release_passes_its_own_audit_and_a_planted_fault_does_not(
    built: tuple[Home, dict[str, Any]], tmp_path: Path
) -> None:
    home, summary = built
    data = Path(summary["release"]) / "data.jsonl"
    (store,) = (home.path / "stores").iterdir()
    assert home.json("audit", str(data), "--graph", str(store))["violations"] == []
    rows = [json.loads(line) for line in data.read_text("utf-8").splitlines()]
    rows[0]["multi_hop_question"] += f" ({rows[0]['multi_hop_answer']})"
    faulty = tmp_path / "data.jsonl"
    faulty.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    done = home.call("audit", str(faulty), "--json")
    assert done.returncode == 1
    assert {one["line"] for one in json.loads(done.stdout)["violations"]} == {1}


def test_the_same_command_again_changes_nothing(built: tuple[Home, dict[str, Any]]) -> None:
    home, summary = built
    stamps = {path: path.stat().st_mtime_ns for path in home.path.rglob("*.parquet")}
    done = home.call("build", *SMALL, "--json")
    assert done.stderr.splitlines() == [
        "run 'sample' is complete, and all that it rests on is unchanged: nothing to do"
    ]  # not even Prefect was started
    again = json.loads(done.stdout)
    assert {path: path.stat().st_mtime_ns for path in home.path.rglob("*.parquet")} == stamps
    assert {**again, "seconds": 0} == {**summary, "seconds": 0}


def test_a_lost_part_is_made_again_whatever_the_record_says(built: tuple[Home, dict[str, Any]], tmp_path: Path) -> None:
    shutil.copytree(built[0].path, tmp_path / "home")
    home = Home(tmp_path / "home", module=QUICK)
    lost = home.path / "runs" / "sample" / "rewrite" / "part-00000.parquet"
    data = lost.read_bytes()
    lost.unlink()
    home.json("build", *SMALL)
    assert lost.read_bytes() == data
    assert "nothing to do" in home.call("build", *SMALL).stderr


def test_other_parameters_are_refused_in_one_line(built: tuple[Home, dict[str, Any]]) -> None:
    before = built[0].files()
    done = built[0].call("build", *SMALL, "--seed", "1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith(
        "hopwright: run 'sample' was made with other parameters (--seed 0 → 1)"
    )
    assert len(done.stderr.splitlines()) == 1, "it is refused before Prefect starts"
    assert built[0].files() == before


def test_a_stage_run_over_redoes_what_rests_on_it(built: tuple[Home, dict[str, Any]], tmp_path: Path) -> None:
    shutil.copytree(built[0].path, tmp_path / "home")
    home = Home(tmp_path / "home", module=QUICK)
    refused = home.call("filter", "--max-right", "0")
    assert refused.returncode == 1
    assert "--max-right 1 → 0" in refused.stderr
    stricter = home.json("filter", "--max-right", "0", "--fresh")
    assert stricter["counts"]["out"] < built[1]["counts"]["filter"]["out"]
    assert not (home.path / "runs" / "sample" / "release").exists()
    unready = home.call("release")
    assert unready.returncode == 1
    assert "no finished stage rewrite" in unready.stderr
    assert "`hopwright rewrite --run sample`" in unready.stderr
    assert read_summary(home) == {}
    home.json("rewrite")
    home.json("release")
    assert read_summary(home)["accepted"] == stricter["counts"]["out"]
    assert read_summary(home)["review_items"] == 0
    home.json("review", "export")
    assert read_summary(home)["review_items"] > 0
    assert home.json("build", *SMALL, "--max-right", "0")["accepted"] == stricter["counts"]["out"]


def test_a_corpus_that_is_cut_short_is_one_line(tmp_path: Path) -> None:
    from hopwright.settings import sample_folder

    corpus = tmp_path / "corpus"
    shutil.copytree(sample_folder(), corpus)
    triplets = corpus / "wikidata5m_all_triplet.txt.gz"
    triplets.write_bytes(triplets.read_bytes()[:100_000])
    home = Home(tmp_path / "home", module=QUICK)
    done = home.call("build", "--corpus", str(corpus))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("hopwright: ")
    assert "Traceback" not in done.stderr
    assert not list((home.path / "stores").glob("*/*.store"))


def read_summary(home: Home) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((home.path / "runs" / "sample" / "manifest.json").read_text())
    return dict(manifest["summary"])

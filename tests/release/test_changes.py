from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hopwright.errors import InputError
from hopwright.records import CheckResult, Item
from hopwright.release.changes import Withdrawal, choose_version, raise_version
from hopwright.release.dataset import PreviousRelease, ReleaseManifest
from hopwright.release.separation import ItemSet
from tests.release.test_dataset import factual_items, release, snapshot, twin_items

pytestmark = pytest.mark.usefixtures("no_plots")


def copy(item: Item, **changes: Any) -> Item:
    return item.model_copy(update=changes)


def renew(tmp_path: Path, **changes: Any) -> ReleaseManifest:
    """A second release on top of a first one of three items and two twins."""
    release(tmp_path / "one", version="")
    return release(tmp_path / "two", version="", history=PreviousRelease(tmp_path / "one"), **changes)


def test_the_first_release_is_1_0_0_and_says_so(tmp_path: Path) -> None:
    manifest = release(tmp_path / "one", version="")
    assert (manifest.version, manifest.changes) == ("1.0.0", None)
    text = (tmp_path / "one/CHANGELOG.md").read_text("utf-8")
    assert "changes.json" not in text and not (tmp_path / "one/changes.json").exists()
    assert "## 1.0.0\n\n3 items: 3 in synth.\nThe first release.\n" in text
    assert not (tmp_path / "one/changes.json").exists()


def test_same_rows_keep_the_version_and_the_history(tmp_path: Path) -> None:
    manifest = renew(tmp_path)
    assert manifest.changes is not None
    assert (manifest.version, manifest.changes.bump, manifest.changes.unchanged) == ("1.0.0", "none", 5)
    assert (tmp_path / "two/CHANGELOG.md").read_bytes() == (tmp_path / "one/CHANGELOG.md").read_bytes()


def test_added_items_raise_the_second_figure(tmp_path: Path) -> None:
    more = [*factual_items(), copy(factual_items()[0], id="hw-new")]
    manifest = renew(tmp_path, factual=more)
    assert manifest.version == "1.1.0"
    assert manifest.changes is not None
    assert manifest.changes.added == {"synth": ("hw-new",)}
    text = (tmp_path / "two/CHANGELOG.md").read_text("utf-8")
    assert text.index("## 1.1.0") < text.index("## 1.0.0")
    assert "Against 1.0.0: 1 added." in text


def test_what_is_only_told_about_an_item_raises_the_last_figure(tmp_path: Path) -> None:
    items = factual_items()
    items[1] = copy(items[1], checks=(CheckResult(name="new", outcome="pass"),))
    manifest = renew(tmp_path, factual=items)
    assert manifest.version == "1.0.1"
    assert manifest.changes is not None
    assert [(one.id, one.fields) for one in manifest.changes.changed] == [(items[1].id, ("checks",))]
    card = (tmp_path / "two/README.md").read_text("utf-8")
    assert "## What changed since 1.0.0" in card
    assert "- Changed: 1, in `checks` 1." in card


def test_what_is_asked_raises_the_first_figure(tmp_path: Path) -> None:
    items = factual_items()
    hops = list(items[2].hops)
    hops[1] = hops[1].model_copy(update={"answer": "somewhere else"})
    items[2] = copy(items[2], hops=tuple(hops))
    manifest = renew(tmp_path, factual=items)
    assert manifest.version == "2.0.0"
    assert manifest.changes is not None
    assert manifest.changes.changed[0].fields == ("single_hop[2].answer",)
    assert json.loads((tmp_path / "two/changes.json").read_text("utf-8"))["bump"] == "major"


def test_a_withdrawn_item_says_why(tmp_path: Path) -> None:
    release(tmp_path / "one", version="")
    gone, twin = factual_items()[2], factual_items()[1]
    manifest = release(
        tmp_path / "two",
        version="",
        factual=factual_items()[:2],
        twins=twin_items()[:1],
        history=PreviousRelease(
            tmp_path / "one", {gone.id: Withdrawal("too_easy (filter)", "3 of 4 voters were right: by name")}
        ),
    )
    assert manifest.version == "2.0.0"
    assert manifest.changes is not None
    assert {one.id: one.reason for one in manifest.changes.withdrawn} == {
        gone.id: "too_easy (filter): 3 of 4 voters were right: by name",
        twin.id + "c": "this run did not make it",
    }
    assert manifest.changes.count_reasons() == {"this run did not make it": 1, "too_easy (filter)": 1}
    assert "because: this run did not make it 1, too easy (filter) 1." in (tmp_path / "two/README.md").read_text(
        "utf-8"
    )


def test_an_item_that_moves_to_the_bench_is_no_new_one(tmp_path: Path) -> None:
    first, *rest = factual_items()
    manifest = renew(tmp_path, factual=rest, twins=[], others={"bench": ItemSet([first])}, rule="paths")
    assert manifest.changes is not None
    assert [(one.id, one.before, one.now) for one in manifest.changes.moved] == [(first.id, "synth", "bench")]
    assert not manifest.changes.added
    assert manifest.version == "2.0.0"


def test_items_that_were_tested_on_do_not_slip_into_training_unsaid(tmp_path: Path) -> None:
    first, *rest = factual_items()
    release(tmp_path / "one", version="", factual=rest, twins=[], others={"bench": ItemSet([first])}, rule="paths")
    release(tmp_path / "two", version="", twins=[], history=PreviousRelease(tmp_path / "one"))
    told = "**1 of them were tested on before, and are now in synth**"
    assert told in (tmp_path / "two/README.md").read_text("utf-8")
    assert "1 of the moved were tested on before" in (tmp_path / "two/CHANGELOG.md").read_text("utf-8")


def test_equal_releases_on_the_same_history_have_equal_bytes(tmp_path: Path) -> None:
    more = [*factual_items(), copy(factual_items()[0], id="hw-new")]
    renew(tmp_path, factual=more)
    release(tmp_path / "again", version="", factual=reversed(more), history=PreviousRelease(tmp_path / "one"))
    assert snapshot(tmp_path / "two") == snapshot(tmp_path / "again")


def test_a_version_that_says_less_than_the_changes_is_refused(tmp_path: Path) -> None:
    release(tmp_path / "one", version="1.2.3")
    history = PreviousRelease(tmp_path / "one")
    with pytest.raises(InputError, match=r"says less than what changed since 1\.2\.3 .*asks for 2\.0\.0"):
        release(tmp_path / "two", version="1.3.0", factual=factual_items()[:2], history=history)
    assert not (tmp_path / "two").exists()
    assert release(tmp_path / "two", version="3.0.0", factual=factual_items()[:2], history=history).version == "3.0.0"


def test_the_release_before_is_not_written_over(tmp_path: Path) -> None:
    release(tmp_path / "one")
    with pytest.raises(InputError, match="copy it elsewhere"):
        release(tmp_path / "one", history=PreviousRelease(tmp_path / "one"))
    with pytest.raises(InputError, match="not a release"):
        release(tmp_path / "two", history=PreviousRelease(tmp_path / "nowhere"))


def test_versions() -> None:
    assert [raise_version("1.2.3", bump) for bump in ("none", "patch", "minor", "major")] == [
        "1.2.3", "1.2.4", "1.3.0", "2.0.0",
    ]  # fmt: skip
    assert raise_version("0.4.1", "major") == "0.5.0"
    assert choose_version("", None) == "1.0.0"
    with pytest.raises(InputError, match="semantic version"):
        choose_version("one", None)

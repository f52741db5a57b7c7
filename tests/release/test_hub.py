from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import huggingface_hub.constants
import pytest

from hopwright.errors import InputError, ServiceError
from hopwright.release.dataset import PreviousRelease
from hopwright.release.hub import plan_upload, publish_release
from tests.release.hub_server import TOKEN, Repository, serve_hub
from tests.release.test_dataset import factual_items, release, snapshot

REPO = "somebody/four-hops"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Repository]]:
    """A Hub that takes large files by LFS; the Xet protocol is spoken by a compiled library."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    with serve_hub(REPO) as served:
        yield served


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "one"
    release(folder, version="1.0.0", twins=[])
    return folder


def test_a_release_is_one_commit_with_every_byte_and_a_tag(first: Path, hub: tuple[str, Repository]) -> None:
    url, held = hub
    address = publish_release(plan_upload(first, REPO), TOKEN, endpoint=url)
    assert held.files == snapshot(first)
    assert held.commits == ["tiny 1.0.0"]
    assert address.startswith(f"{url}/datasets/{REPO}/commit/")
    assert list(held.tags) == ["v1.0.0"]
    assert held.visibility == "public"
    assert any(path.endswith(".parquet") for path in held.files)
    assert len(held.objects) == sum(path.endswith((".parquet", ".png")) for path in held.files)


def test_the_next_version_replaces_what_is_gone(first: Path, hub: tuple[str, Repository], tmp_path: Path) -> None:
    url, held = hub
    publish_release(plan_upload(first, REPO), TOKEN, endpoint=url)
    held.files["left-over.txt"], held.files[".gitattributes"] = b"x", b"y"
    release(tmp_path / "two", version="", factual=factual_items()[:2], twins=[], history=PreviousRelease(first))
    publish_release(plan_upload(tmp_path / "two", REPO), TOKEN, endpoint=url)
    assert {name: data for name, data in held.files.items() if name != ".gitattributes"} == snapshot(tmp_path / "two")
    assert held.files[".gitattributes"] == b"y"
    assert list(held.tags) == ["v1.0.0", "v2.0.0"]


def test_a_version_that_is_there_is_not_written_over(first: Path, hub: tuple[str, Repository]) -> None:
    url, held = hub
    publish_release(plan_upload(first, REPO), TOKEN, endpoint=url)
    with pytest.raises(InputError, match=r"has a version 1\.0\.0 already"):
        publish_release(plan_upload(first, REPO), TOKEN, endpoint=url)
    assert held.commits == ["tiny 1.0.0"]


def test_an_upload_that_failed_goes_on_without_sending_twice(first: Path, hub: tuple[str, Repository]) -> None:
    url, held = hub
    held.fail_commit = 1
    with pytest.raises(ServiceError, match=r"500 .*not now"):
        publish_release(plan_upload(first, REPO), TOKEN, endpoint=url)
    assert not held.tags
    sent = [call for call in held.calls if call.startswith("PUT")]
    publish_release(plan_upload(first, REPO), TOKEN, endpoint=url)
    assert held.files == snapshot(first)
    assert [call for call in held.calls if call.startswith("PUT")] == sent


def test_a_tag_that_failed_is_set_by_the_next_try(first: Path, hub: tuple[str, Repository]) -> None:
    url, held = hub
    held.fail_tag = 1
    with pytest.raises(ServiceError, match=r"500 .*not now"):
        publish_release(plan_upload(first, REPO), TOKEN, endpoint=url)
    publish_release(plan_upload(first, REPO), TOKEN, endpoint=url)
    assert (held.commits, list(held.tags)) == (["tiny 1.0.0"], ["v1.0.0"])
    assert held.files == snapshot(first)


def test_what_the_hub_refuses_is_one_line(first: Path, hub: tuple[str, Repository]) -> None:
    with pytest.raises(ServiceError, match=r"401 .*is HF_TOKEN right") as caught:
        publish_release(plan_upload(first, REPO), "hf_wrong", endpoint=hub[0])
    assert "\n" not in str(caught.value)
    assert "hf_wrong" not in str(caught.value)


def test_a_hub_that_is_not_there_is_one_line(first: Path) -> None:
    with pytest.raises(ServiceError, match="cannot be reached") as caught:
        publish_release(plan_upload(first, REPO), TOKEN, endpoint="http://127.0.0.1:9")
    assert "\n" not in str(caught.value)


def test_what_is_not_as_it_was_written_is_refused(tmp_path: Path) -> None:
    release(tmp_path / "out", twins=[])
    assert plan_upload(tmp_path / "out", REPO).refusals == ()
    (tmp_path / "out/notes.txt").write_text("draft")
    (tmp_path / "out/SCORECARD.md").unlink()
    with (tmp_path / "out/README.md").open("a") as card:
        card.write("The best dataset of all.\n")
    plan = plan_upload(tmp_path / "out", REPO)
    assert plan.refusals == (
        "SCORECARD.md: missing",
        "notes.txt: not part of the release",
        "README.md: changed since the release was written",
    )
    with pytest.raises(InputError, match="not fit to be published: SCORECARD"):
        publish_release(plan, TOKEN, endpoint="http://127.0.0.1:9")


def test_a_release_with_a_wrong_item_is_refused(tmp_path: Path) -> None:
    items = factual_items()
    items[0] = items[0].model_copy(update={"answer": "Atlantis"})
    release(tmp_path / "out", factual=items, twins=[])
    [refusal] = plan_upload(tmp_path / "out", REPO).refusals
    assert refusal.startswith("data.jsonl: ")
    assert "violations, such as" in refusal


def test_a_repository_needs_an_owner(first: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give owner/name"):
        plan_upload(first, "four-hops")
    with pytest.raises(InputError, match="not a release"):
        plan_upload(tmp_path, REPO)

"""Whole folders at a place that the user names: what lies there already is not lost."""

from pathlib import Path

import pytest

from hopwright.errors import InputError
from hopwright.release.own_folder import CHECKSUMS, refuse_foreign, write_own_folder

COMMAND = "hopwright images questions"
ADDED = ["notes", "below", "hidden", "link", "empty folder"]


def write(folder: Path, text: str = "one", *, command: str = COMMAND, replace: bool = False) -> None:
    with write_own_folder(folder, command, replace=replace) as aside:
        (aside / "data").mkdir()
        (aside / "data" / "items.jsonl").write_text(text)


def test_writes_where_nothing_is_and_lists_the_files(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("new", "below/new", "empty"):
        write(tmp_path / name)
        lines = (tmp_path / name / CHECKSUMS).read_text().splitlines()
        assert lines[0] == f"# {COMMAND}"
        assert [line.split("  ")[1] for line in lines[1:]] == ["data/items.jsonl"]


def test_replaces_what_it_wrote_when_asked(tmp_path: Path) -> None:
    write(tmp_path / "set")
    with pytest.raises(InputError, match="--replace replaces it"):
        write(tmp_path / "set", "two")
    write(tmp_path / "set", "two", replace=True)
    assert (tmp_path / "set" / "data" / "items.jsonl").read_text() == "two"


def test_bytecode_of_exported_code_is_no_foreign_file(tmp_path: Path) -> None:
    write(tmp_path / "set")
    (tmp_path / "set" / "data" / "__pycache__").mkdir()
    (tmp_path / "set" / "data" / "__pycache__" / "utils.cpython-311.pyc").write_bytes(b"x")
    refuse_foreign(tmp_path / "set", COMMAND, replace=True)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("fault", [*ADDED, "edited", "gone", "sums", "other"])
def test_never_loses_what_is_not_its_own(tmp_path: Path, fault: str, replace: bool) -> None:
    folder = tmp_path / "set"
    write(folder, command="hopwright novels ask" if fault == "other" else COMMAND)
    match fault:
        case "notes":
            (folder / "notes.txt").write_text("precious")
        case "below":
            (folder / "data" / "notes.txt").write_text("precious")
        case "hidden":
            (folder / ".notes").write_text("precious")
        case "link":
            (folder / "linked").symlink_to(tmp_path)
        case "empty folder":
            (folder / "kept").mkdir()
        case "edited":
            (folder / "data" / "items.jsonl").write_text("edited")
        case "gone":
            (folder / "data" / "items.jsonl").unlink()
        case "sums":
            (folder / CHECKSUMS).write_text("not a list")
    before = read_tree(folder)
    with pytest.raises(InputError, match=r"new folder$"):
        write(folder, replace=replace)
    assert read_tree(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["set"]


def test_refuses_places_that_cannot_be_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("file", "link"):
        with pytest.raises(InputError, match="is not a folder"):
            write(tmp_path / name)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(InputError, match="name a folder below it"):
        write(Path())


def test_what_came_while_it_was_written_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    with pytest.raises(InputError, match=r"notes\.txt"), write_own_folder(folder, COMMAND, replace=True) as aside:
        (aside / "items.jsonl").write_text("x")
        folder.mkdir()
        (folder / "notes.txt").write_text("precious")
    assert (folder / "notes.txt").read_text() == "precious"


def read_tree(folder: Path) -> dict[str, str | None]:
    return {str(path): path.read_text() if path.is_file() else None for path in sorted(folder.rglob("*"))}

"""Folders that a command writes whole, at a place that the user names: what lies there already is never lost by it.

A folder that was written this way lists its files with their hashes in checksums.sha256, below the command that wrote
it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from hopwright.errors import InputError
from hopwright.foreign import read_file, show
from hopwright.release.folder_swap import open_staging_folder, replace_folder
from hopwright.runs.files import explain_os_errors, hash_file, write_file

CHECKSUMS = "checksums.sha256"
_REMADE = "__pycache__"
"""What Python writes beside a module that it runs; nobody misses it."""


def refuse_foreign(folder: Path, command: str, *, replace: bool) -> None:
    """Raises InputError unless `command` may write a whole folder here.

    It may where nothing is, or an empty folder. With `replace` it may also put its folder in the place of an earlier
    one of the same command in which nothing was added, edited or removed since. Call it before the work: it costs no
    more than hashing what is there.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder} is not a folder: give another one")
    if os.path.ismount(folder) or folder.resolve() in (Path.cwd(), *Path.cwd().parents):
        raise InputError(f"{folder} is in use as a folder and cannot be put in place whole: name a folder below it")
    with explain_os_errors(folder):
        if not folder.is_dir() or not any(folder.iterdir()):
            return
    wrote, sums = _read_sums(folder)
    if added := find_unlisted(folder):
        raise InputError(
            f"{folder} holds files that Hopwright did not write there ({show(added[0])}): give an empty or a new folder"
        )
    if wrote != command:
        raise InputError(f"{folder} holds what {wrote or 'another command'} wrote: give an empty or a new folder")
    if not replace:
        raise InputError(f"{folder} holds what {wrote} wrote earlier: --replace replaces it, or give a new folder")
    for name, digest in sums.items():
        if not (folder / name).is_file() or hash_file(folder / name) != digest:
            raise InputError(f"{folder / name} was changed since {wrote} wrote it: give an empty or a new folder")


def name_writer(command: str, form: str) -> str:
    """How the command that writes the folder of one form is called."""
    return f"{command} --form {form}"


def refuse_foreign_forms(target: Path, forms: Iterable[str], command: str) -> None:
    """Raises InputError where `target` cannot take a folder for each form; earlier ones of the form are replaced."""
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is not a folder: give another one")
    for form in forms:
        refuse_foreign(target / form, name_writer(command, form), replace=True)


@contextlib.contextmanager
def write_own_folder(folder: Path, command: str, *, replace: bool) -> Iterator[Path]:
    """A folder to write into, which becomes `folder`, with its checksums, when the block ends without an error.

    Raises InputError as `refuse_foreign` does, at the beginning and again before anything is replaced; RunError when
    another process writes the folder.
    """
    refuse_foreign(folder, command, replace=replace)
    with explain_os_errors(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    with open_staging_folder(folder) as aside:
        yield aside
        lines = [f"{hash_file(aside / name)}  {name}\n" for name in _list_files(aside)]
        write_file(aside / CHECKSUMS, "".join([f"# {command}\n", *lines]).encode())
        refuse_foreign(folder, command, replace=replace)
        with explain_os_errors(folder):
            replace_folder(aside, folder)


def find_unlisted(folder: Path) -> list[str]:
    """Names of what lies below a folder and is not listed by its checksums; all where it has none."""
    listed = _read_sums(folder)[1]
    return [name for name in _list_files(folder) if name not in listed and (name != CHECKSUMS or not listed)]


def _parse_sums(text: str) -> dict[str, str]:
    """Name → SHA-256 of the lines of a file of checksums; other lines are left out."""
    pairs = (line.split("  ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {pair[1]: pair[0] for pair in pairs if len(pair) == 2 and _is_below(pair[1])}


def _read_sums(folder: Path) -> tuple[str, dict[str, str]]:
    """The command that wrote a folder, and its checksums; empty where it has none that can be read."""
    try:
        text = read_file(folder / CHECKSUMS).decode()
    except (OSError, InputError, UnicodeDecodeError):
        return "", {}
    first = text.partition("\n")[0]
    return (first[2:] if first.startswith("# ") else ""), _parse_sums(text)


def _is_below(name: str) -> bool:
    return not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts


def _list_files(folder: Path) -> list[str]:
    """Everything below a folder that is no folder, and the empty ones; links are not followed."""
    found = []
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != _REMADE or Path(root, name).is_symlink()]
        linked = [name for name in folders if Path(root, name).is_symlink()]
        empty = [] if folders or names or Path(root) == folder else ["."]
        found += [Path(root, name).relative_to(folder).as_posix() for name in (*names, *linked, *empty)]
    return sorted(found)

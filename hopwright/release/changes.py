"""What a release changes against the one before it, and the version that this asks for.

major  an item was withdrawn or moved to another set, or what is asked or counts as right changed: old results do not
       compare with new ones
minor  items were added
patch  something else about an item changed: its checks, votes, derivations, provenance
none   every row is the same: the version stays
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import semver

from hopwright.errors import InputError
from hopwright.foreign import JsonError, load_json, open_file, read_lines
from hopwright.records.base import Record
from hopwright.release.layout import find_split_files
from hopwright.release.row_limits import LONGEST_ROW

FIRST = "1.0.0"
Bump = Literal["none", "patch", "minor", "major"]

_ASKED = frozenset(
    {"multi_hop_question", "multi_hop_answer", "multiple_choice_options", "correct_answer_label", "answer_aliases"}
)
_ASKED_OF_HOP = frozenset(
    {"question", "answer", "multiple_choice_options", "correct_answer_label", "answer_aliases", "depends_on",
     "evidence.passages"}
)  # fmt: skip
_EMPTY: tuple[object, ...] = (None, "", [], {})


class ChangedItem(Record):
    """An item that is still there, and its fields that differ; a hop's as `single_hop[2].answer`, counted from 1."""

    id: str
    set: str
    fields: tuple[str, ...]


class MovedItem(Record):
    """An item that stands in another set than before."""

    id: str
    before: str
    now: str


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Why an item is gone: a code that is counted, such as `too_easy (filter)`, and what is to be said of this one."""

    code: str
    detail: str = ""

    @property
    def reason(self) -> str:
        """The code and the detail in one line."""
        return f"{self.code}: {self.detail}" if self.detail else self.code


_NOT_MADE = Withdrawal("this run did not make it")


class WithdrawnItem(Record):
    """An item that is no longer there, and why, where the run knows."""

    id: str
    set: str
    code: str = ""
    """As `Withdrawal` has it; empty in files from before there were codes."""
    reason: str


class ReleaseChanges(Record):
    """A release against the one before it. Sets are named as `Place.name` does; ids are sorted."""

    name: str
    """Of the release before."""
    version: str
    bump: Bump
    unchanged: int
    added: dict[str, tuple[str, ...]]
    """Set → ids."""
    changed: tuple[ChangedItem, ...]
    moved: tuple[MovedItem, ...]
    withdrawn: tuple[WithdrawnItem, ...]

    def count_added(self) -> dict[str, int]:
        """Set → items added."""
        return {name: len(ids) for name, ids in self.added.items()}

    def count_fields(self) -> dict[str, int]:
        """Field → items in which it changed, most first; a field of several hops counts once an item."""
        counts = Counter(field for one in self.changed for field in {_strip_place(field) for field in one.fields})
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))

    def count_let_go(self) -> int:
        """Items that the release before tested on, and that this one trains on."""
        return sum(one.before.startswith(("bench", "test")) and one.now.startswith("synth") for one in self.moved)

    def count_reasons(self) -> dict[str, int]:
        """Codes of why items were withdrawn → how many, most first."""
        counts = Counter(one.code for one in self.withdrawn)
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def compare_releases(
    before: Path, now: Path, name: str, version: str, reasons: Mapping[str, Withdrawal] | None = None
) -> ReleaseChanges:
    """Compare the rows of the JSONL files of two release folders.

    `name` and `version` are those of `before`; `reasons` maps ids to why they would be withdrawn. Raises InputError
    for a folder without such files, and for rows that are no JSON objects with an id.
    """
    known = {
        id: _PreviousRow(place.name, before / place.jsonl, start, digest)
        for place in find_split_files(before)
        for id, start, digest in _scan(before / place.jsonl)
    }
    added: dict[str, list[str]] = {}
    changed: list[ChangedItem] = []
    moved: list[MovedItem] = []
    unchanged = 0
    for place in find_split_files(now):
        path = now / place.jsonl
        for id, start, digest in _scan(path):
            old = known.pop(id, None)
            if old is None:
                added.setdefault(place.name, []).append(id)
                continue
            if old.set != place.name:
                moved.append(MovedItem(id=id, before=old.set, now=place.name))
            if old.digest != digest:
                fields = tuple(_name_differences(_read_row(old.path, old.start), _read_row(path, start)))
                changed.append(ChangedItem(id=id, set=place.name, fields=fields))
            unchanged += old.set == place.name and old.digest == digest
    causes = {id: (reasons or {}).get(id, _NOT_MADE) for id in known}
    withdrawn = [
        WithdrawnItem(id=id, set=old.set, code=causes[id].code, reason=causes[id].reason) for id, old in known.items()
    ]
    return ReleaseChanges(
        name=name,
        version=version,
        bump=_find_bump(withdrawn, moved, changed, added),
        unchanged=unchanged,
        added={set: tuple(sorted(ids)) for set, ids in added.items()},
        changed=tuple(sorted(changed, key=_by_id)),
        moved=tuple(sorted(moved, key=_by_id)),
        withdrawn=tuple(sorted(withdrawn, key=_by_id)),
    )


def choose_version(wanted: str, changes: ReleaseChanges | None) -> str:
    """The version of a release: as wanted, else what its changes ask for; the first is 1.0.0.

    Raises InputError for a version that is none, or that says less than the changes do.
    """
    if wanted and not semver.Version.is_valid(wanted):
        raise InputError(f"release version {wanted!r}: use a semantic version such as 1.0.0")
    if changes is None:
        return wanted or FIRST
    least = raise_version(changes.version, changes.bump)
    if not wanted:
        return least
    if semver.Version.parse(wanted).finalize_version() < semver.Version.parse(least).finalize_version():
        raise InputError(
            f"version {wanted} says less than what changed since {changes.version} ({_summarise(changes)}): "
            f"that asks for {least}, or leave the version to Hopwright"
        )
    return wanted


def raise_version(version: str, bump: Bump) -> str:
    """The next version. Below 1.0.0, where anything may change, a major change raises the second figure."""
    parsed = semver.Version.parse(version)
    if bump == "none":
        return version
    if bump == "major" and parsed.major:
        return str(parsed.bump_major())
    return str(parsed.bump_patch() if bump == "patch" else parsed.bump_minor())


def render_changelog(
    name: str, version: str, rows: Mapping[str, int], changes: ReleaseChanges | None, before: str
) -> str:
    """CHANGELOG.md: this release on top of what the one before says (`before`, empty for none).

    `rows`: set → items.
    """
    if changes is not None and changes.bump == "none" and before:
        return before
    listed = " `changes.json` lists every item of the newest." if changes is not None else ""
    head = f"# Changes of {name}\n\nNewest first.{listed}\n"
    held = ", ".join(f"{count:,} in {one}" for one, count in rows.items())
    lines = [f"\n## {version}\n", f"{sum(rows.values()):,} items: {held}."]
    if changes is None:
        lines.append("The first release.")
    else:
        lines.append(f"Against {changes.version}: {_summarise(changes)}.")
        if changes.count_let_go():
            lines.append(f"{changes.count_let_go():,} of the moved were tested on before, and are now in synth.")
        lines += _list_changes(changes)
    _, mark, old = before.partition("\n## ")
    return head + "\n".join(lines) + "\n" + (f"{mark}{old}" if mark else "")


@dataclass(frozen=True, slots=True)
class _PreviousRow:
    """Where a row of the release before lies, and its digest."""

    set: str
    path: Path
    start: int
    digest: bytes


def _scan(path: Path) -> Iterator[tuple[str, int, bytes]]:
    """Id, place and digest of every row."""
    with open_file(path) as file:
        start = 0
        for number, line in read_lines(file, LONGEST_ROW, ends=True):
            row = _parse(path, number, line)
            text = json.dumps(row, sort_keys=True, ensure_ascii=False)
            yield str(row["id"]), start, blake2b(text.encode(), digest_size=16).digest()
            start += len(line or b"")


def _parse(path: Path, number: int, line: bytes | None) -> dict[str, Any]:
    try:
        row = load_json(line) if line is not None else None
    except JsonError:
        row = None
    kept: Any = _drop_empty(row)
    if not isinstance(kept, dict) or not isinstance(kept.get("id"), str):
        raise InputError(f"{path}: line {number} is no item with an id")
    return kept


def _drop_empty(value: Any) -> Any:
    """A value without what is empty in it: versions of the format differ in whether they state that."""
    if isinstance(value, dict):
        return {name: kept for name, one in value.items() if (kept := _drop_empty(one)) not in _EMPTY}
    return [_drop_empty(one) for one in value] if isinstance(value, list) else value


def _read_row(path: Path, start: int) -> dict[str, Any]:
    with open_file(path) as file:
        file.seek(start)
        return _parse(path, 0, file.readline())


def _name_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """The fields in which two rows differ, in the new row's order."""
    for field in dict.fromkeys((*new, *old)):
        if old.get(field) == new.get(field):
            continue
        one, other = old.get(field), new.get(field)
        if field != "single_hop" or not isinstance(one, list) or not isinstance(other, list) or len(one) != len(other):
            yield field
            continue
        for place, (left, right) in enumerate(zip(one, other, strict=True), start=1):
            if not isinstance(left, dict) or not isinstance(right, dict):  # no hop at all, in somebody's own file
                if left != right:
                    yield field
                continue
            for name in dict.fromkeys((*right, *left)):
                if left.get(name) != right.get(name):
                    yield f"single_hop[{place}].{_name_part(name, left, right)}"


def _name_part(name: str, left: Mapping[str, Any], right: Mapping[str, Any]) -> str:
    """Passages are given to a model; the rest of the evidence is not."""
    one, other = left.get(name), right.get(name)
    passages = isinstance(one, dict) and isinstance(other, dict) and one.get("passages") != other.get("passages")
    return "evidence.passages" if name == "evidence" and passages else name


def _is_asked(field: str) -> bool:
    place, dot, name = field.partition("].")
    return name in _ASKED_OF_HOP if dot else place in _ASKED or place == "single_hop"


def _find_bump(
    withdrawn: list[WithdrawnItem], moved: list[MovedItem], changed: list[ChangedItem], added: Mapping[str, list[str]]
) -> Bump:
    if withdrawn or moved or any(_is_asked(field) for one in changed for field in one.fields):
        return "major"
    if added:
        return "minor"
    return "patch" if changed else "none"


def _summarise(changes: ReleaseChanges) -> str:
    parts = [
        (sum(changes.count_added().values()), "added"),
        (len(changes.changed), "changed"),
        (len(changes.moved), "moved to another set"),
        (len(changes.withdrawn), "withdrawn"),
    ]
    return ", ".join(f"{count:,} {what}" for count, what in parts if count) or "nothing changed"


def _list_changes(changes: ReleaseChanges, most: int = 20) -> Iterator[str]:
    """Lines of Markdown; long lists are cut, `changes.json` has them whole."""
    lists = {
        "Added": [f"{set}: {len(ids):,}" for set, ids in changes.added.items()],
        "Changed": [f"`{one.id}` ({one.set}): {', '.join(one.fields)}" for one in changes.changed],
        "Moved": [f"`{one.id}`: from {one.before} to {one.now}" for one in changes.moved],
        "Withdrawn": [f"`{one.id}` ({one.set}): {one.reason}" for one in changes.withdrawn],
    }
    for title, entries in lists.items():
        if entries:
            yield f"\n### {title}\n"
            yield from (f"- {entry}" for entry in entries[:most])
            if len(entries) > most:
                yield f"- … and {len(entries) - most:,} more"


def _strip_place(field: str) -> str:
    place, dot, name = field.partition("].")
    return f"single_hop.{name}" if dot else place


def _by_id(one: ChangedItem | MovedItem | WithdrawnItem) -> str:
    return one.id

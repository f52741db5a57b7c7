"""The release format: the JSONL that Omanic published, with what Hopwright adds in further fields.

The published fields come first and keep their names; ours follow. Every row carries every field, and a
derivation every key (null where it does not apply), so that loaders that infer a schema from the first rows
read the whole file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hopwright.errors import InputError
from hopwright.foreign import JsonError, explain_invalid, load_json, open_file, read_lines, show
from hopwright.records import LABELS, AnswerType, Derivation, Hop, Item, QuestionPart, Rejected
from hopwright.records.base import list_union_fields
from hopwright.records.evidence import EVIDENCE_LISTS, split_entries, tag_lists
from hopwright.records.values import parse
from hopwright.release.row_limits import LONGEST_ROW, find_excess
from hopwright.topologies import TOPOLOGIES, topology

ReleaseRow = dict[str, Any]

# Published name → ours, in the order in which they are written.
_PARQUET = b"PAR1"
"""What a file of Parquet begins with."""
_ITEM_NAMES = {
    "multi_hop_question": "question",
    "multi_hop_answer": "answer",
    "multiple_choice_options": "options",
    "correct_answer_label": "label",
}
_HOP_NAMES = {"multiple_choice_options": "options", "correct_answer_label": "label"}
_PUBLISHED = ("id", "single_hop", *_ITEM_NAMES, "motif_type")
_PUBLISHED_HOP = ("question", "answer", *_HOP_NAMES)
_OURS = (
    "topology", "answer_aliases", "variant", "twin", "world", "anchor", "checks", "votes", "provenance",
    "question_parts", "marked",
)  # fmt: skip
_OURS_HOP = (
    "index", "answer_type", "answer_id", "answer_aliases", "unit", "domain", "domain_reason", "depends_on",
    "derivation",
    "distractors", "evidence", "verify", "question_parts",
)  # fmt: skip
_PLAN = ("index", "answer_type", "domain", "depends_on", "derivation")
_DERIVATION = list_union_fields(Derivation)
_PART = list_union_fields(QuestionPart)
_OWN = {name: name for name in _OURS}
_OWN_HOP = {name: name for name in _OURS_HOP}
ITEM_FIELDS = {"id": "id", "single_hop": "hops"} | _ITEM_NAMES | {"motif_type": "topology"} | _OWN
HOP_FIELDS = {"question": "question", "answer": "answer"} | _HOP_NAMES | _OWN_HOP
"""Field of a row of a release, or of one of its hops → field of the record, in the order in which they are written."""


@dataclass(frozen=True, slots=True)
class FormatProblem:
    """One thing wrong with a row: where (`single_hop[2].answer`), in which hop (None: the item), what."""

    path: str
    hop: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass(frozen=True, slots=True)
class ParsedRow:
    """A row as an item, or what kept it from being one.

    `planned`: the row states derivations, dependencies, types and domains. Without it (the bare published
    format) the item's hops lack `domain` and `derivation` altogether, their dependencies are the motif's, and
    their answer types are read off the answers.
    """

    item: Item | None
    planned: bool
    problems: tuple[FormatProblem, ...] = ()


def to_release(item: Item) -> ReleaseRow:
    """Render an item as one row of a release."""
    fields = item.model_dump(mode="json")
    row: ReleaseRow = {"id": item.id, "single_hop": [_hop_row(hop) for hop in fields["hops"]]}
    row |= {name: fields[ours] for name, ours in _ITEM_NAMES.items()}
    row["motif_type"] = topology(item.topology).motif
    fields["anchor"] = fields["provenance"].pop("anchor")
    fields["question_parts"] = _state_all(fields["question_parts"])
    return row | {name: fields[name] for name in _OURS}


def from_release(row: ReleaseRow) -> Item:
    """Read one of our own rows back, losing nothing.

    Raises InputError naming the first field that is missing or wrong, also for a row in the bare published
    format, which states no plan.
    """
    parsed = parse_row(row)
    if parsed.problems:
        raise InputError(str(parsed.problems[0]))
    if parsed.item is None or not parsed.planned:
        raise InputError("single_hop[0].derivation: missing; a row without a plan can be audited, not read back")
    return parsed.item


def parse_row(row: ReleaseRow) -> ParsedRow:
    """Read any row in the release format, ours or a bare published one; gathers every problem.

    Fields that neither the published format nor ours knows are ignored.
    """
    problems = [FormatProblem(path, None, what) for path, what in find_excess(row)] or list(_find_missing(row))
    if not isinstance(row.get("id", ""), str | int):
        problems.append(FormatProblem("id", None, f"not a text: {show(repr(row['id']), 60)}"))
    if problems:
        return ParsedRow(None, False, tuple(problems))
    hops: list[ReleaseRow] = row["single_hop"]
    planned = any(name in hop for hop in hops for name in ("derivation", "depends_on"))
    name = row["topology"] if isinstance(row.get("topology"), str) else _name_topology(row)
    if name not in TOPOLOGIES:
        path = "topology" if "topology" in row else "motif_type"
        known = ", ".join(dict.fromkeys(one.motif for one in TOPOLOGIES.values()))
        message = f"{row.get(path)!r} with {len(hops)} hops is no known reasoning graph (known motifs: {known})"
        return ParsedRow(None, planned, (FormatProblem(path, None, message),))
    if not planned:
        return ParsedRow(_build_bare(row, name), False, tuple(_find_mistyped(row)))
    problems = [
        FormatProblem(f"single_hop[{position}].{field}", position + 1, "missing, while other hops state a plan")
        for position, hop in enumerate(hops)
        for field in _PLAN
        if field not in hop
    ]
    if TOPOLOGIES[name].motif != row["motif_type"]:
        problems.append(
            FormatProblem(
                "motif_type",
                None,
                f"{row['motif_type']!r}, but topology {name!r} is {TOPOLOGIES[name].motif!r}",
            )
        )
    fields = {ours: row[published] for published, ours in _ITEM_NAMES.items()}
    fields |= _read_provenance(_read_parts({field: row[field] for field in _OURS if field in row}))
    fields |= {"id": row["id"], "topology": name, "hops": [_hop_fields(hop) for hop in hops]}
    try:
        item = Item.model_validate(fields)
    except ValidationError as error:
        found = [
            _describe(detail["loc"], "missing" if detail["type"] == "missing" else explain_invalid(detail))
            for detail in error.errors(include_url=False, include_input=False)
        ]
        paths = {problem.path for problem in problems}
        problems += [problem for problem in found if problem.path not in paths]
        return ParsedRow(None, True, tuple(problems))
    return ParsedRow(item, True, tuple(problems))


def read_jsonl(path: Path) -> Iterator[tuple[int, ReleaseRow | Rejected]]:
    """Yield (line number from 1, row) for every line not blank; one that is no JSON object gives a Rejected.

    Raises InputError only when the file itself cannot be opened or read, or is Parquet.
    """
    try:
        with open_file(path) as file:
            if file.read(len(_PARQUET)) == _PARQUET:
                raise InputError(f"{path} is Parquet: give the release's folder or its JSONL file with the same rows")
            file.seek(0)
            for number, line in read_lines(file, LONGEST_ROW):
                if line is None:
                    reason = f"the line is longer than {LONGEST_ROW >> 20} MiB"
                    yield number, Rejected(key=f"line {number}", check="schema", reason=reason)
                elif text := line.strip():
                    yield number, _read_line(number, text)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def _hop_row(hop: ReleaseRow) -> ReleaseRow:
    row = {field: hop[ours] for field, ours in HOP_FIELDS.items()}
    row["derivation"] = {key: hop["derivation"].get(key) for key in _DERIVATION}
    row["question_parts"] = _state_all(hop["question_parts"])
    return row | {"evidence": split_entries(hop["evidence"])}


def _hop_fields(hop: ReleaseRow) -> ReleaseRow:
    fields = {ours: hop[field] for field, ours in HOP_FIELDS.items() if field in hop}
    if isinstance(derivation := fields.get("derivation"), dict):
        fields["derivation"] = _drop_nulls(derivation)
    if isinstance(evidence := fields.get("evidence"), dict):
        fields["evidence"] = tag_lists(evidence)
    return _read_parts(fields)


def _read_parts(fields: ReleaseRow) -> ReleaseRow:
    if isinstance(parts := fields.get("question_parts"), list):
        fields["question_parts"] = [_drop_nulls(part) if isinstance(part, dict) else part for part in parts]
    return fields


def _read_provenance(fields: ReleaseRow) -> ReleaseRow:
    """Put the anchor, which a release states by itself, where the record has it."""
    anchor = fields.pop("anchor", None)
    if anchor is not None and isinstance(held := fields.get("provenance", {}), dict):
        fields["provenance"] = {**held, "anchor": anchor}
    return fields


def _state_all(parts: list[ReleaseRow]) -> list[ReleaseRow]:
    return [{key: part.get(key) for key in _PART} for part in parts]


def _drop_nulls(fields: ReleaseRow) -> ReleaseRow:
    return {key: value for key, value in fields.items() if value is not None}


def _find_missing(row: ReleaseRow) -> Iterator[FormatProblem]:
    for field in _PUBLISHED:
        if field not in row:
            yield FormatProblem(field, None, "missing")
    hops = row.get("single_hop", [])
    if not isinstance(hops, list) or ("single_hop" in row and not hops):
        yield FormatProblem("single_hop", None, "not a list of hops")
        return
    for position, hop in enumerate(hops):
        if not isinstance(hop, dict):
            yield FormatProblem(f"single_hop[{position}]", position + 1, "not an object")
            continue
        for field in _PUBLISHED_HOP:
            if field not in hop:
                yield FormatProblem(f"single_hop[{position}].{field}", position + 1, "missing")


def _find_mistyped(row: ReleaseRow) -> Iterator[FormatProblem]:
    """What is wrong with the types of a bare row; rows with a plan are validated by their records instead."""
    holders: list[tuple[str, int | None, ReleaseRow, tuple[str, ...]]] = [
        ("", None, row, ("multi_hop_question", "multi_hop_answer"))
    ]
    holders += [
        (f"single_hop[{position}].", position + 1, hop, ("question", "answer"))
        for position, hop in enumerate(row["single_hop"])
    ]
    for prefix, hop_index, holder, texts in holders:
        for field in texts:
            if not isinstance(holder[field], str):
                yield FormatProblem(f"{prefix}{field}", hop_index, f"not a text: {holder[field]!r:.60}")
        options = holder["multiple_choice_options"]
        if not isinstance(options, dict) or not all(
            key in LABELS and isinstance(text, str) for key, text in options.items()
        ):
            yield FormatProblem(f"{prefix}multiple_choice_options", hop_index, "not an object of texts by A, B, C, D")
        if holder["correct_answer_label"] not in LABELS:
            yield FormatProblem(
                f"{prefix}correct_answer_label",
                hop_index,
                f"{holder['correct_answer_label']!r:.60} is none of A–D",
            )


def _build_bare(row: ReleaseRow, name: str) -> Item | None:
    if next(_find_mistyped(row), None) is not None:
        return None
    hops: list[Hop] = []
    for index, (hop, depends_on) in enumerate(
        zip(row["single_hop"], TOPOLOGIES[name].depends_on, strict=True), start=1
    ):
        stated: ReleaseRow = {"question": hop["question"], "answer": hop["answer"]}
        stated |= {"options": hop["multiple_choice_options"], "label": hop["correct_answer_label"]}
        stated |= {"index": index, "depends_on": depends_on, "answer_type": _guess_type(hop["answer"])}
        hops.append(Hop.model_construct(**stated))
    return Item.model_construct(
        id=str(row["id"]),
        topology=name,
        hops=tuple(hops),
        question=row["multi_hop_question"],
        answer=row["multi_hop_answer"],
        options=row["multiple_choice_options"],
        label=row["correct_answer_label"],
    )


def _guess_type(answer: str) -> AnswerType:
    for answer_type in ("number", "date"):
        try:
            parse(answer, answer_type)
        except InputError:
            continue
        return answer_type
    return "string"


def _name_topology(row: ReleaseRow) -> str:
    hops = len(row["single_hop"])
    return next((one.name for one in TOPOLOGIES.values() if one.motif == row["motif_type"] and len(one) == hops), "")


def _describe(location: tuple[int | str, ...], message: str) -> FormatProblem:
    """Name a place of the record by the names of the release format."""
    hop_index: int | None = None
    names = {ours: published for published, ours in _ITEM_NAMES.items()} | {"hops": "single_hop"}
    path = ""
    for part in _untag(location):
        if isinstance(part, int):
            path += f"[{part}]"
            if path == f"single_hop[{part}]":
                hop_index = part + 1
                names = {ours: published for published, ours in _HOP_NAMES.items()}
        else:
            path += ("." if path else "") + names.get(part, part)
            names = names if part == "hops" else {}
    return FormatProblem(path or "row", hop_index, message)


def _untag(location: tuple[int | str, ...]) -> Iterator[int | str]:
    """Turn the place of a field in a record into its place in a row: tags of unions are no fields there."""
    lists = {kind.model_fields["kind"].default: name for kind, name in EVIDENCE_LISTS.items()}
    parts = iter(location[1:] if location[:2] == ("provenance", "anchor") else location)
    for part in parts:
        if part == "entries":
            next(parts, None)
            if (tag := next(parts, "")) == "article":
                next(parts, None)
            if tag:
                yield lists.get(str(tag), "wikipedia_url")
            continue
        yield part
        if part == "question_parts":
            yield from islice(parts, 1)
        if part in ("derivation", "question_parts"):
            next(parts, None)


def _read_line(number: int, text: bytes) -> ReleaseRow | Rejected:
    try:
        row = load_json(text)
    except JsonError as error:
        reason = str(error)
    else:
        if isinstance(row, dict):
            return row
        reason = f"not a JSON object but {type(row).__name__}"
    return Rejected(
        key=f"line {number}", check="schema", reason=reason, row=text[:500].decode("utf-8", errors="replace")
    )

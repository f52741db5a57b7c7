"""What the command line shows of a graph store: plain data, and the same as printable text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from hopwright.errors import InputError
from hopwright.knowledge.facts import write_literal
from hopwright.knowledge.wikidata.ingest import IngestReport, ingest
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.knowledge.wikidata.suggestions import suggest_entities
from hopwright.records import LiteralFact
from hopwright.text.matching import mend_quotes

__all__ = [
    "find", "info", "ingest", "render_find", "render_info", "render_ingest", "render_show", "show",
]  # fmt: skip

_HOW = {"alias": "by alias"}
_QUANTILES = (0.5, 0.9, 0.99, 1.0)


def info(store: GraphStore, *, top: int = 20, verify: bool = False) -> dict[str, Any]:
    """Sizes, quantiles of the degree, the commonest properties, literal coverage, inputs and skipped lines.

    With `verify`, every array is checked against its hash first (about a second per gigabyte).
    Raises StoreError when the store is damaged.
    """
    if verify:
        store.verify()
    out, into = np.diff(store.array("out_start")), np.diff(store.array("in_start"))
    degrees = out.astype(np.int64) + into
    about = store.about
    return {
        "entities": about["counts"]["entities"],
        "properties": about["counts"]["properties"],
        "triplets": about["counts"]["triplets"],
        "literals": about["counts"]["literals"],
        "names": about["counts"]["names"],
        "descriptions": about["counts"]["descriptions"],
        "bytes": store.bytes,
        "entities_without_label": int((store.array("name_count") == 0).sum()),
        "degree": {
            "mean": round(float(degrees.mean()), 2) if len(degrees) else 0.0,
            **{f"p{round(q * 100)}": int(np.quantile(degrees, q)) for q in _QUANTILES if len(degrees)},
        },
        "top_properties": _rank_properties(store, "property_start", top),
        "literal_coverage": _cover_literals(store, top),
        "inputs": about["inputs"],
        "duplicates": about["counts"]["duplicates"],
        "lines": about["lines"],
        "malformed": about["malformed"],
        "malformed_lines": [f"{file}:{line}: {reason}" for file, line, reason in about["listed"]],
        "verified": verify,
    }


def find(store: GraphStore, name: str, *, most: int = 10) -> list[dict[str, Any]]:
    """The entities that a name may mean, the likeliest first: id, label, description, degree, how it matched.

    An entity's own id is found, too. Where no label and no alias is the name, there are at most `most` whose name
    begins with it, or else is spelt nearly so.
    """
    id = name.strip().upper()
    if re.fullmatch(r"Q\d+", id) and id in store:
        return [_describe(store, id, "id")]
    exact = _find_exactly(store, name)
    if exact:
        return exact
    return [_describe(store, id, text) for id, text in suggest_entities(store, name, most)]


def _find_exactly(store: GraphStore, name: str) -> list[dict[str, Any]]:
    return [
        {
            "id": candidate.id,
            "label": candidate.label,
            "description": candidate.description,
            "degree": candidate.degree,
            "matched": "label" if candidate.by_label else "alias",
        }
        for candidate in store.find(name)
    ]


def _describe(store: GraphStore, id: str, matched: str) -> dict[str, Any]:
    about = {"id": id, "label": store.label(id), "description": store.description(id), "degree": store.degree(id)}
    return {**about, "matched": matched if matched == "id" else f"like {matched}"}


def show(store: GraphStore, id: str, *, most: int = 50) -> dict[str, Any]:
    """An entity's names, description, literals and facts in both directions, with labels; `most` facts a
    direction.

    Raises InputError for an id that the store does not have.
    """
    if id not in store:
        raise InputError(f"{id!r} is no id of an entity in the store; look for a name with: hopwright graph find NAME")
    outward = store.out_edges(id)
    inward = store.in_edges_spread(id, most)
    return {
        "id": id,
        "label": store.label(id),
        "aliases": list(dict.fromkeys(map(mend_quotes, store.aliases(id)))),
        "description": store.description(id),
        "degree": store.degree(id),
        "facts_out": len(outward),
        "facts_in": store.degree(id) - len(outward),
        "out": [_fact(store, property, other) for property, other in outward[:most]],
        "in": [_fact(store, property, other) for property, other in inward],
        "literals": [
            {
                "property": literal.property,
                "property_label": literal.property_label,
                "value": literal.value,
                "unit": store.label(literal.unit) or literal.unit,
                "reads": _write(store, literal),
                "datatype": literal.datatype,
            }
            for literal in store.literals(id)
        ],
    }


def render_ingest(report: IngestReport) -> str:
    """The report of an ingest in a few lines."""
    counts = report.counts
    lines = [
        f"{report.folder}: {counts['triplets']:,} triplets, {counts['entities']:,} entities, "
        f"{counts['names']:,} names, {counts['literals']:,} literals, {report.bytes / 2**20:,.0f} MiB"
        + (" (up to date, kept)" if report.reused else "")
    ]
    if counts["derived"]:
        lines.append(f"{counts['derived']:,} facts follow from these: of symmetric properties and of inverse ones")
    if counts["duplicates"]:
        lines.append(f"{counts['duplicates']:,} repeated triplets were kept once")
    for file, bad in report.malformed.items():
        lines.append(f"{file}: {bad:,} of {report.lines[file]:,} lines malformed and skipped")
    lines += [f"  {one}" for one in report.listed[:10]]
    if len(report.listed) > 10:
        lines.append("  … all that were kept on record: hopwright graph info --json")
    return "\n".join(lines)


def render_info(about: dict[str, Any]) -> str:
    """What `info` gives, as text."""
    degree = about["degree"]
    lines = [
        f"entities    {about['entities']:>12,}  ({about['entities_without_label']:,} without a label)",
        f"triplets    {about['triplets']:>12,}  ({about['duplicates']:,} repeated lines)",
        f"properties  {about['properties']:>12,}",
        f"names       {about['names']:>12,}",
        f"literals    {about['literals']:>12,}",
        f"descriptions{about['descriptions']:>12,}",
        f"size        {about['bytes'] / 2**20:>12,.1f} MiB" + ("  (verified)" if about["verified"] else ""),
        "degree      " + ", ".join(f"{key} {value:,}" for key, value in degree.items()),
        "",
        "commonest properties",
        *_table(about["top_properties"], "triplets"),
    ]
    if about["literal_coverage"]:
        lines += ["", "commonest literals", *_table(about["literal_coverage"], "entities")]
    for file, bad in about["malformed"].items():
        lines += ["", f"{file}: {bad:,} malformed lines skipped"]
    lines += [f"  {one}" for one in about["malformed_lines"][:20]]
    return "\n".join(lines)


def render_find(name: str, candidates: list[dict[str, Any]]) -> str:
    """What `find` gives, as text."""
    if not candidates:
        return f"no entity is named {name!r}"
    asked = [f"no entity is named {name!r}; is one of these meant?"] if _is_guess(candidates[0]) else []
    wide = max(len(one["id"]) for one in candidates)
    lines = (
        f"{one['id']:<{wide}}  {one['degree']:>8,}  {one['label']}"
        + (f": {one['description']}" if one["description"] else "")
        + _tell_match(one)
        for one in candidates
    )
    return "\n".join([*asked, *lines])


def _tell_match(found: Mapping[str, Any]) -> str:
    how = str(found["matched"])
    return "" if how in ("label", "id", f"like {found['label']}") else f"  [{_HOW.get(how, how)}]"


def _is_guess(found: Mapping[str, Any]) -> bool:
    return str(found["matched"]).startswith("like ")


def render_show(entity: dict[str, Any]) -> str:
    """What `show` gives, as text."""
    about = f": {entity['description']}" if entity["description"] else ""
    lines = [f"{entity['id']}  {entity['label']}{about}"]
    if entity["aliases"]:
        lines.append("also: " + ", ".join(entity["aliases"]))
    lines += [f"  {_name(literal)} = {literal['reads']}" for literal in entity["literals"]]
    lines += [f"  {_name(fact)} → {fact['other_label'] or '?'} ({fact['other']})" for fact in entity["out"]]
    lines += _tell_rest(entity["facts_out"] - len(entity["out"]))
    lines += [f"  {_name(fact)} ← {fact['other_label'] or '?'} ({fact['other']})" for fact in entity["in"]]
    lines += _tell_rest(entity["facts_in"] - len(entity["in"]))
    return "\n".join(lines)


def _write(store: GraphStore, literal: LiteralFact) -> str:
    """A literal as answers are written; a number of a property that the table does not know has its own unit."""
    table = default_table()
    if table.read(literal) is not None or not literal.unit:
        return write_literal(literal, table)
    return f"{literal.value} {store.label(literal.unit) or literal.unit}"


def _fact(store: GraphStore, property: str, other: str) -> dict[str, str]:
    return {
        "property": property,
        "property_label": store.property_label(property),
        "other": other,
        "other_label": store.label(other),
    }


def _rank_properties(store: GraphStore, starts: str, top: int) -> list[dict[str, Any]]:
    counts = np.diff(store.array(starts).astype(np.int64))
    order = np.argsort(-counts, kind="stable")[:top]
    ids = store.properties()
    return [
        {"property": ids[i], "label": store.property_label(ids[i]), "count": int(counts[i])} for i in order if counts[i]
    ]


def _cover_literals(store: GraphStore, top: int) -> list[dict[str, Any]]:
    """Per property, how many entities have a literal of it."""
    if not store.about["has_literals"]:
        return []
    entries = _rank_properties(store, "literal_property_start", len(store.properties()))
    for entry in entries:
        entry["count"] = len(store.literal_subjects(entry["property"]))
    return sorted(entries, key=_by_count)[:top]


def _by_count(entry: dict[str, Any]) -> int:
    return -int(entry["count"])


def _table(entries: list[dict[str, Any]], unit: str) -> list[str]:
    return [f"  {one['property']:<6} {one['count']:>12,} {unit}  {one['label']}" for one in entries]


def _name(entry: dict[str, Any]) -> str:
    return f"{entry['property_label'] or '?'} ({entry['property']})"


def _tell_rest(left: int) -> list[str]:
    return [f"  … {left:,} more"] if left > 0 else []

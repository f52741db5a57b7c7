"""The sample's files, and what is told of them."""

from __future__ import annotations

import gzip
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sample.gathering import PROFESSION, RULES, Merge
from sample.settling import settle_days, settle_edges
from sample.timelines import TIMELINES

POINT = "P625"


def write_packed(path: Path, lines: Iterable[str]) -> None:
    """Write lines, packed so that the same lines give the same bytes."""
    data = "".join(line + "\n" for line in lines).encode()
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        packed.write(data)


def _by_number(id: str) -> int:
    return int(id[1:])


def write_sample(merge: Merge, dated: list[tuple[str, str, str, str, str, str]], out: Path) -> None:
    """Settle what is gathered and write the sample's files."""
    days = settle_days(merge)
    triplets = settle_edges(merge)
    known = {id for s, _, o in triplets for id in (s, o)}
    for id, label in RULES["occupations"].values():
        if id in known:
            merge.names.setdefault(id, [label])
            triplets.add((id, "P31", PROFESSION))
            known.add(PROFESSION)
    for id, label in RULES["labels"].items():
        if id in known:
            merge.names.setdefault(id, [label])
    for id, label in RULES["renamed"].items():
        if id in known:
            merge.names[id] = [label]
    merge.relations.setdefault("P106", ["occupation", "profession", "job"])
    for property in sorted({p for _, p, _ in triplets} - set(merge.relations)):
        merge.relations[property] = [RULES["properties"][property]]
    terms = {(subject, property) for subject in RULES["terms"] for property in ("P569", "P570")}
    merge.drop |= terms
    rows: list[tuple[str, str, str, str, str, str]] = []
    provenance: list[tuple[str, str, str, str]] = []
    for key, values in merge.literals.items():
        if key not in merge.drop:
            rows += [(*key, merge.labels[key[1]], unit, value, kind) for unit, value, kind in values]
    for key, (unit, value, year, source) in merge.numbers.items():
        if key not in merge.drop or key in merge.literals:
            rows.append((*key, merge.labels[key[1]], unit, value, "decimal"))
            provenance.append((*key, value, f"{source} {year}".strip()))
    merge.labels.setdefault(POINT, "coordinate location")
    for subject, (latitude, longitude, source) in merge.points.items():
        for unit, value in (("Latitude", latitude), ("Longtiude", longitude)):  # the spelling of Wikidata's file here
            rows.append((subject, POINT, merge.labels[POINT], unit, value, "double"))
        provenance.append((subject, POINT, f"{latitude} {longitude}", source))
    for key, (day, sources) in days.items():
        if key in terms:
            continue
        rows.append((*key, merge.labels[key[1]], "", day.value, "dateTime"))
        provenance.append((*key, day.value, "+".join(sorted(sources))))
    for subject, timeline, year in merge.timelines:
        rows.append((subject, timeline, TIMELINES[timeline], "", f"{int(year):04}-01-01T00:00:00Z", "dateTime"))
        provenance.append((subject, timeline, year, "timelines"))
    provenance += [(s, p, o, "+".join(sorted(of))) for (s, p, o), of in merge.edges.items() if (s, p, o) in triplets]
    ordered = sorted(triplets, key=lambda one: tuple(map(_by_number, one)))
    names = {id: merge.names[id] for id in known | {row[0] for row in rows} | set(merge.names) if id in merge.names}
    write_packed(out / "wikidata5m_all_triplet.txt.gz", ("\t".join(one) for one in ordered))
    write_packed(
        out / "wikidata5m_entity.txt.gz", ("\t".join([id, *names[id]]) for id in sorted(names, key=_by_number))
    )
    write_packed(
        out / "wikidata5m_relation.txt.gz",
        ("\t".join([id, *merge.relations[id]]) for id in sorted(merge.relations, key=_by_number)),
    )

    def place(row: tuple[str, ...]) -> tuple[Any, ...]:
        return (_by_number(row[0]), _by_number(row[1]), *row[2:])

    write_packed(out / "attribute_literals.tsv.gz", ("\t".join(row) for row in sorted(set(rows), key=place)))
    write_packed(out / "dated_literals.tsv.gz", ("\t".join(row) for row in sorted(set(dated), key=place)))
    write_packed(out / "provenance.tsv.gz", ("\t".join(row) for row in sorted(provenance, key=place)))
    lines = ["subject\tlabel\tproperty\tclaims\tkept"]
    for subject, property, claims, kept in sorted(merge.disagreements):
        lines.append("\t".join([subject, merge.names.get(subject, [""])[0], property, claims, kept]))
    (out / "disagreements.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    _tell(merge, triplets, names, rows, provenance)


def _tell(
    merge: Merge,
    triplets: set[tuple[str, str, str]],
    names: Mapping[str, list[str]],
    rows: list[tuple[str, str, str, str, str, str]],
    provenance: list[tuple[str, str, str, str]],
) -> None:
    say = sys.stdout.write
    old = sum(map(len, merge.literals.values()))
    say(f"triplets {len(merge.base)} -> {len(triplets)}, entities {len(names)}, literals {old} -> {len(set(rows))}\n")
    by_source = Counter((source.split()[0], property) for _, property, _, source in provenance)
    for source in sorted({one for one, _ in by_source}):
        counts = Counter({property: n for (one, property), n in by_source.items() if one == source})
        say(f"{source}: {counts.total()} facts: {', '.join(f'{p} {n}' for p, n in counts.most_common(60))}\n")
    for title, counter in (("confirmed or used", merge.taken), ("refused", merge.refused)):
        say(f"{title}:\n" + "".join(f"  {n:7d} {why}\n" for why, n in counter.most_common()))
    kept = Counter((property, kept != "neither") for _, property, _, kept in merge.disagreements)
    say("disagreements (property, settled, count):\n")
    say("".join(f"  {property} {'settled' if one else 'neither'} {n}\n" for (property, one), n in kept.most_common()))

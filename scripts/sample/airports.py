"""Coordinates and elevations of airports (package `airportsdata`), linked by their codes and names."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

from sample.gathering import Merge, Names

SOURCE = "airportsdata"
_FOOT = 0.3048
ELEVATION, METRE = "P2044", "Q11573"


def read_airports(path: Path, merge: Merge, names: Names) -> None:
    """Where airports are and how high, for those of which two codes, or a code and a name, lead to one row."""
    rows: dict[str, dict[str, str]] = {}
    called: dict[str, set[str]] = defaultdict(set)
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            rows[row["icao"]] = row
            for word in {row["icao"], row["iata"], row["name"]} - {""}:
                called[word].add(row["icao"])
    for id in sorted(merge.names):
        if names.sort(id) != "airport":
            continue
        agreeing: dict[str, int] = defaultdict(int)
        for word in set(merge.names[id]):
            for code in called.get(word, ()):
                agreeing[code] += 1
        fitting = [code for code, count in agreeing.items() if count > 1]
        if len(fitting) != 1:
            merge.refused[f"{SOURCE}: no two names or codes of an airport agree"] += 1
            continue
        row = rows[fitting[0]]
        merge.points[id] = (f"{float(row['lat']):.2f}", f"{float(row['lon']):.2f}", SOURCE)
        # The package writes nought for an elevation that it does not know, too.
        if float(row["elevation"]) and (id, ELEVATION) not in merge.literals:
            merge.numbers[id, ELEVATION] = (METRE, str(round(float(row["elevation"]) * _FOOT)), "", SOURCE)
            merge.labels.setdefault(ELEVATION, "elevation above sea level")

"""Founding years of listed companies (package `pytickersymbols`, from Wikipedia's tables)."""

from __future__ import annotations

import importlib.util
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from sample.days import Day
from sample.gathering import Merge, Names

SOURCE = "pytickersymbols"
_FOUNDED = "P571"
_HEADQUARTERS, _COUNTRY = "P159", "P17"


def read_companies(path: Path, merge: Merge, names: Names) -> None:
    """Years of founding, where the package gives one year only and the seat or the country agrees."""
    said: dict[str, set[int]] = defaultdict(set)
    places: dict[str, set[str]] = defaultdict(set)
    for subject, property, object in (*merge.base, *merge.edges):
        if property in (_HEADQUARTERS, _COUNTRY) and object in merge.names:
            places[subject].add(merge.names[object][0])
    for company in _read_rows(path):
        about = company.get("metadata", {})
        years = {int(one) for one in re.findall(r"\b(1[6-9]\d\d|20[0-2]\d)\b", str(about.get("founded", "")))}
        if not years:
            continue
        title = str(about.get("wikipedia_url", "")).rpartition("/")[2].replace("_", " ")
        found = {id for name in (company["name"], title) if (id := names.link(name, ["organization"]))}
        if len(found) != 1 or len(years) != 1:
            merge.refused[f"{SOURCE}: name not linked, or several years"] += 1
            continue
        (id,) = found
        seat = f"{about.get('headquarters', '')} {company.get('country', '')} {names.texts.get(id, '')}"
        country = str(company.get("country", "?"))
        if any(one in seat for one in places[id]) or country in names.texts.get(id, ""):
            said[id] |= years
        else:
            merge.refused[f"{SOURCE}: nothing confirms which company it is"] += 1
    for id, years in sorted(said.items()):
        if len(years) == 1:
            merge.add_day(id, _FOUNDED, Day(years.pop()), SOURCE)


def _read_rows(path: Path) -> list[dict[str, Any]]:
    spec = importlib.util.spec_from_file_location("indices_data", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [company for index in module.INDICES.values() for company in index["companies"]]

"""The CIA World Factbook's figures, by country."""

from __future__ import annotations

import gzip
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from sample.gathering import RULES, Merge, Names

_FIGURE = re.compile(r"^\$?(-?[\d,]+(?:\.\d+)?)\s?(trillion|billion|million)?\s?(.*)$")
_AS_OF = re.compile(r"\((\d{4})(?: est\.?)?\)")
_SCALE = {"trillion": Decimal(10) ** 12, "billion": Decimal(10) ** 9, "million": Decimal(10) ** 6, None: Decimal(1)}


def read_factbook(path: Path, merge: Merge, names: Names) -> list[tuple[str, str, str, str, str, str]]:
    """Figures, forms of government, rivers and lakes; returns the dated figures, like literals with a year."""
    dated: list[tuple[str, str, str, str, str, str]] = []
    rivers: dict[str, set[Decimal]] = defaultdict(set)
    lakes: dict[str, set[Decimal]] = defaultdict(set)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    for record in sorted(records, key=lambda one: str(one["path"])):
        name = _dig(record, ["Government", "Country name", "conventional short form"])
        long = _dig(record, ["Government", "Country name", "conventional long form"])
        country = _link_country(names, name) or _link_country(names, long)
        if not country:
            merge.refused["factbook: country not linked"] += 1
            continue
        for rule in RULES["factbook"]:
            rows = _read_figures(record, rule)
            of = (country, rule["property"], rule["label"], rule["unit"])
            dated += [(*of, value, year) for value, year in rows if year]
            if rows:
                _settle_figure(merge, country, rule, *rows[0])
        government = re.sub(r"<[^>]*>", "", _dig(record, ["Government", "Government type"])).strip()
        if form := RULES["governments"].get(government):
            merge.add_edge(country, "P122", form, "factbook")
        for text, found, unit in (
            (_dig(record, ["Geography", "Major rivers (by length in km)"]), rivers, "km"),
            (_dig(record, ["Geography", "Major lakes (area sq km)", "fresh water lake(s)"]), lakes, "sq km"),
            (_dig(record, ["Geography", "Major lakes (area sq km)", "salt water lake(s)"]), lakes, "sq km"),
        ):
            for part in re.split(r";", re.sub(r"<br>.*|<strong>.*", "", re.sub(r"</?p>", "", text))):
                match = re.match(r"\s*(.+?) (?:\((?P<other>[^()]*)\) )?.*?- ([\d,]+) " + unit + r"\s*$", part)
                head = re.match(r"\s*([^(]+?)(?: river source| river mouth| \(|\s+-\s)", part)
                if match and head:
                    ids = {_link_water(names, one) for one in (head[1].strip(), match["other"] or "") if one} - {""}
                    if len(ids) == 1:
                        found[ids.pop()].add(Decimal(match[3].replace(",", "")))
                    else:
                        merge.refused["factbook: river or lake not linked"] += 1
    for property, label, found, unit, factor in (
        ("P2043", "length", rivers, "Q11573", 1000), ("P2046", "area", lakes, "Q25343", 1_000_000),
    ):  # fmt: skip
        for id, values in sorted(found.items()):
            if len(values) == 1 and (id, property) not in merge.literals:
                merge.numbers[id, property] = (unit, str(values.pop() * factor), "", "factbook")
                merge.labels.setdefault(property, label)
            elif len(values) > 1:
                shown = ", ".join(map(str, sorted(values)))
                merge.disagreements.append((id, property, f"factbook: {shown}", "neither"))
    return dated


def list_states(path: Path) -> dict[str, str]:
    """Today's independent countries by their names and adjectives; what two of them share is left out."""
    found: dict[str, set[str]] = defaultdict(set)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            name = _dig(record, ["Government", "Country name", "conventional short form"])
            free = _dig(record, ["Government", "Independence"])
            if name in ("", "none") or not free or free.startswith("none"):
                continue
            for other in (name, _dig(record, ["People and Society", "Nationality", "adjective"])):
                found[other.removeprefix("the ")].add(name.removeprefix("the "))
    return {name: next(iter(one)) for name, one in found.items() if len(one) == 1 and name}


def _dig(record: Any, path: Iterable[str]) -> str:
    for key in path:
        record = record.get(key, {}) if isinstance(record, dict) else {}
    text = record.get("text", "") if isinstance(record, dict) else ""
    return html.unescape(str(text)).replace("\xa0", " ").strip()


def _link_country(names: Names, name: str) -> str:
    if name in ("", "none"):
        return ""
    turned = re.sub(r"^(.*), The$", r"\1", name).removeprefix("the ")
    # The Factbook speaks of countries: that a film is called Canada too does not matter.
    for form in (turned, "The " + turned):
        found = [id for id in names.labelled(form) if names.kind(id) == "country"]
        if len(found) == 1:
            return found[0]
    return names.link(turned, ["country"])


def _link_water(names: Names, name: str) -> str:
    for form in (name, name + " River", "Lake " + name):
        if id := names.link(form, ["nature"]):
            return id
    return ""


def _read_figures(record: Any, rule: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Values in the literals' unit with their years, the latest first."""
    node: Any = record
    for key in rule["path"]:
        node = node.get(key, {}) if isinstance(node, dict) else {}
    nodes = [node] if "text" in node else list(node.values())
    texts = [one["text"] for one in nodes if isinstance(one, dict) and "text" in one]
    found: list[tuple[str, str]] = []
    for text in texts:
        plain = html.unescape(str(text)).strip()
        year = match[1] if (match := _AS_OF.search(plain)) else ""
        figure = _FIGURE.match(re.sub(r"\s*\(.*$", "", plain))
        if figure and figure[3].strip() == rule["suffix"]:
            value = Decimal(figure[1].replace(",", "")) * _SCALE[figure[2]] * Decimal(rule["factor"])
            if value != 0:
                found.append((f"{value.normalize():f}", year))
    return sorted(found, key=lambda one: one[1], reverse=True)


def _settle_figure(merge: Merge, country: str, rule: Mapping[str, Any], value: str, year: str) -> None:
    key = (country, rule["property"])
    merge.labels.setdefault(rule["property"], rule["label"])
    old = [Decimal(one) for _, one, kind in merge.literals.get(key, []) if kind == "decimal"]
    new = Decimal(value)
    if not old:
        merge.numbers[key] = (rule["unit"], value, year, "factbook")
        return
    apart = min(abs(new - one) / max(abs(one), Decimal("0.000001")) for one in old)
    if apart > Decimal(str(rule["tolerance"])):
        shown = ", ".join(f"{one.normalize():f}" for one in old)
        said = f"wikidata: {shown}; factbook ({year}): {value}"
        merge.disagreements.append((country, rule["property"], said, "neither"))
        merge.drop.add(key)
    elif rule.get("replaces"):
        merge.drop.add(key)
        merge.numbers[key] = (rule["unit"], value, year, "factbook")
    else:
        merge.taken["literals that the factbook confirms"] += 1

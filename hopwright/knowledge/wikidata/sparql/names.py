"""How many entities of the live graph share a name, so that a question can say which one it means."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from hopwright.errors import ServiceError
from hopwright.foreign import show
from hopwright.knowledge.wikidata.sparql.client import SparqlClient
from hopwright.knowledge.wikidata.sparql.terms import (
    ENTITY,
    entity_values,
    local_id,
    number_of,
    prologue,
    quote,
    read_count,
)

# Pages that list what shares a name are no bearers of it.
_DISAMBIGUATION = "Q4167410"
_BATCH = 50
_BOTH = "rdfs:label|skos:altLabel"


@dataclass(frozen=True, slots=True)
class Namesakes:
    """How many entities bear a name: those that have it as label, and those that have it as another name only."""

    name: str
    labelled: int
    aliased: int

    @property
    def total(self) -> int:
        """All entities that the name may mean."""
        return self.labelled + self.aliased

    @property
    def is_ambiguous(self) -> bool:
        """Whether the name may mean more than one entity."""
        return self.total > 1


def count_namesakes(
    client: SparqlClient, names: Iterable[str], *, max_age_s: float | None = None
) -> dict[str, Namesakes]:
    """Count for each name the entities that bear it, exactly as written, in the settings' languages.

    Disambiguation pages do not count; a name that nobody bears has 0. Raises ServiceError, and InputError for text
    that cannot be sent.
    """
    given = {name: unicodedata.normalize("NFC", name) for name in names}
    wanted = sorted(set(given.values()))
    labelled: dict[str, int] = {}
    both: dict[str, int] = {}
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        labelled |= _count(client, batch, "rdfs:label", max_age_s)
        both |= _count(client, batch, _BOTH, max_age_s)
    return {
        name: Namesakes(name, labelled.get(asked, 0), both.get(asked, 0) - labelled.get(asked, 0))
        for name, asked in given.items()
    }


def list_namesakes(
    client: SparqlClient, name: str, *, limit: int = 20, max_age_s: float | None = None
) -> dict[str, str]:
    """The entities that bear a name, by id number, each with its description (empty where it has none).

    At most `limit` of them. Raises as `count_namesakes`.
    """
    query = (
        prologue("wd", "wdt", "rdfs", "skos")
        + f"SELECT DISTINCT ?s WHERE {{\n{_bearers(client, [unicodedata.normalize('NFC', name)], _BOTH)}}}\n"
        + f"ORDER BY ?s LIMIT {int(limit)}"
    )
    ids = [local_id(row["s"].value) for row in client.select(query, max_age_s=max_age_s) if "s" in row]
    described = describe_entities(client, ids, max_age_s=max_age_s) if ids else {}
    return {id: described.get(id, "") for id in sorted(ids, key=number_of)}


def describe_entities(client: SparqlClient, ids: Iterable[str], *, max_age_s: float | None = None) -> dict[str, str]:
    """The endpoint's short descriptions, in the first of the settings' languages that has one."""
    languages = client.settings.languages
    query = (
        prologue("wd", "schema")
        + f"SELECT ?s ?text WHERE {{\n  {entity_values('s', ids)}\n  ?s schema:description ?text .\n"
        + f"  FILTER(LANG(?text) IN ({', '.join(quote(language) for language in languages)}))\n}}"
    )
    found: dict[str, tuple[int, str]] = {}
    for row in client.select(query, max_age_s=max_age_s):
        id, text = local_id(row["s"].value), row["text"]
        place = (languages.index(text.language) if text.language in languages else len(languages), text.value)
        if id not in found or place < found[id]:
            found[id] = place
    return {id: text for id, (_, text) in found.items()}


def _count(client: SparqlClient, names: list[str], path: str, max_age_s: float | None) -> dict[str, int]:
    query = (
        prologue("wd", "wdt", "rdfs", "skos")
        + "SELECT ?text (COUNT(DISTINCT ?s) AS ?count) WHERE {\n"
        + _bearers(client, names, path)
        + "  BIND(STR(?name) AS ?text)\n} GROUP BY ?text"
    )
    counts = {}
    for row in client.select(query, max_age_s=max_age_s):
        if "text" in row:
            counted = read_count(row["count"].value) if "count" in row else None
            if counted is None:
                name = show(row["text"].value, 60)
                raise ServiceError(f"the SPARQL endpoint does not say how many entities are called {name!r}")
            counts[row["text"].value] = counted
    return counts


def _bearers(client: SparqlClient, names: list[str], path: str) -> str:
    values = " ".join(quote(name, language) for name in names for language in client.settings.languages)
    return (
        f"  VALUES ?name {{ {values} }}\n  ?s {path} ?name .\n"
        + f"  FILTER(STRSTARTS(STR(?s), {quote(ENTITY + 'Q')}))\n"
        + f"  FILTER NOT EXISTS {{ ?s wdt:P31 wd:{_DISAMBIGUATION} }}\n"
    )

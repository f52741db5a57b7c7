"""What goes into a query: checked ids, escaped strings, prefixes. Nothing else may be pasted into SPARQL."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hopwright.errors import InputError

ENTITY = "http://www.wikidata.org/entity/"
PREFIXES = {
    "wd": ENTITY,
    "wdt": "http://www.wikidata.org/prop/direct/",
    "p": "http://www.wikidata.org/prop/",
    "ps": "http://www.wikidata.org/prop/statement/",
    "psv": "http://www.wikidata.org/prop/statement/value/",
    "wikibase": "http://wikiba.se/ontology#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "schema": "http://schema.org/",
    "owl": "http://www.w3.org/2002/07/owl#",
}
_ENTITY_ID = re.compile(r"Q[1-9][0-9]{0,18}")
_PROPERTY_ID = re.compile(r"P[1-9][0-9]{0,18}")
_LANGUAGE = re.compile(r"[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*")
_MOST_DIGITS = 18
_BEFORE_U = re.compile(r"\\\\([uU])")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def is_entity(id: str) -> bool:
    """Whether the text is a Wikidata entity id."""
    return _ENTITY_ID.fullmatch(id) is not None


def is_property(id: str) -> bool:
    """Whether the text is a Wikidata property id."""
    return _PROPERTY_ID.fullmatch(id) is not None


def check_entities(ids: Iterable[str]) -> list[str]:
    """The ids, each once, by number. Raises InputError naming the first that is no `Q…`."""
    return _check(ids, _ENTITY_ID, "an entity id (Q and digits)")


def check_properties(ids: Iterable[str]) -> list[str]:
    """The ids, each once, by number. Raises InputError naming the first that is no `P…`."""
    return _check(ids, _PROPERTY_ID, "a property id (P and digits)")


def quote(text: str, language: str = "") -> str:
    """A SPARQL string literal, with a language tag if one is given.

    Safe whether the service replaces `\\uXXXX` before it parses (SPARQL 1.1, 19.2) or inside strings: no
    backslash of the text ever stands before a bare `u`. Raises InputError for text that has no UTF-8 form,
    and for a malformed tag.
    """
    if any("\ud800" <= sign <= "\udfff" for sign in text) or "\0" in text:
        raise InputError(f"a name with half a character or a NUL cannot be looked up: {text!r}")
    escaped = "".join(_ESCAPES.get(sign, sign) for sign in text)
    escaped = _BEFORE_U.sub(_escape_u, escaped)
    if not language:
        return f'"{escaped}"'
    if _LANGUAGE.fullmatch(language) is None:
        raise InputError(f"not a language tag: {language!r}")
    return f'"{escaped}"@{language}'


def prologue(*names: str) -> str:
    """The PREFIX lines for these prefixes."""
    return "".join(f"PREFIX {name}: <{PREFIXES[name]}>\n" for name in names)


def entity_values(variable: str, ids: Iterable[str]) -> str:
    """A VALUES clause over entities; the ids are checked and sorted."""
    return f"VALUES ?{variable} {{ {' '.join(f'wd:{id}' for id in check_entities(ids))} }}"


def local_id(iri: str) -> str:
    """The id at the end of one of Wikidata's IRIs (`…/entity/Q5`, `…/direct/P31`); empty for anything else."""
    last = iri.rpartition("/")[2]
    return last if is_entity(last) or is_property(last) else ""


def read_count(text: str) -> int | None:
    """A whole number of a size that something can be counted to; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def _escape_u(match: re.Match[str]) -> str:
    # The long form, since rdflib takes eight digits after a small `u`, too.
    return f"\\\\\\U{ord(match[1]):08X}"


def _check(ids: Iterable[str], pattern: re.Pattern[str], what: str) -> list[str]:
    found = set()
    for id in ids:
        if not isinstance(id, str) or pattern.fullmatch(id) is None:
            raise InputError(f"not {what}: {id!r}")
        found.add(id)
    return sorted(found, key=number_of)


def number_of(id: str) -> int:
    """The number of an entity's or a property's id, to sort by."""
    return int(id[1:])

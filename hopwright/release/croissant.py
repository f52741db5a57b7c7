"""Croissant metadata (MLCommons Croissant 1.0): what the files are, and where each field of a row is found in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hopwright.release.facts import RunFacts
from hopwright.release.layout import SplitFiles
from hopwright.release.parquet import RELEASE_SCHEMA
from hopwright.runs.files import hash_file

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_LICENCES = {
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "cc0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
}
_MEANINGS = {
    "id": "content hash of the plan",
    "single_hop": "the hops in order",
    "multi_hop_question": "the question as a whole",
    "multi_hop_answer": "its answer, that of the last hop",
    "multiple_choice_options": "options A to D",
    "correct_answer_label": "the right option's letter",
    "motif_type": "the reasoning graph's published name",
    "topology": "the reasoning graph's exact name",
    "answer_aliases": "other names of the answer",
    "variant": "factual or counterfactual",
    "twin": "id of the counterfactual twin, or of its original",
    "world": "what a counterfactual world replaces by what",
    "anchor": "the two-hop question whose answer the item was grown from",
    "checks": "verdicts of the machine checks, and of the experts",
    "votes": "votes of the solvers that judged difficulty",
    "provenance": "who made the item, from what",
    "question_parts": "the question in parts where it holds pictures",
    "marked": "the question with its words marked by hop, {2: … {1: …}}",
}


def render_croissant(folder: Path, places: Sequence[SplitFiles], *, name: str, version: str, facts: RunFacts) -> str:
    """`croissant.json` of a release whose files lie below `folder`; one record set per place, read from its JSONL."""
    document: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": name,
        "version": version,
        "description": "Multi-hop questions that come apart into single-hop sub-questions with gold intermediate "
        "answers, the derivation of every answer and the facts that it rests on.",
        "license": _LICENCES.get(facts.licence, facts.licence),
        "inLanguage": "en",
        "isLiveDataset": False,
        "keywords": ["multi-hop", "question answering", "reasoning", "step-wise evaluation", "Wikidata"],
        "isBasedOn": [f"{source.name} ({source.licence})" for source in facts.sources],
        "distribution": [
            described
            for place in places
            for described in (
                _describe_file(folder, place.jsonl, "application/jsonlines", f"the record set {place.name}"),
                _describe_file(
                    folder,
                    place.parquet,
                    "application/x-parquet",
                    f"the same rows: configuration {place.config}, split {place.split}",
                ),
            )
        ],
        "recordSet": [_describe_records(place) for place in places],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _describe_file(folder: Path, path: str, format: str, description: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "description": description,
        "contentUrl": path,
        "contentSize": f"{(folder / path).stat().st_size} B",
        "encodingFormat": format,
        "sha256": hash_file(folder / path),
    }


def _describe_records(place: SplitFiles) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": place.name,
        "name": place.name,
        "description": f"The {place.variant} items of the set {place.set}. Lists of objects inside a hop or an anchor "
        "(constraints, distractors, facts, passages) are in the files, but not described here.",
        "key": {"@id": f"{place.name}/id"},
        "field": [described for column in RELEASE_SCHEMA for described in _describe_field(place, column, ())],
    }


def _describe_field(place: SplitFiles, field: pa.Field, above: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """A column, or a part of one with its place inside the column.

    Croissant's paths go into one list and no further: a list of objects below another object is left out.
    """
    kind, path = field.type, (*above, field.name)
    repeated = pa.types.is_list(kind)
    if repeated:
        kind = kind.value_type
        if pa.types.is_struct(kind) and above:
            return
    described: dict[str, Any] = {"@type": "cr:Field", "@id": "/".join((place.name, *path)), "name": "/".join(path)}
    if not above:
        described["description"] = _MEANINGS[field.name]
    if repeated:
        described["repeated"] = True
    source: dict[str, Any] = {"fileObject": {"@id": place.jsonl}, "extract": {"column": path[0]}}
    if above:
        source["transform"] = {"jsonPath": ".".join(path[1:])}
    described["source"] = source
    if pa.types.is_struct(kind):
        described["subField"] = [part for one in kind for part in _describe_field(place, one, path)]
    else:
        described["dataType"] = _name_type(kind)
    yield described


def _name_type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    if pa.types.is_integer(kind):
        return "sc:Integer"
    return "sc:Float" if pa.types.is_floating(kind) else "sc:Text"

"""A corpus as large as wanted in which plans can be drawn: the shipped sample many times over.

Each copy has entities of its own, with names of their own; classes, occupations and hubs are shared, as they would be.
So degrees, properties and classes keep their shape, which a graph drawn at random does not have.
"""

from __future__ import annotations

import gzip
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from hopwright.planning.traversals import HUB_DEGREE

_SHARED_BY = ("P31", "P279", "P106")
_SYLLABLES = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]


def multiply(sample: Path, folder: Path, copies: int) -> int:
    """Write the sample so many times over into a folder, in Wikidata5M's layout; returns the number of triplets."""
    folder.mkdir(parents=True, exist_ok=True)
    triplets = [line.split("\t") for line in _read(sample / "wikidata5m_all_triplet.txt.gz")]
    entities = [line.split("\t") for line in _read(sample / "wikidata5m_entity.txt.gz")]
    literals = [line.split("\t") for line in _read(sample / "attribute_literals.tsv.gz")]
    degrees = Counter(end for subject, _, object in triplets for end in (subject, object))
    shared = {object for _, property, object in triplets if property in _SHARED_BY}
    shared |= {entity for entity, degree in degrees.items() if degree > HUB_DEGREE}
    own = [line for line in entities if line[0] not in shared]
    base = 1 + max(int(id[1:]) for id in degrees.keys() | {line[0] for line in entities})
    rng = random.Random(0)
    (folder / "wikidata5m_relation.txt").write_text("\n".join(_read(sample / "wikidata5m_relation.txt.gz")) + "\n")
    names = (folder / "wikidata5m_entity.txt").open("w")
    facts = (folder / "wikidata5m_all_triplet.txt").open("w")
    values = gzip.open(folder / "attribute_literals.tsv.gz", "wt", compresslevel=1)  # noqa: SIM115
    written = 0
    with names, facts, values:
        for copy in range(copies):
            renamed = {line[0]: f"Q{base + (copy - 1) * len(own) + place}" for place, line in enumerate(own)}
            if copy == 0:
                renamed = {}
            for line in own if copy else entities:
                word = " " + "".join(rng.choices(_SYLLABLES, k=4)).capitalize() if copy else ""
                names.write("\t".join([renamed.get(line[0], line[0]), *(name + word for name in line[1:])]) + "\n")
            for subject, property, object in triplets:
                if copy and subject not in renamed:
                    continue  # a shared entity's own facts stand there once
                facts.write(f"{renamed.get(subject, subject)}\t{property}\t{renamed.get(object, object)}\n")
                written += 1
            for subject, *rest in literals:
                if not copy or subject in renamed:
                    values.write("\t".join([renamed.get(subject, subject), *rest]) + "\n")
    return written


def _read(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n")

"""Filling draft slots, and the selection over all drafts."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import pyarrow as pa

from hopwright.checks.guessing import overlap
from hopwright.knowledge.external.bank import parse_bank
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.planning.target_distribution import TargetDistribution
from hopwright.records import Domain, Rejected
from hopwright.records.arrow import (
    ITEM_SCHEMA,
    items_to_table,
    list_claimed,
    read_columns,
    read_parquet,
    read_rejected,
)
from hopwright.runs import ShardOutput
from hopwright.settings import DomainName, SynthesizeParameters
from hopwright.stages.drafting import DraftKey, Synthesizer, select
from hopwright.stages.resources import SOURCES, load_anchors, open_graph
from hopwright.text.embeddings import SentenceLikeness


@dataclass(frozen=True, slots=True)
class DraftSlots:
    """Some draft slots, and all that filling them depends on."""

    store: Path
    anchors: tuple[Path, ...]
    seed: int
    distribution: str
    """What the set shall be like (`write_target_distribution`)."""
    start: int
    count: int
    embeddings: str = ""
    """The sentence-embedding model that ranks wrong options; empty for none."""
    claims: str = ""
    """The bank of claims (`format_bank`); empty for none."""


@dataclass(frozen=True, slots=True)
class SelectionSurvey:
    """What selection over all drafts so far says: for each part its rows' ids, and which rows are dropped and why."""

    ids: tuple[tuple[str, ...], ...]
    dropped: tuple[dict[int, tuple[str, str]], ...]

    def kept(self) -> Iterator[tuple[int, int, str]]:
        """Part, row and id of every draft that is not dropped, in slot order."""
        for part, (ids, dropped) in enumerate(zip(self.ids, self.dropped, strict=True)):
            for row, id in enumerate(ids):
                if row not in dropped:
                    yield part, row, id


@dataclass(frozen=True, slots=True)
class SelectionPart:
    """One part of drafts: which of its rows are dropped (row → check, reason), and where others were worded anew.

    `worded` holds, for a kept row that a model worded, the part and row in which its new words are.
    """

    part: Path
    dropped: dict[int, tuple[str, str]]
    worded: dict[int, tuple[Path, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WordingState:
    """What has come of wording so far: where each accepted item lies, and why the others were rejected, by id."""

    accepted: dict[str, tuple[Path, int]]
    rejected: dict[str, tuple[str, str]]


def draft_slots(slots: DraftSlots) -> ShardOutput:
    """Fill one shard of draft slots."""
    synthesizer = open_synthesizer(slots.store, slots.seed, slots.distribution, slots.embeddings, slots.claims)
    items, rejected = synthesizer.draft(load_anchors(slots.anchors), slots.start, slots.count)
    return ShardOutput(items_to_table(items), rejected, taken=slots.count, figures=synthesizer.ledger.take())


def survey_drafts(parts: list[Path], max_answer_share: float, items: int) -> SelectionSurvey:
    """Look over all drafts at once, four columns of them, and decide what is dropped from which part."""
    keys, counts = _read_keys(parts)
    dropped = select(keys, max_answer_share=max_answer_share, items=items)
    starts = list(itertools.accumulate(counts, initial=0))
    return SelectionSurvey(
        tuple(tuple(key.id for key in keys[start:end]) for start, end in itertools.pairwise(starts)),
        tuple(
            {slot - start: dropped[slot] for slot in range(start, end) if slot in dropped}
            for start, end in itertools.pairwise(starts)
        ),
    )


def read_wordings(parts: list[tuple[Path, Path]]) -> WordingState:
    """Gather what wording made of drafts, from its parts and their rejected rows; two alike keep the first."""
    accepted: dict[str, tuple[Path, int]] = {}
    rejected: dict[str, tuple[str, str]] = {}
    asked: dict[str, str] = {}
    for part, refused in parts:
        for row, (id, question) in enumerate(read_columns(part, "id", "question")):
            first = asked.setdefault(question.casefold(), id)
            if first == id:
                accepted[id] = (part, row)
            else:
                rejected[id] = ("duplicate", f"worded like {first}")
        for one in read_rejected(refused):
            rejected[one.key] = (one.check, one.reason)
    return WordingState(accepted, rejected)


def keep_selected(selection: SelectionPart) -> ShardOutput:
    """Copy one part without the dropped rows, the worded ones in their new words."""
    table = read_parquet(selection.part, ITEM_SCHEMA)
    ids = table.column("id").to_pylist()
    rejected = [
        Rejected(key=ids[row], check=check, reason=reason) for row, (check, reason) in sorted(selection.dropped.items())
    ]
    kept = [row for row in range(table.num_rows) if row not in selection.dropped]
    # Wording adds no claim and takes none away.
    resting = {"items_on_claims": len(set(list_claimed(table)) & set(kept))}
    figures = resting if any(resting.values()) else {}
    if not selection.worded:
        return ShardOutput(table.take(pa.array(kept, pa.int64())), rejected, taken=table.num_rows, figures=figures)
    # All kept rows were worded: they are taken from the parts of that step, in the order of the drafts.
    sources = sorted({part for part, _ in selection.worded.values()})
    starts: dict[Path, int] = {}
    tables: list[pa.Table] = []
    for source in sources:
        starts[source] = sum(one.num_rows for one in tables)
        tables.append(read_parquet(source, ITEM_SCHEMA))
    places = [starts[part] + place for part, place in (selection.worded[row] for row in kept)]
    return ShardOutput(
        pa.concat_tables(tables).take(pa.array(places, pa.int64())).combine_chunks(),
        rejected,
        taken=table.num_rows,
        figures=figures,
    )


def _read_keys(parts: list[Path]) -> tuple[list[DraftKey], list[int]]:
    keys: list[DraftKey] = []
    counts: list[int] = []
    for part in parts:
        rows = read_columns(part, "id", "topology", "answer", "question")
        counts.append(len(rows))
        keys += [DraftKey(slot, *row) for slot, row in enumerate(rows, start=len(keys))]
    return keys, counts


def write_target_distribution(wanted: SynthesizeParameters) -> str:
    """The parameters of a run that say what its items shall be like, as text."""
    return wanted.model_dump_json(include={"topologies", "min_domains", "coherence", "targets", "claim_share"})


def read_target_distribution(text: str) -> TargetDistribution:
    """What `write_target_distribution` wrote, as the planner takes it."""
    wanted = SynthesizeParameters.model_validate_json(text)
    targets = wanted.targets
    return TargetDistribution(
        topologies={name: targets.topologies.get(name, 1.0) for name in wanted.topologies},
        kinds={str(name): share for name, share in targets.kinds.items()},
        answers={str(name): share for name, share in targets.answers.items()},
        bands={str(name): share for name, share in targets.popularity.items()},
        anchoring={str(name): share for name, share in targets.anchoring.items()},
        difficulty={str(name): share for name, share in targets.difficulty.items()},
        domains={Domain[name.upper()].value: targets.domains.get(name, 1.0) for name in get_args(DomainName)},
        property_share=targets.property_share,
        theme_share=targets.theme_share,
        min_domains=wanted.min_domains,
        min_coherence=wanted.coherence,
        claim_share=wanted.claim_share,
    )


@functools.lru_cache(maxsize=1)
def open_synthesizer(store: Path, seed: int, distribution: str, embeddings: str = "", claims: str = "") -> Synthesizer:
    """The synthesizer of a run in this process; `embeddings` names the sentence-embedding model, if any, `claims` is
    a bank as text.
    """
    return Synthesizer(
        open_graph(store),
        default_table(),
        seed=seed,
        distribution=read_target_distribution(distribution),
        sources=SOURCES,
        likeness=SentenceLikeness() if embeddings else overlap,
        claims=parse_bank(claims),
    )

"""`hopwright show`: items as an expert would read them."""

import hashlib
import heapq
import re
from collections.abc import Iterator, Mapping
from typing import TypeGuard

from rich.rule import Rule
from rich.text import Text

from flows.console.options import pick_run
from flows.console.output import out, print_json
from hopwright.knowledge.external.notes import write_note
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.records import Compute, Hop, Item, Lookup, ReverseLookup
from hopwright.records.arrow import read_items
from hopwright.runs import RunFolder, Stage, list_runs
from hopwright.settings import home

_ITEM_ID = re.compile(r"hw-[0-9a-f]*")
_ID = re.compile(r"\b(?:[PQ]\d+|QX\d+_[0-9a-f]+|hop\d+)\b")
"""Ids of the graph, those of invented entities, and the answers of hops."""


def is_item_id(text: str | None) -> TypeGuard[str]:
    """Whether what is given for a run is an item's id."""
    return text is not None and _ITEM_ID.fullmatch(text) is not None and text not in list_runs(home())


def show_sample(run: str | None, stage: str, sample: int, seed: int, *, as_json: bool) -> None:
    """Print so many items of a stage, drawn evenly over the topologies."""
    source = Stage(RunFolder(home(), pick_run(run, stage)), stage)
    chosen: dict[str, list[tuple[bytes, str, Item]]] = {}
    for item in _read_all(source):
        kept = chosen.setdefault(item.topology, [])
        kept.append((_shuffle(item, seed), item.id, item))
        if len(kept) > 2 * sample:
            kept[:] = heapq.nsmallest(sample, kept)
    items = _take_evenly([[item for _, _, item in sorted(chosen[name])] for name in sorted(chosen)], sample)
    if as_json:
        print_json([item.model_dump(mode="json") for item in items])
        return
    for item in items:
        print_item(item)


def print_item(item: Item) -> None:
    """Print an item with its sub-questions and votes."""
    labels = list_labels(item)
    out.print(Rule(f"{item.id} · {item.topology} · {item.variant}", align="left"))
    out.print(Text(item.question, style="bold"))
    out.print(Text("   ".join(f"{label}) {text}" for label, text in item.options.items())))
    out.print(Text(f"{item.label}) {item.answer}", style="green"))
    for hop in item.hops:
        out.print(_describe_hop(hop, labels))
        for claim in hop.evidence.claims:
            out.print(Text(f"     {write_note(claim)}", style="yellow"))
    if item.votes:
        votes = ", ".join(f"{vote.model} {vote.option}{' (right)' if vote.right else ''}" for vote in item.votes)
        out.print(Text(f"  votes: {votes}", style="dim"))
    out.print()


def list_labels(item: Item) -> dict[str, str]:
    """What an item calls the entities of its evidence and its answers; in a twin, by their invented names."""
    labels: dict[str, str] = {}
    for hop in item.hops:
        labels |= {one.subject: one.subject_label for one in hop.evidence.literals}
        for one in hop.evidence.triplets:
            labels |= {one.subject: one.subject_label, one.object: one.object_label}
    labels |= {hop.answer_id: hop.answer for hop in item.hops if hop.answer_id}
    return labels


def describe_derivation(hop: Hop, labels: Mapping[str, str]) -> str:
    """What is looked up or computed for a hop's answer, with names in the place of ids."""
    derivation = hop.derivation
    if isinstance(derivation, Compute):
        return f"{derivation.kind}: {_name_ids(derivation.expression, labels)}"
    if isinstance(derivation, Lookup):
        return _name_ids(f"{derivation.property} of {derivation.subject}", labels)
    if isinstance(derivation, ReverseLookup):
        conditions = (f"{one.property} is {one.value}" for one in derivation.conditions())
        return _name_ids(f"whose {' and '.join(conditions)}", labels)
    return f"read in {derivation.document}"


def _name_ids(text: str, labels: Mapping[str, str]) -> str:
    """Properties and entities by their labels, as far as the table and the item have them."""
    table = default_table()

    def name(found: re.Match[str]) -> str:
        id = found[0]
        return f"hop {id[3:]}" if id.startswith("hop") else labels.get(id) or table.label(id)

    return _ID.sub(name, text)


def _take_evenly(groups: list[list[Item]], number: int) -> list[Item]:
    """The first so many when each group gives one in turn, group by group as they come."""
    in_turn = [(place, at) for at, group in enumerate(groups) for place in range(len(group))]
    taken = sorted(sorted(in_turn)[:number], key=lambda pair: (pair[1], pair[0]))
    return [groups[at][place] for place, at in taken]


def _read_all(stage: Stage) -> Iterator[Item]:
    for part in stage.parts():
        yield from read_items(part)


def _shuffle(item: Item, seed: int) -> bytes:
    return hashlib.blake2b(f"{seed}:{item.id}".encode()).digest()


def _describe_hop(hop: Hop, labels: Mapping[str, str]) -> Text:
    """The sub-question, and below it, each with its name, what belongs to it."""
    text = Text(f"  {hop.index}. {hop.question}\n     answer: ")
    text.append(hop.answer, style="green")
    wrong = ", ".join(distractor.text for distractor in hop.distractors)
    domain = f"{hop.domain}" if hop.domain else "none"
    lines = [f"wrong options: {wrong}"] if wrong else []
    lines += [f"domain: {domain}", f"derivation: {describe_derivation(hop, labels)}"]
    for line in lines:
        text.append(f"\n     {line}", style="dim")
    return text

"""`hopwright explain`: where an item came from, and everything that a model was asked for it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from flows.console.options import pick_run
from flows.console.output import out, print_json
from flows.console.show import describe_derivation, list_labels, print_item
from hopwright.errors import InputError
from hopwright.knowledge.external.notes import write_note
from hopwright.knowledge.facts import write_literal
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.llm.store import Store
from hopwright.llm.transcripts import Exchange, find_exchanges, read_by_keys, render_transcript
from hopwright.records import Item
from hopwright.runs import RunFolder, list_runs
from hopwright.runs.search import ItemSighting, find_item, list_ids
from hopwright.settings import home

_LEAST_OF_ID = 4
"""Characters of an item's id that are taken for its beginning: `hw-` and one."""
_SHOWN_IDS = 5


def explain_item(id: str, run: str | None, *, as_json: bool) -> None:
    """Print an item's origin and transcript. Raises InputError where no run and no request knows it."""
    if run is not None:
        pick_run(run)
    sightings = search_runs(id, run)
    if not sightings and (whole := _complete_id(id, run)):
        id = whole
        sightings = search_runs(id, run)
    item = next((sighting.item for sighting in reversed(sightings) if sighting.item is not None), None)
    exchanges = read_exchanges(id, item)
    if not sightings and not exchanges:
        where = f"run {run!r}" if run else f"the runs of {home()}"
        raise InputError(f"no item {id!r} in {where}, and no model was asked for one: `hopwright show` prints ids")
    if as_json:
        print_json(gather(id, sightings, item, exchanges))
        return
    if item is not None:
        print_item(item)
    for line in describe_origin(item, exchanges, sightings):
        out.print(Text(line))
    if item is not None:
        _print_plan(item)
    _print_course(sightings)
    if exchanges:
        out.print()
        out.out(render_transcript(exchanges), end="")


def _complete_id(beginning: str, run: str | None) -> str:
    """The one id of an item that begins so; empty where none does. Raises InputError where several do."""
    if len(beginning) < _LEAST_OF_ID:
        return ""
    names = [run] if run else list_runs(home())
    found = sorted({id for name in names for id in list_ids(RunFolder(home(), name), beginning)})
    if len(found) > 1:
        more = f" and {len(found) - _SHOWN_IDS:,} more" if len(found) > _SHOWN_IDS else ""
        raise InputError(f"{len(found):,} items begin with {beginning!r}: {', '.join(found[:_SHOWN_IDS])}{more}")
    return found[0] if found else ""


def search_runs(id: str, run: str | None) -> list[ItemSighting]:
    """The item in the named run, else in the run that began last of those that hold it; all its stages."""
    for name in [run] if run else reversed(list_runs(home())):
        found = find_item(RunFolder(home(), name), id)
        if found:
            return found
    return []


def read_exchanges(id: str, item: Item | None) -> list[Exchange]:
    """What models were asked for the item: requests made in its name, and those that its record lists."""
    path = home() / "llm.sqlite"
    if not path.exists():
        return []
    with Store(path) as store:
        found = find_exchanges(store, id)
        known = {exchange.key for exchange in found}
        listed = item.provenance.request_keys if item is not None else ()
        return [*found, *read_by_keys(store, (key for key in listed if key not in known))]


def describe_origin(
    item: Item | None, exchanges: Sequence[Exchange], sightings: Sequence[ItemSighting] = ()
) -> list[str]:
    """Who made the item and who was asked about it, a line each."""
    if item is None:
        asked = "What models were asked for it follows." if exchanges else "No model was asked for it."
        if sightings:
            return [f"Rejected; of this draft only the reason is kept. {asked}"]
        return [f"No run holds this item. {asked}"]
    made = item.provenance
    if made.generator == "rules":
        lines = ["Made by rules from its plan: no model worded it."]
        if not exchanges:
            lines = ["Made by rules from its plan: no model was asked for it."]
    else:
        prompt = f", prompt {made.prompt} version {made.prompt_version}" if made.prompt else ""
        lines = [
            f"Worded by {made.model} ({made.model_version or 'version unknown'}){prompt}: {made.input_tokens:,} tokens "
            f"in, {made.output_tokens:,} out, {made.cost_usd:.6f} dollars."
        ]
    coherence = next((check.reason for check in item.checks if check.name == "coherence"), "")
    if coherence:
        lines.append(f"Coherence of its plan {coherence}.")
    if made.back_translation:
        lines.append(f"Back-translated by {made.back_translation}.")
    if item.anchor is not None:
        lines.append(
            f"Grown from MuSiQue's question {item.anchor.question_id}, whose answer is {item.anchor.answer} "
            f"({item.anchor.entity})."
        )
    if item.twin:
        lines.append(f"Twin: {item.twin}.")
    lines.append(f"Seed {made.seed}; facts: {', '.join(f'{one.name} ({one.licence})' for one in made.sources) or '–'}.")
    return lines


def gather(
    id: str, sightings: Sequence[ItemSighting], item: Item | None, exchanges: Sequence[Exchange]
) -> dict[str, Any]:
    """All of it, for `--json`."""
    return {
        "id": id,
        "run": sightings[0].run if sightings else None,
        "course": [
            {
                "stage": sighting.stage,
                "outcome": "accepted" if sighting.rejected is None else "rejected",
                "check": sighting.rejected.check if sighting.rejected else "",
                "reason": sighting.rejected.reason if sighting.rejected else "",
            }
            for sighting in sightings
        ],
        "origin": describe_origin(item, exchanges, sightings),
        "item": item.model_dump(mode="json") if item is not None else None,
        "exchanges": [exchange.to_dict() for exchange in exchanges],
        "cost_usd": sum(exchange.cost_usd for exchange in exchanges),
    }


def _print_plan(item: Item) -> None:
    out.print()
    out.print(Text("Plan", style="bold"))
    labels = list_labels(item)
    for hop in item.hops:
        rests = f" (rests on {_list_numbers(hop.depends_on)})" if hop.depends_on else ""
        out.print(Text(f"  {hop.index}. {describe_derivation(hop, labels)} = {hop.answer}{rests}"))
        for fact in hop.evidence.triplets:
            out.print(Text(f"     {fact.subject_label} – {fact.property_label} – {fact.object_label}", style="dim"))
        for literal in hop.evidence.literals:
            value = write_literal(literal, default_table())
            out.print(Text(f"     {literal.subject_label} – {literal.property_label} – {value}", style="dim"))
        for claim in hop.evidence.claims:
            out.print(Text(f"     {write_note(claim)}", style="dim"))
    out.print(Text("Checks", style="bold"))
    passed = [check.name for check in item.checks if check.outcome == "pass"]
    if passed:
        out.print(Text(f"  passed: {', '.join(passed)}"))
    for check in item.checks:
        if check.outcome != "pass" or check.reason:
            out.print(Text(f"  {check.name}: {check.outcome}{f' ({check.reason})' if check.reason else ''}"))
    if not item.checks:
        out.print(Text("  none were run"))


def _print_course(sightings: Sequence[ItemSighting]) -> None:
    if not sightings:
        return
    out.print(Text(f"In run {sightings[0].run}", style="bold"))
    for (stage, outcome), times in Counter((one.stage, _describe_outcome(one)) for one in sightings).items():
        out.print(Text(f"  {stage}: {outcome}{f' ({times} drafts of this plan)' if times > 1 else ''}"))


def _describe_outcome(sighting: ItemSighting) -> str:
    if sighting.rejected is None:
        return "accepted"
    return f"rejected by {sighting.rejected.check}: {sighting.rejected.reason}"


def _list_numbers(numbers: Iterable[int]) -> str:
    return " and ".join(map(str, numbers))

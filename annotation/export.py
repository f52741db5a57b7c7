"""Label Studio task files: one task per item, what a reviewer sees rendered and escaped, corrections pre-filled.

Item text is untrusted (it came from a graph or from a model). The page shows one HTML field, `view`, made by a
template that escapes every text; links are kept only when they lead to http or https.
"""

from __future__ import annotations

import datetime as dt
import functools
import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from label_studio_sdk.label_interface.interface import LabelInterface
from markdown_it import MarkdownIt

from annotation.graph import draw_graph
from annotation.templating import load_template
from hopwright.errors import InputError
from hopwright.records import Compute, Hop, Item, LiteralFact, Lookup
from hopwright.records.values import render
from hopwright.runs.files import explain_os_errors, write_file
from hopwright.synthesis.properties import default_table
from hopwright.synthesis.topologies import topology

Task = dict[str, Any]
"""`data` (what the page shows), and `predictions` (what the form is pre-filled with)."""

INTERFACE = "multi_hop"
_GUIDE_STYLE = " ".join(
    f".hw-guide {rule}"
    for rule in (
        "{ font-size: 14px; line-height: 1.5; }",
        "h1 { font-size: 20px; line-height: 1.4; margin: 0 0 8px; }",
        "h2 { font-size: 16px; line-height: 1.4; margin: 16px 0 6px; }",
        "p, .hw-guide ol, .hw-guide ul { margin: 0 0 8px; }",
        "ol { list-style: decimal; padding-left: 22px; }",
        "ul { list-style: disc; padding-left: 22px; }",
        "li { margin-bottom: 4px; }",
        "table { border-collapse: collapse; font-size: 13px; margin: 0 0 8px; }",
        "th, .hw-guide td { border: 1px solid #c9d0d9; padding: 4px 7px; text-align: left; vertical-align: top; }",
        "code { background: rgba(127, 127, 127, 0.18); border-radius: 3px; padding: 0 4px; }",
    )
)
_MODEL_VERSION = "as generated"
_MARKS = {"pass": "✓", "fail": "✗", "skip": "–"}
_NAME = re.compile(r"\b(?:hop([1-8])|(P[0-9]+))\b")


@dataclass(frozen=True, slots=True)
class ReviewFiles:
    """What `write_tasks` wrote, and how many tasks."""

    tasks: Path
    interface: Path
    instructions: Path
    count: int


@dataclass(frozen=True, slots=True)
class _HopView:
    """A hop as the page shows it."""

    index: int
    question: str
    answer: str
    kind: str
    working: str
    facts: tuple[str, ...]
    url: str
    domain: str
    wrong: tuple[str, ...]
    verify: str


def load_interface(name: str = INTERFACE) -> str:
    """The labelling interface of that name, as XML."""
    return resources.files(__package__).joinpath("interfaces", f"{name}.xml").read_text("utf-8")


def load_instructions(name: str = INTERFACE) -> str:
    """The guidelines of that name, as the HTML that Label Studio shows before labelling."""
    text = resources.files(__package__).joinpath("guidelines", f"{name}.md").read_text("utf-8")
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return f'<div class="hw-guide"><style>{_GUIDE_STYLE}</style>\n{body}</div>\n'


def build_task(item: Item) -> Task:
    """The task of one item. `data.item_id` is ours; `data.content_hash` changes when anything shown changes."""
    data = {
        "item_id": item.id,
        "question": item.question,
        "answer": item.answer,
        "topology": topology(item.topology).motif,
        "variant": item.variant,
        "view": _render(item),
    }
    predictions = [
        {
            "model_version": _MODEL_VERSION,
            "result": [
                _prefill("question_correction", item.question),
                _prefill("answer_correction", item.answer),
            ],
        }
    ]
    content = json.dumps([data, predictions], sort_keys=True, ensure_ascii=False)
    data["content_hash"] = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    return {"data": data, "predictions": predictions}


@functools.cache
def parse_interface(xml: str) -> LabelInterface:
    """The interface, ready to hold tasks against. Raises InputError when Label Studio would not take it."""
    try:
        interface = LabelInterface(xml)
        interface.validate()  # type: ignore[no-untyped-call]
    except Exception as error:  # the SDK raises bare exceptions, and what the XML parser raises
        raise InputError(f"not a labelling interface: {' '.join(str(error).split())[:300]}") from None
    # The SDK accepts an interface whose controls point nowhere; the page would not load.
    shown = {tag.name for tag in interface.objects}
    lost = [control.name for control in interface.controls if not set(control.to_name or ()) <= shown]
    if lost or not shown:
        raise InputError(f"not a labelling interface: control {lost[0] if lost else '(none)'} shows nothing")
    return interface


def check_task(task: Task, interface: LabelInterface) -> None:
    """Hold a task against an interface. Raises InputError naming the item and what does not fit."""
    # The SDK cannot validate a task together with its predictions, so each is held against the interface alone.
    problems = (
        [] if interface.validate_task(cast(Any, {"data": task["data"]})) else ["a field of the interface is missing"]
    )
    for prediction in task["predictions"]:
        problems += interface.validate_prediction(prediction, return_errors=True)  # type: ignore[no-untyped-call]
    if problems:
        raise InputError(f"task of item {task['data'].get('item_id')} does not fit the interface: {problems[0]}")


def write_tasks(items: Iterable[Item], folder: Path) -> ReviewFiles:
    """Write `tasks.json`, `interface.xml` and `instructions.html`, each whole or not at all.

    One item is in memory at a time, and every task is held against the interface. Raises InputError for one that
    does not fit, RunError when the folder cannot be written.
    """
    tasks, interface, instructions = (folder / name for name in ("tasks.json", "interface.xml", "instructions.html"))
    aside = folder / f".tasks.json.{os.getpid()}.tmp"
    form = parse_interface(load_interface())
    count = 0
    with explain_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with aside.open("w", encoding="utf-8", newline="\n") as file:
                for item in items:
                    task = build_task(item)
                    check_task(task, form)
                    file.write(("[\n", ",\n")[count > 0] + json.dumps(task, ensure_ascii=False))
                    count += 1
                file.write("\n]\n" if count else "[]\n")
                file.flush()
                os.fsync(file.fileno())
            aside.replace(tasks)
        finally:
            aside.unlink(missing_ok=True)
    write_file(interface, load_interface().encode())
    write_file(instructions, load_instructions().encode())
    return ReviewFiles(tasks, interface, instructions, count)


def _prefill(name: str, text: str) -> dict[str, Any]:
    return {
        "id": name,
        "from_name": name,
        "to_name": "item",
        "type": "textarea",
        "value": {"text": [text]},
    }


def _render(item: Item) -> str:
    return load_template("item.html.j2").render(
        item=item,
        motif=topology(item.topology).motif,
        domains=len(item.domains),
        graph=draw_graph(item),
        hops=[_view_hop(hop, item) for hop in item.hops],
        marks=_MARKS,
        passed=[check.name for check in item.checks if check.outcome == "pass"],
        right=sum(vote.right for vote in item.votes),
    )


def _view_hop(hop: Hop, item: Item) -> _HopView:
    facts = [f"{one.subject_label} — {one.property_label} → {one.object_label}" for one in hop.evidence.triplets]
    facts += [f"{one.subject_label} — {one.property_label}: {_show_literal(one)}" for one in hop.evidence.literals]
    kind, working = "reverse look-up", ""
    if isinstance(hop.derivation, Lookup):
        kind = "look-up"
    elif isinstance(hop.derivation, Compute):
        kind, working = hop.derivation.kind, f"{_spell_out(hop.derivation.expression, item)} = {hop.answer}"
    return _HopView(
        index=hop.index,
        question=hop.question,
        answer=hop.answer,
        kind=kind,
        working=working,
        facts=tuple(facts),
        url=_keep_web_address(hop.evidence.wikipedia_url),
        domain=hop.domain.value,
        wrong=tuple(distractor.text for distractor in hop.distractors),
        verify=hop.verify,
    )


def _spell_out(expression: str, item: Item) -> str:
    """The expression with answers for hops and labels for properties: `2000 - 1905`."""
    answers = {str(hop.index): hop.answer for hop in item.hops}
    table = default_table()
    return _NAME.sub(lambda match: answers.get(match[1], match[0]) if match[1] else table.label(match[2]), expression)


def _show_literal(fact: LiteralFact) -> str:
    """A literal in its property's own unit, as answers are written; one that the table does not know, as stored."""
    table = default_table()
    value = table.normalise(fact.property, fact.value, fact.datatype)
    if value is None:
        return fact.value
    kind = table.literal[fact.property]
    if isinstance(value, dt.date) and kind.value == "year":
        return render(value.year, year=True)
    return f"{render(value)} {kind.unit}".rstrip()


def _keep_web_address(url: str) -> str:
    """The address if it leads to the web, else nothing: `javascript:` and the like are dropped."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.netloc else ""

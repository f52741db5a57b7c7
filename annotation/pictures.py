"""Questions about pictures → Label Studio tasks: the pictures themselves, the question, its hops and its facts."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.export import find_hop_article, list_facts, prefill, view_hop
from annotation.forms import Task, check_task, load_picture_interface, parse_interface
from annotation.schema import FIX_ANSWER, FIX_OPTIONS, FIX_QUESTION, PREFILLED
from hopwright.foreign import drop_controls
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.rows import list_media, name_kind, read_text
from hopwright.records import Hop, Item, ReadRegion
from hopwright.reporting.rendering import load_template
from hopwright.runs.files import write_file


def write_picture_tasks(found: PictureSet, items: Sequence[Item], folder: Path) -> int:
    """Write `interface.xml` and `tasks.json`, to be imported into a project; returns the number of tasks.

    Every task is held against the interface first. Raises InputError for one that does not fit.
    """
    xml = load_picture_interface()
    interface = parse_interface(xml)
    tasks = [build_picture_task(item, found) for item in items]
    for task in tasks:
        check_task(task, interface)
    write_file(folder / "interface.xml", f"{xml}\n".encode())
    write_file(folder / "tasks.json", (json.dumps(tasks, ensure_ascii=False) + "\n").encode())
    return len(tasks)


def build_picture_task(item: Item, found: PictureSet) -> Task:
    """One task. The pictures travel in it, so that no server has to be told where they lie.

    `data.item_hash` changes when anything that is shown or pre-filled changes.
    """
    media = list_media(item)
    question = read_text(item.question_parts)
    texts = {FIX_QUESTION: question, FIX_ANSWER: item.answer}
    texts |= {FIX_OPTIONS[label]: text for label, text in item.options.items()}
    texts = {name: drop_controls(text) for name, text in texts.items()}
    data: dict[str, Any] = {
        "item_id": item.id,
        "kind": "picture",
        "question": texts[FIX_QUESTION],
        "answer": texts[FIX_ANSWER],
        "topology": item.topology,
        "variant": item.variant,
        "pictures": [_write_url(found.read_png(one)) for one in media],
        "item_html": drop_controls(_render(item, question, [found.pictures.get(one, {}) for one in media])),
    }
    predictions = [{"model_version": PREFILLED, "result": [prefill(name, text) for name, text in texts.items()]}]
    content = json.dumps([data, predictions], sort_keys=True, ensure_ascii=False)
    data["item_hash"] = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    return {"data": data, "predictions": predictions}


def _render(item: Item, question: str, pictures: Sequence[Mapping[str, str]]) -> str:
    return load_template("annotation", "picture.html.j2").render(
        item=item,
        kind=name_kind(item),
        question=question,
        hops=[_view(hop, item) for hop in item.hops],
        pictures=[{name: one.get(name, "") for name in ("label", "licence", "author")} for one in pictures],
    )


def _view(hop: Hop, item: Item) -> Any:
    """A hop as the page shows it; of a picture's hop the facts are none, and its question has no picture in it."""
    asked = hop.model_copy(update={"question": read_text(hop.question_parts) or hop.question, "question_parts": ()})
    if isinstance(hop.derivation, ReadRegion):
        return {
            "index": hop.index, "question": asked.question, "answer": hop.answer, "kind": f"image {hop.index}",
            "working": (), "working_line": "", "facts": list_facts(hop), "url": find_hop_article(hop),
            "domain": str(hop.domain or ""), "verify": "", "sources": (),
        }  # fmt: skip
    return view_hop(asked, item)


def _write_url(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"

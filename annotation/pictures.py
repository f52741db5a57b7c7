"""Questions about pictures → Label Studio tasks: the pictures themselves, the question, its hops and its facts."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.export import find_hop_article, list_facts, say_checks, seal_task, view_hop, write_tasks
from annotation.forms import Task, load_picture_instructions, load_picture_interface
from annotation.schema import BLIND_HTML, FIX_ANSWER, FIX_OPTIONS, FIX_QUESTION
from hopwright.foreign import drop_controls
from hopwright.knowledge.images.rendering import decode_png
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.rows import list_media, name_kind, read_text
from hopwright.records import Hop, Item, ReadRegion
from hopwright.reporting.rendering import load_template
from hopwright.runs.files import write_file
from hopwright.text.phrases import ORDINALS

_IMAGE = re.compile(r"\b[Tt]h(?:e|is) (?:image|picture)\b")


def write_picture_tasks(found: PictureSet, items: Sequence[Item], folder: Path, *, blind: bool = False) -> int:
    """Write `interface.xml`, `instructions.html` and `tasks.json`, for a project; returns the number of tasks.

    `blind` tasks are answered before they are verified. Every task is held against the interface first. Raises
    InputError for one that does not fit.
    """
    xml = load_picture_interface(blind=blind)
    tasks = [build_picture_task(item, found, blind=blind) for item in items]
    written = write_tasks(xml, tasks, folder)
    write_file(folder / "instructions.html", load_picture_instructions(blind=blind).encode())
    return written


def build_picture_task(item: Item, found: PictureSet, *, blind: bool = False) -> Task:
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
        "pictures_html": _render_pictures([found.read_png(one) for one in media]),
        "item_html": drop_controls(_render(item, question, [found.pictures.get(one, {}) for one in media])),
    }
    if blind:
        data[BLIND_HTML] = drop_controls(_render_blind(item, question))
    return seal_task(data, texts)


def _render(item: Item, question: str, pictures: Sequence[Mapping[str, str]]) -> str:
    return load_template("annotation", "picture.html.j2").render(
        item=item,
        kind=name_kind(item),
        question=question,
        hops=[_view(hop, item) for hop in item.hops],
        checks=say_checks(item.checks, item),
        pictures=[
            {name: one.get(name, "") for name in ("label", "licence", "author")}
            | {"name": _name_image(place, len(pictures))}
            for place, one in enumerate(pictures, start=1)
        ],
    )


def _render_blind(item: Item, question: str) -> str:
    return load_template("annotation", "blind.html.j2").render(
        item=item, place=name_kind(item), question=question, options=item.options, facts=[], passages=[]
    )


def _view(hop: Hop, item: Item) -> Any:
    """A hop as the page shows it; of a picture's hop the facts are none, and its question has no picture in it."""
    asked = hop.model_copy(update={"question": read_text(hop.question_parts) or hop.question, "question_parts": ()})
    if isinstance(hop.derivation, ReadRegion):
        name = _name_image(hop.index, len(list_media(item)))
        return {
            "index": hop.index, "question": _say_which(asked.question, name), "answer": hop.answer, "kind": name,
            "working": (), "working_line": "", "facts": list_facts(hop, item), "read": "",
            "url": find_hop_article(hop), "domain": str(hop.domain or ""), "verify": "", "sources": (),
        }  # fmt: skip
    return view_hop(asked, item)


def _say_which(question: str, name: str) -> str:
    """A picture's question, which is asked with this picture alone, where several stand on one page."""
    if name == "image":
        return question
    said, changed = _IMAGE.subn(f"the {name}", question, count=1)
    return said if changed else f"{question} ({name})"


def _render_pictures(pngs: Sequence[bytes]) -> str:
    shown = []
    for place, png in enumerate(pngs, start=1):
        width, height = decode_png(png).size
        shown.append(
            {"url": _write_url(png), "width": width, "height": height, "name": _name_image(place, len(pngs))}
        )
    return load_template("annotation", "pictures.html.j2").render(pictures=shown)


def _name_image(place: int, number: int) -> str:
    """`first image`; of a single one `image`."""
    return f"{ORDINALS[place - 1]} image" if number > 1 else "image"


def _write_url(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"

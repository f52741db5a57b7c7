"""The labelling interfaces and the guidelines, as Label Studio takes them."""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any, cast

from markdown_it import MarkdownIt

from annotation.keys import KEYS, SCORE_KEYS
from annotation.schema import (
    CRITERIA,
    ERRORS_CONTROL,
    ITEM,
    OWN_ANSWER,
    REVIEWED,
    TITLES,
    ReviewTaskKind,
    criteria_of,
)
from hopwright.errors import InputError
from hopwright.reporting.rendering import load_template

if TYPE_CHECKING:
    from label_studio_sdk.label_interface.interface import LabelInterface

Task = dict[str, Any]
"""`data` (what the page shows), and `predictions` (what the form is pre-filled with)."""

_GUIDE_STYLE = " ".join(
    f".hw-guide {rule}"
    for rule in (
        "{ font-size: 14px; line-height: 1.5; }",
        "h1 { font-size: 20px; line-height: 1.4; margin: 0 0 8px; }",
        "h2 { font-size: 16px; line-height: 1.4; margin: 16px 0 6px; }",
        "h3 { font-size: 14px; line-height: 1.4; margin: 12px 0 4px; font-weight: 700; }",
        "p, .hw-guide ol, .hw-guide ul { margin: 0 0 8px; }",
        "ol { list-style: decimal; padding-left: 22px; }",
        "ul { list-style: disc; padding-left: 22px; }",
        "li { margin-bottom: 4px; }",
        "table { border-collapse: collapse; font-size: 13px; margin: 0 0 8px; }",
        "th, .hw-guide td { border: 1px solid #c9d0d9; padding: 4px 7px; text-align: left; vertical-align: top; }",
        "code { background: rgba(127, 127, 127, 0.18); border-radius: 3px; padding: 0 4px; }",
    )
)
_DOCUMENT_ERRORS = {"Wrong character meant": "Wrong entity meant", "Name overlooked": "Not in the passages"}
"""What may be wrong with a question about a novel → what may be with one over documents in its place."""
_GROUP = "hw-of-"
_ALWAYS = "hw-shown"
"""What a blind interface shows beside its question, too."""


@functools.cache
def load_interface(kind: ReviewTaskKind, of: ReviewTaskKind | None = None, *, blind: bool = False) -> str:
    """The labelling interface of a kind, as XML with its styles; an adjudication's rates what `of` is rated by.

    A `blind` one asks for the annotator's own answer and shows the item and the form only then.
    Raises InputError for an adjudication of nothing, and for a blind one.
    """
    if blind and kind is ReviewTaskKind.ADJUDICATION:
        raise InputError("an adjudication cannot be blind: it shows what others answered")
    if (kind is ReviewTaskKind.ADJUDICATION) != (of is not None) or (of is not None and of not in CRITERIA):
        raise InputError("an adjudication settles single_hop, multi_hop or twin tasks, and only an adjudication does")
    folder = resources.files(__package__).joinpath("interfaces")
    root = ET.fromstring(folder.joinpath(f"{kind}.xml").read_text("utf-8"))
    if blind:
        _put_question_first(root, ET.fromstring(folder.joinpath("blind.xml").read_text("utf-8")))
    unwanted = {_GROUP + other for other in REVIEWED if other is not of}
    for parent in list(root.iter()):
        for child in list(parent):
            if child.get("className") in unwanted:
                parent.remove(child)
    return _fill(root, criteria_of(kind, of))


@functools.cache
def load_picture_interface(*, blind: bool = False) -> str:
    """The interface of a question about pictures: that of a whole question, with its pictures above it.

    See `load_interface`; a `blind` one shows the pictures from the first.
    """
    folder = resources.files(__package__).joinpath("interfaces")
    root = ET.fromstring(folder.joinpath("picture.xml").read_text("utf-8"))
    if blind:
        _put_question_first(root, ET.fromstring(folder.joinpath("blind.xml").read_text("utf-8")))
    return _fill(root, CRITERIA[ReviewTaskKind.MULTI_HOP])


@functools.cache
def load_novel_interface() -> str:
    """The interface of a question about a novel: that of a whole question without options, with its paragraphs."""
    folder = resources.files(__package__).joinpath("interfaces")
    root = ET.fromstring(folder.joinpath("novel.xml").read_text("utf-8"))
    return _fill(root, CRITERIA[ReviewTaskKind.MULTI_HOP])


@functools.cache
def load_document_interface() -> str:
    """The interface of a question over documents: that of one about a novel, with the errors of passages."""
    folder = resources.files(__package__).joinpath("interfaces")
    root = ET.fromstring(folder.joinpath("novel.xml").read_text("utf-8"))
    for choice in root.iter("Choice"):
        choice.set("value", _DOCUMENT_ERRORS.get(choice.attrib["value"], choice.attrib["value"]))
    return _fill(root, CRITERIA[ReviewTaskKind.MULTI_HOP])


def _fill(root: ET.Element, criteria: Sequence[str]) -> str:
    """The interface with its styles, keys and scores, as the server keeps it; a tag without a key gets none."""
    folder = resources.files(__package__).joinpath("interfaces")
    for style in root.iter("Style"):
        style.text = "\n" + folder.joinpath("style.css").read_text("utf-8")
    for choice in root.iter("Choice"):
        if key := KEYS.get(choice.attrib["value"]):
            choice.set("hotkey", key)
    for parent in list(root.iter()):
        for place, child in reversed(list(enumerate(parent))):
            if child.tag == "Scores":
                parent[place : place + 1] = _make_score_rows(criteria)
    return ET.tostring(root, encoding="unicode").strip()


def _put_question_first(root: ET.Element, ask: ET.Element) -> None:
    """Make what an interface shows wait for the annotator's own answer; pictures do not."""
    pictures = []
    for parent in list(root.iter()):
        for child in list(parent):
            if child.get("className") == _ALWAYS:
                parent.remove(child)
                pictures.append(child)
    style, *shown = list(root)
    revealed = ET.Element(
        "View", {"className": "hw-revealed", "visibleWhen": "choice-selected", "whenTagName": OWN_ANSWER}
    )
    revealed.extend(shown)
    root[:] = [style, *pictures, ask, revealed]
    root.set("className", f"{root.attrib['className']} hw-blind")


def _make_score_rows(criteria: Sequence[str]) -> list[ET.Element]:
    """A row for each criterion: its name, and the scores 1 to 5, each with its key."""
    rows = []
    for name, keys in zip(criteria, SCORE_KEYS, strict=False):
        row = ET.Element("View", {"className": "hw-row"})
        ET.SubElement(row, "Header", {"value": TITLES[name], "size": "6"})
        missing = f"Score every criterion: {TITLES[name]} is missing."
        scores = ET.SubElement(
            row,
            "Choices",
            {"name": name, "toName": ITEM, "choice": "single-radio", "showInline": "true", "required": "true",
             "requiredMessage": missing},
        )  # fmt: skip
        for score, key in enumerate(keys, start=1):
            ET.SubElement(scores, "Choice", {"value": str(score), "hotkey": key})
        rows.append(row)
    return rows


@functools.cache
def load_instructions(kind: ReviewTaskKind, *, blind: bool = False) -> str:
    """The guidelines of a kind, as the HTML that Label Studio shows before labelling and under *Instructions*."""
    tags = [] if kind is ReviewTaskKind.ADJUDICATION else _list_tags(load_interface(kind))
    return _write_instructions(kind.value, tags, blind=blind, lookup=kind is not ReviewTaskKind.TWIN)


@functools.cache
def load_picture_instructions(*, blind: bool = False) -> str:
    """The guidelines for questions about pictures, as `load_instructions` gives those of a kind."""
    return _write_instructions("picture", _list_tags(load_picture_interface()), blind=blind, lookup=True)


def _write_instructions(name: str, tags: Sequence[str], *, blind: bool, lookup: bool) -> str:
    text = load_template("annotation", f"{name}.md", "guidelines").render(
        keys=KEYS, rows=SCORE_KEYS, tags=tags, blind=blind, lookup=lookup
    )
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    return f'<div class="hw-guide"><style>{_GUIDE_STYLE}</style>\n{body}</div>\n'


def _list_tags(interface: str) -> list[str]:
    """The error tags of an interface, in the order of the page."""
    choices = ET.fromstring(interface).findall(f".//Choices[@name='{ERRORS_CONTROL}']/Choice")
    return [choice.attrib["value"] for choice in choices]


@functools.cache
def parse_interface(xml: str) -> LabelInterface:
    """The interface, ready to hold tasks against. Raises InputError when Label Studio would not take it."""
    # The SDK takes a second to import, and who only says where the tasks lie has no use for it.
    from label_studio_sdk.label_interface.interface import LabelInterface

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

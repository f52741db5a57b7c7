"""The interfaces and the module that names their parts say the same."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from annotation.forms import (
    load_instructions,
    load_interface,
    load_novel_interface,
    load_picture_instructions,
    load_picture_interface,
    parse_interface,
)
from annotation.keys import KEYS, SCORE_KEYS
from annotation.schema import (
    BLIND,
    COMMENT,
    COMPUTATION,
    CRITERIA,
    ERRORS_CONTROL,
    FIXES,
    ITEM,
    OWN_ANSWER,
    OWN_ANSWERS,
    OWN_WORDS,
    REVIEWED,
    SOURCE_URL,
    TITLES,
    VERDICT,
    VERDICTS,
    ReviewTaskKind,
    criteria_of,
    key_of,
    split_key,
    task_key,
)
from hopwright.errors import InputError
from tests.annotation.tags import ERRORS, PICTURE_ERRORS

FORMS = [(kind, None) for kind in REVIEWED] + [(ReviewTaskKind.ADJUDICATION, kind) for kind in REVIEWED]


@pytest.mark.parametrize(("kind", "of"), FORMS)
def test_an_interface_has_the_controls_of_its_kind_and_no_others(
    kind: ReviewTaskKind, of: ReviewTaskKind | None
) -> None:
    form = parse_interface(load_interface(kind, of))
    controls = {control.name: control for control in form.controls}
    texts = {name for name, one in controls.items() if one.tag == "TextArea"}
    assert texts == {*FIXES, *((COMMENT,) if of else (COMPUTATION, SOURCE_URL, COMMENT))}
    assert list(controls[VERDICT].labels) == list(VERDICTS)
    assert controls.keys() == texts | set(criteria_of(kind, of)) | {VERDICT} | (set() if of else {ERRORS_CONTROL})
    assert all(list(controls[name].labels) == list("12345") for name in criteria_of(kind, of))
    assert all(control.to_name == [ITEM] for control in controls.values())
    if of is None:
        assert list(controls[ERRORS_CONTROL].labels) == list(ERRORS[kind])
    assert len(controls) == len(form.controls), "a name is used twice"


@pytest.mark.parametrize(("kind", "of"), FORMS)
def test_every_key_of_an_interface_does_one_thing(kind: ReviewTaskKind, of: ReviewTaskKind | None) -> None:
    keys = re.findall(r'hotkey="([^"]+)"', load_interface(kind, of))
    assert len(keys) == len(set(keys)) == 3 + 5 * len(criteria_of(kind, of)) + (0 if of else len(ERRORS[kind]))


def test_a_key_means_the_same_in_every_interface_and_the_guidelines_say_it() -> None:
    meanings: dict[str, set[str]] = {}
    interfaces = [load_interface(kind, of) for kind, of in FORMS] + [
        load_interface(one, blind=True) for one in REVIEWED
    ]
    interfaces += [load_picture_interface(), load_picture_interface(blind=True), load_novel_interface()]
    for interface in interfaces:
        for choice in ET.fromstring(interface).iter("Choice"):
            meanings.setdefault(choice.attrib["hotkey"], set()).add(choice.attrib["value"])
    assert all(len(found) == 1 for found in meanings.values()), meanings
    named = {next(iter(found)): key for key, found in meanings.items() if not found & set("12345")}
    assert named == KEYS
    for row in SCORE_KEYS:  # a row of the keyboard is a row of the page, a column a score
        assert [meanings[key] for key in row] == [{str(score)} for score in range(1, 6)]
    for kind in REVIEWED:
        for tag in ERRORS[kind]:
            assert f"<code>{KEYS[tag]}</code> {tag.lower()}" in load_instructions(kind)
    for tag in PICTURE_ERRORS:
        assert f"<code>{KEYS[tag]}</code> {tag.lower()}" in load_picture_instructions()


@pytest.mark.parametrize("blind", [False, True])
def test_every_choice_about_pictures_has_a_key_of_its_own(blind: bool) -> None:
    """Label Studio numbers what has none, and the numbers are scores and own answers."""
    choices = list(ET.fromstring(load_picture_interface(blind=blind)).iter("Choice"))
    keys = [choice.attrib["hotkey"] for choice in choices]
    assert len(keys) == len(set(keys))
    form = parse_interface(load_picture_interface(blind=blind))
    (errors,) = (control for control in form.controls if control.name == ERRORS_CONTROL)
    assert tuple(errors.labels) == PICTURE_ERRORS


def test_a_blind_interface_shows_the_pictures_with_the_question() -> None:
    root = ET.fromstring(load_picture_interface(blind=True))
    revealed = next(view for view in root if view.get("className") == "hw-revealed")
    names = [one.get("name") for one in root.iter("HyperText")]
    assert names == ["pictures", BLIND, ITEM]
    assert [one.get("name") for one in revealed.iter("HyperText")] == [ITEM]


def test_the_guideline_for_pictures_explains_what_it_names() -> None:
    html = load_picture_instructions()
    criteria = CRITERIA[ReviewTaskKind.MULTI_HOP]
    assert len(re.findall(r"<h2>\d ", html)) == html.count("Four steps:") == len(criteria)
    for number, name in enumerate(criteria, 1):
        assert f"<h2>{number} {TITLES[name].split(',')[0]}" in html
    assert set(re.findall(r"[Tt]ag <em>([^<]+)</em>", html)) <= set(PICTURE_ERRORS)
    assert "{{" not in html and "{%" not in html
    assert "<h2>Answer first</h2>" in load_picture_instructions(blind=True)


@pytest.mark.parametrize("kind", REVIEWED)
def test_what_is_retained_can_have_no_error_tag(kind: ReviewTaskKind) -> None:
    # The condition stands on the control itself: Label Studio sends what a hidden parent holds.
    (errors,) = ET.fromstring(load_interface(kind)).findall(f".//Choices[@name='{ERRORS_CONTROL}']")
    assert (errors.get("visibleWhen"), errors.get("whenTagName")) == ("choice-selected", VERDICT)
    assert errors.attrib["whenChoiceValue"].split(",") == ["Fix", "Discard"]


@pytest.mark.parametrize(("kind", "of"), FORMS)
def test_verdict_and_scores_are_demanded(kind: ReviewTaskKind, of: ReviewTaskKind | None) -> None:
    required = re.findall(r'<Choices name="(\w+)"[^>]*required="true"', load_interface(kind, of))
    assert set(required) == {VERDICT, *criteria_of(kind, of)}


@pytest.mark.parametrize("kind", REVIEWED)
def test_a_blind_interface_shows_its_item_and_form_only_after_an_answer(kind: ReviewTaskKind) -> None:
    form = parse_interface(load_interface(kind, blind=True))
    controls = {control.name: control for control in form.controls}
    open_controls = {control.name for control in parse_interface(load_interface(kind)).controls}
    assert controls.keys() == open_controls | {OWN_ANSWER, OWN_WORDS}
    assert list(controls[OWN_ANSWER].labels) == list(OWN_ANSWERS)
    assert {name for name, control in controls.items() if control.to_name == [BLIND]} == {OWN_ANSWER, OWN_WORDS}
    root = ET.fromstring(load_interface(kind, blind=True))
    (revealed,) = (view for view in root if view.get("className") == "hw-revealed")
    assert (revealed.get("visibleWhen"), revealed.get("whenTagName")) == ("choice-selected", OWN_ANSWER)
    inside = {one.get("name") for one in revealed.iter() if one.get("name")}
    assert inside == open_controls | {ITEM}
    keys = re.findall(r'hotkey="([^"]+)"', load_interface(kind, blind=True))
    assert len(keys) == len(set(keys))
    assert re.search(rf'name="{OWN_ANSWER}"[^>]*required="true"', load_interface(kind, blind=True))
    instructions = load_instructions(kind, blind=True)
    assert "<h2>Answer first</h2>" in instructions
    assert all(f"<code>{KEYS[answer]}</code>" in instructions for answer in OWN_ANSWERS)
    assert "Answer first" not in load_instructions(kind)


def test_the_styles_survive_xml() -> None:
    """Label Studio does not decode what XML escapes within a style."""
    for kind, of in FORMS:
        (style,) = ET.fromstring(load_interface(kind, of)).iter("Style")
        assert not set("<>&") & set(style.text or "")


def test_an_adjudication_cannot_be_blind() -> None:
    with pytest.raises(InputError, match="cannot be blind"):
        load_interface(ReviewTaskKind.ADJUDICATION, ReviewTaskKind.TWIN, blind=True)


def test_only_an_adjudication_settles_something() -> None:
    for kind, of in (
        (ReviewTaskKind.ADJUDICATION, None),
        (ReviewTaskKind.ADJUDICATION, ReviewTaskKind.ADJUDICATION),
        (ReviewTaskKind.TWIN, ReviewTaskKind.TWIN),
    ):
        with pytest.raises(InputError, match="settles"):
            load_interface(kind, of)
    with pytest.raises(InputError, match="say which"):
        criteria_of(ReviewTaskKind.ADJUDICATION)


@pytest.mark.parametrize("kind", REVIEWED)
def test_guidelines_explain_every_criterion_score_verdict_and_tag_they_name(kind: ReviewTaskKind) -> None:
    html = load_instructions(kind)
    assert len(re.findall(r"<h2>\d ", html)) == len(CRITERIA[kind])
    for number, name in enumerate(CRITERIA[kind], 1):
        assert f"<h2>{number} {TITLES[name].split(',')[0]}" in html
    for score in range(1, 6):
        assert html.count(f"<td>{score}</td>") == len(CRITERIA[kind])
    assert html.count("Four steps:") == len(CRITERIA[kind])
    for verdict in VERDICTS:
        assert f"<strong>{verdict}</strong>" in html
    tags = re.findall(r"[Tt]ag <em>([^<]+)</em>", html)
    assert tags
    assert set(tags) <= set(ERRORS[kind])
    assert "{{" not in html
    assert "{%" not in html


def test_keys_name_tasks_and_are_read_back() -> None:
    assert task_key("hw-1", 3) == "hw-1#3"
    assert split_key("hw-1#3") == ("hw-1", 3)
    assert split_key("hw-1") == ("hw-1", None)
    assert key_of({"item_id": "hw-1", "hop": 2}) == "hw-1#2"
    assert key_of({"item_id": "hw-1"}) == "hw-1"
    assert key_of({"text": "somebody else's task"}) is None

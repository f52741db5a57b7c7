"""The pages of picture tasks, as their templates write them."""

from __future__ import annotations

import html
import re

from PIL import Image

from annotation.forms import check_task, load_picture_interface, parse_interface
from annotation.pictures import build_picture_task
from annotation.schema import BLIND_HTML
from hopwright.pictures.contact_sheet import draw_contact_sheet
from hopwright.pictures.dataset import PictureSet
from hopwright.pictures.rows import list_media
from tests.annotation.test_working import CODE


def test_a_page_says_which_image_a_hop_is_about(small_set: PictureSet) -> None:
    for item in small_set.of_split("all"):
        data = build_picture_task(item, small_set)["data"]
        names = re.findall(r'aria-label="([^"]+)"', data["pictures_html"])
        assert names == [
            "image" if len(list_media(item)) == 1 else f"{ordinal} image"
            for ordinal, _ in zip(("first", "second", "third"), list_media(item), strict=False)
        ]
        asked = [re.sub(r"<[^>]+>", "", one) for one in re.findall(r'hw-text">(.*?)</span>', data["item_html"])]
        assert all(f"the {name}" in asked[place] for place, name in enumerate(names))
        assert data["item_html"].index("machine check") < data["item_html"].index("<th>licence</th>")


def test_an_answer_without_options_is_stated(small_set: PictureSet) -> None:
    items = small_set.of_split("all")
    assert {bool(item.options) for item in items} == {True, False}
    for item in items:
        page = build_picture_task(item, small_set)["data"]["item_html"]
        assert page.count("stated as right") == 1
        assert ("hw-options" in page) == bool(item.options)


def test_the_pictures_of_a_page_and_of_a_sheet_have_a_line_around() -> None:
    """A flag that is white at its edge would have no edge on a white page."""
    assert re.search(r"\.hw-picture svg {[^}]*border: 1px solid", load_picture_interface())
    sheet = draw_contact_sheet([Image.new("RGB", (90, 60), "white")])
    colours = {sheet.getpixel((left, 60)) for left in range(sheet.width)}
    assert len(colours) == 3


def test_what_is_shown_first_has_no_answer(small_set: PictureSet) -> None:
    interface = parse_interface(load_picture_interface(blind=True))
    for item in small_set.of_split("all"):
        task = build_picture_task(item, small_set, blind=True)
        check_task(task, interface)
        other = item.model_copy(update={"answer": "Xyzzyville", "label": None, "hops": item.hops})
        assert build_picture_task(other, small_set, blind=True)["data"][BLIND_HTML] == task["data"][BLIND_HTML]
        assert "stated as right" not in task["data"][BLIND_HTML]
        assert all(option in html.unescape(task["data"][BLIND_HTML]) for option in item.options.values())


def test_no_fact_is_told_twice_on_a_page_and_no_line_shows_code(small_set: PictureSet) -> None:
    counted = 0
    for item in small_set.of_split("all"):
        page = build_picture_task(item, small_set)["data"]["item_html"]
        facts = re.findall(r'hw-fact"><bdi>(.*?)</bdi>', page)
        assert len(set(facts)) == len(facts)
        lines = [html.unescape(line) for line in re.findall(r'hw-inline"><bdi>(.*?)</bdi>', page)]
        assert not [line for line in lines if CODE.search(line)]
        counted += sum(line.startswith("number of countries that share a land border with") for line in lines)
        assert "inception" not in page
    assert counted > 1

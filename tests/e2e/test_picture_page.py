"""The page of a picture task in a real browser: what a reviewer sees of the pictures, the question and its hops."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from annotation.pictures import write_picture_tasks
from hopwright.pictures.dataset import PictureSet, read_picture_set, write_picture_set
from hopwright.pictures.rows import list_media, read_text
from hopwright.settings import PictureQuestionsParameters
from tests.e2e.label_studio import LiveServer
from tests.e2e.review_pages import (
    LogIn,
    answer_blind,
    assert_fits,
    choose_verdict,
    keep_screenshot,
    measure,
    open_browser,
    open_task,
)
from tests.pictures.conftest import source as source
from tests.pictures.painted import build_painted_store, open_drafter

pytestmark = [pytest.mark.e2e, pytest.mark.servers]
_COLOURS = 20
"""A painted flag has more colours than a page without pictures has in so small a place."""


@pytest.fixture(scope="module")
def log_in(label_studio: LiveServer) -> Iterator[LogIn]:
    """Opens a page for whoever logs in."""
    with open_browser(label_studio) as log_in:
        yield log_in


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, source: Any) -> PictureSet:
    folder = tmp_path_factory.mktemp("pictures")
    drafter = open_drafter(build_painted_store(folder, source), source)
    parameters = PictureQuestionsParameters(items=16, twins=False)
    write_picture_set(drafter, folder / "set", parameters, lambda _: None)
    return read_picture_set(folder / "set")


def test_a_reviewer_sees_the_pictures_and_the_question(
    label_studio: LiveServer, log_in: LogIn, found: PictureSet, tmp_path: Path
) -> None:
    items = found.of_split("all")
    chosen = [next(item for item in items if len(list_media(item)) == number) for number in (1, 2)]
    write_picture_tasks(found, chosen, tmp_path)
    client = label_studio.client
    project = client.projects.create(title="Pictures", label_config=(tmp_path / "interface.xml").read_text()).id
    client.projects.import_tasks(id=project, request=json.loads((tmp_path / "tasks.json").read_text()))
    page = log_in(label_studio.email, label_studio.password)
    tasks = label_studio.tasks(project)
    for item in chosen:
        open_task(page, label_studio, project, tasks[item.id].id)
        places = look_at_pictures(page, len(list_media(item)))
        assert len({place["top"] for place in places}) == 1, "several pictures stand side by side"
        left = page.locator(".hw-left").inner_text()
        assert read_text(item.question_parts) in page.locator(".hw-question").first.inner_text()
        assert item.hops[-1].answer in left
        assert_fits(page)
        keep_screenshot(page, f"review-picture-{len(list_media(item))}", docs=False)
    page.locator(".hw-picture").first.click()
    page.wait_for_function("() => document.querySelector('.hw-picture svg').getBoundingClientRect().width > 400")
    choose_verdict(page, "Fix")
    assert page.locator(".hw-fix-options").is_visible() == bool(chosen[-1].options)


def test_a_reviewer_answers_before_the_answer_is_shown(
    label_studio: LiveServer, log_in: LogIn, found: PictureSet, tmp_path: Path
) -> None:
    item = next(item for item in found.of_split("all") if len(list_media(item)) == 2 and item.options)
    write_picture_tasks(found, [item], tmp_path, blind=True)
    client = label_studio.client
    project = client.projects.create(title="Pictures, blind", label_config=(tmp_path / "interface.xml").read_text()).id
    client.projects.import_tasks(id=project, request=json.loads((tmp_path / "tasks.json").read_text()))
    page = log_in(label_studio.email, label_studio.password)
    open_task(page, label_studio, project, label_studio.tasks(project)[item.id].id)
    look_at_pictures(page, 2)
    assert not page.locator(".hw-right").is_visible() and not page.locator(".hw-form").is_visible()
    keep_screenshot(page, "review-picture-blind", docs=False)
    answer_blind(page, "C")
    look_at_pictures(page, 2)
    assert page.locator(".hw-right").is_visible()
    assert_fits(page)
    keep_screenshot(page, "review-picture-blind-revealed", docs=False)


def look_at_pictures(page: Any, number: int) -> list[dict[str, float]]:
    """Where the pictures are; each is drawn, and not only its frame."""
    places = measure(page, ".hw-picture svg")
    assert len(places) == number
    page.wait_for_timeout(500)
    for place in range(number):
        held = page.locator(".hw-picture svg").nth(place).screenshot()
        with Image.open(io.BytesIO(held)) as image:
            assert len(image.convert("RGB").getcolors(1 << 24) or ()) > _COLOURS
    return places

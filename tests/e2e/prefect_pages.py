"""Working on Prefect's pages as a maintainer does: the run form, a run, its artifacts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.review_pages import BROWSER, IMAGES

ROOT = Path(__file__).resolve().parents[2]
_FIELD = "xpath=ancestor::div[contains(concat(' ', @class, ' '), ' schema-form-property ')][1]"


@contextmanager
def open_page() -> Iterator[Any]:
    """A page of 1280×900 in a headless browser; what it cannot load from outside is not waited for."""
    if BROWSER is None:
        pytest.skip("no Chromium on this machine")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light").new_page()
        page.set_default_timeout(120_000)
        yield page
        browser.close()


def find_field(page: Any, title: str) -> Any:
    """A parameter's part of the form: title, help, input."""
    label = page.locator(".schema-form-property__label", has_text=title).filter(has_text=f"{title} (Optional)")
    return label.first.locator(_FIELD)


def fill(page: Any, title: str, value: str) -> None:
    """Write into a parameter's input."""
    find_field(page, title).locator("input, textarea").first.fill(value)


def open_group(page: Any, title: str) -> None:
    """Open a group that the form folds."""
    find_field(page, title).get_by_text("Change", exact=True).first.click()


def submit(page: Any) -> None:
    """Submit the form, and see that the server is asked to start a run: a click that meets the form as it is drawn
    again is lost.
    """
    from playwright.sync_api import TimeoutError as NoRequestError

    for _ in range(6):
        # Waiting long: clicked again while the first click is being worked on, it would start two runs.
        try:
            with page.expect_request(_is_start, timeout=30_000):
                page.get_by_role("button", name="Submit").click()
        except NoRequestError:
            continue
        page.wait_for_url(lambda address: not address.endswith("/run"), wait_until="commit")
        return
    pytest.fail(f"the form was not taken: {page.locator('main, body').first.inner_text()[-500:]}")


def _is_start(request: Any) -> bool:
    return bool(request.method == "POST" and request.url.endswith("/create_flow_run"))


def list_choices(page: Any, title: str) -> list[str]:
    """Open a parameter's menu, read it, and close it again."""
    find_field(page, title).locator(".p-select-button__control").first.focus()
    options = page.locator(".p-select-option__text")
    for _ in range(5):
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(200)
        if options.count():
            break
    options.first.wait_for()
    texts = [text.strip() for text in options.all_inner_texts()]
    page.keyboard.press("Escape")
    return texts


def keep(page: Any, name: str) -> None:
    """Keep a picture of the page for the documentation, when asked to."""
    if IMAGES:
        page.screenshot(path=str(ROOT / "docs" / "images" / f"{name}.png"))

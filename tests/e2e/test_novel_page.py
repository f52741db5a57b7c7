"""The page of a question about a novel in a real browser: the paragraphs that a reviewer sees, and where links lead."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation.novels import write_novel_tasks
from hopwright.novels.dataset import BookTexts, NovelSet
from tests.e2e.label_studio import LiveServer
from tests.e2e.review_pages import LogIn, keep_screenshot, open_browser, open_task
from tests.novels.conftest import shelf as shelf
from tests.novels.conftest import small_set as small_set
from tests.novels.conftest import texts as texts

pytestmark = [pytest.mark.e2e, pytest.mark.servers]
_SEEN = """id => { const box = document.getElementById(id).getBoundingClientRect();
    return box.top >= 0 && box.top < window.innerHeight; }"""


@pytest.fixture(scope="module")
def log_in(label_studio: LiveServer) -> Iterator[LogIn]:
    """Opens a page for whoever logs in."""
    with open_browser(label_studio) as log_in:
        yield log_in


def test_a_reviewer_sees_the_paragraphs_and_jumps_to_each_hop(
    label_studio: LiveServer, log_in: LogIn, small_set: NovelSet, texts: BookTexts, tmp_path: Path
) -> None:
    chosen = [next(item for item in small_set.items if len(item.hops) == 4 and item.hops[-1].entity is not None)]
    chosen.append(next(item for item in small_set.twins if len(item.hops) == 2))
    write_novel_tasks(small_set, texts, chosen, tmp_path)
    client = label_studio.client
    project = client.projects.create(title="Novels", label_config=(tmp_path / "interface.xml").read_text()).id
    client.projects.import_tasks(id=project, request=json.loads((tmp_path / "tasks.json").read_text()))
    page = log_in(label_studio.email, label_studio.password)
    tasks = label_studio.tasks(project)
    for item in chosen:
        open_task(page, label_studio, project, tasks[item.id].id)
        page.wait_for_selector(".hw-paragraph:visible")
        assert item.question in page.locator(".hw-question").first.inner_text()
        shown = " ".join(page.locator(".hw-left").inner_text().split())
        for hop in item.hops:
            for one in hop.paragraphs:
                assert " ".join(texts.show(item.window.book, one.start, one.end).split()) in shown
        marked = page.locator(".hw-mark-answer").all_inner_texts()
        assert {" ".join(one.split()) for one in marked} <= {
            name for hop in item.hops for name in (hop.answer, *hop.answer_aliases)
        }
        assert len(marked) >= sum(hop.entity is not None for hop in item.hops)
        for hop in (*reversed(item.hops), item.hops[0]):
            page.locator(f'.hw-link[for="hw-hop-{hop.index}"]').click()
            page.wait_for_function(_SEEN, arg=f"hw-hop-{hop.index}")
        assert page.locator(".hw-paragraph:visible").count(), "a link leads within the page"
        around = page.locator("details.hw-around").first
        around.locator("summary").click()
        assert around.locator(".hw-paragraph").is_visible()
        keep_screenshot(page, f"review-novel-{len(item.hops)}", docs=False)

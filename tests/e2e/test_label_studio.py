"""Pushing to a real Label Studio server, and its pages in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.export import build_task
from annotation.files import ReviewEntry, write_tasks
from annotation.forms import Task, load_interface, parse_interface
from annotation.gold import plant_gold
from annotation.ledger import ledger_path
from annotation.push import push_folder
from annotation.schema import REVIEWED, ReviewTaskKind, criteria_of
from annotation.server import open_server
from annotation.validate import read_annotation
from hopwright.errors import ServiceError
from hopwright.foreign import drop_controls
from hopwright.records import Item
from tests.annotation.pages import plant
from tests.e2e.label_studio import LiveServer
from tests.e2e.review_pages import (
    answer_blind,
    assert_fits,
    assert_graph_is_right,
    begin_labelling,
    choose,
    choose_verdict,
    give_score,
    keep_screenshot,
    list_cut,
    list_places,
    make_items,
    make_task,
    make_twin,
    open_browser,
    open_task,
    push_to,
    submit,
    wait_for_annotations,
)

pytestmark = [pytest.mark.e2e, pytest.mark.servers]

PLANTED = (
    "<script>window.planted = 1</script><img src=x onerror='window.planted = 2'>{{7*7}}${7*7} "
    "\u202eright to left\u202e \u05d0\u05d1\u05d2 <svg onload='window.planted = 3'> "
    + "averylongwordwithoutanyspace"
    * 360
)
"""Markup, right-to-left marks, and more than 10,000 characters without a space."""

PLACES = {
    ReviewTaskKind.SINGLE_HOP: (".hw-facts bdi", ".hw-passage bdi", ".hw-verify bdi", ".hw-context bdi"),
    ReviewTaskKind.MULTI_HOP: (".hw-text bdi", ".hw-answer bdi", ".hw-verify bdi"),
    ReviewTaskKind.TWIN: (".hw-text bdi", ".hw-answer bdi", ".hw-passage bdi", ".hw-world bdi"),
    ReviewTaskKind.ADJUDICATION: (".hw-text bdi", ".hw-answer bdi", ".hw-reviews bdi"),
}
"""Where a kind's page shows texts of an item, besides question, options, checks and id."""


@pytest.fixture(scope="module")
def page(label_studio: LiveServer) -> Iterator[Any]:
    """The maintainer's page."""
    with open_browser(label_studio) as log_in:
        yield log_in(label_studio.email, label_studio.password)


def test_pushing_twice_makes_no_duplicate_and_changes_arrive(label_studio: LiveServer, tmp_path: Path) -> None:
    items = make_items(20)
    planted = next(plant_gold(make_items(1), ReviewTaskKind.SINGLE_HOP, 0))
    entries = [ReviewEntry(item, agreement=number < 2) for number, item in enumerate(items)]
    entries += [ReviewEntry(planted.item, gold=planted.gold), ReviewEntry(make_twin())]
    write_tasks(entries, tmp_path / "tasks")
    run = tmp_path / "twice"
    with open_server(label_studio.url, label_studio.token) as server:
        first = push_folder(tmp_path / "tasks", server, run)
        assert [(report.created, report.new) for report in first] == [(True, 81), (True, 20), (True, 1)]
        again = push_folder(tmp_path / "tasks", server, run)
        assert [(report.created, report.unchanged) for report in again] == [(False, 81), (False, 20), (False, 1)]
        ledger_path(run, label_studio.url).unlink()
        lost = push_folder(tmp_path / "tasks", server, run)
        assert [(report.new, report.unchanged) for report in lost] == [(0, 81), (0, 20), (0, 1)]
        whole = first[1].project
        before = label_studio.tasks(whole)
        assert {key: task.overlap for key, task in before.items() if task.overlap != 2} == {
            items[0].id: 3, items[1].id: 3,
        }  # fmt: skip

        reworded = items[0].model_copy(update={"question": "Reworded?"})
        write_tasks([ReviewEntry(one) for one in (reworded, *items[1:], *make_items(21)[20:])], tmp_path / "tasks")
        report = push_folder(tmp_path / "tasks", server, run)[1]
    assert (report.new, report.updated, report.unchanged, report.refused) == (1, 1, 19, ())
    after = label_studio.tasks(whole)
    assert len(after) == 21
    assert after[reworded.id].id == before[reworded.id].id
    assert after[reworded.id].data["question"] == "Reworded?"
    assert {task.overlap for task in after.values()} == {2}
    (prediction,) = label_studio.client.predictions.list(task=after[reworded.id].id)
    assert prediction.result[0]["value"]["text"] == ["Reworded?"]
    project = label_studio.client.projects.get(whole)
    assert parse_interface(project.label_config)
    assert "Reviewing a multi-hop question" in project.expert_instruction


def test_annotated_item_that_changed_is_refused_and_said_so(label_studio: LiveServer, tmp_path: Path) -> None:
    items = make_items(3)
    tasks = [build_task(item, ReviewTaskKind.MULTI_HOP) for item in items]
    report = push_to(label_studio, "Refused", tasks, tmp_path)
    held = label_studio.tasks(report.project)
    label_studio.client.annotations.create(held[items[0].id].id, result=[choose("verdict", "Retain")])

    changed = [
        build_task(item.model_copy(update={"question": "Changed?"}), ReviewTaskKind.MULTI_HOP) for item in items[:2]
    ]
    report = push_to(label_studio, "Refused", [*changed, tasks[2]], tmp_path)
    assert (report.new, report.updated, report.unchanged) == (0, 1, 1)
    assert [one.key for one in report.refused] == [items[0].id]
    assert "it has 1 annotation" in report.refused[0].reason
    assert "1 refused" in report.summary
    assert label_studio.tasks(report.project)[items[0].id].data == tasks[0]["data"]
    assert push_to(label_studio, "Refused", tasks[2:], tmp_path).others == 2


def test_wrong_token_is_one_line_that_does_not_repeat_it(label_studio: LiveServer) -> None:
    wrong = "0" * 40
    with pytest.raises(ServiceError, match="refuses the token") as caught, open_server(label_studio.url, wrong):
        pass
    assert wrong not in str(caught.value)


@pytest.mark.parametrize("kind", ReviewTaskKind)
def test_every_interface_fits_the_window(
    label_studio: LiveServer, page: Any, tmp_path: Path, kind: ReviewTaskKind
) -> None:
    for task, item in make_showcase(kind):
        of = ReviewTaskKind(task["data"]["of"]) if "of" in task["data"] else None
        report = push_to(label_studio, f"Showcase: {kind}", [task], tmp_path, kind, of)
        held = label_studio.tasks(report.project)
        (id,) = [one.id for key, one in held.items() if key.startswith(item.id)]
        open_task(page, label_studio, report.project, id)
        assert_fits(page)
        assert page.locator(".hw-right").first.inner_text().split("\n")[0] in "ABCD"
        assert page.locator(".hw-svg").count() == (kind is not ReviewTaskKind.TWIN)
        assert_graph_is_right(page, item)
        assert list_cut(page) == []
        keep_screenshot(page, f"review-{kind}-{item.topology}", docs=False)
        choose_verdict(page, "Retain")
        places = list_places(page)
        choose_verdict(page, "Fix")
        assert list_places(page) == places, "what is read moves when corrections open"
        page.locator("[data-testid=textarea-region]").nth(5).wait_for()
        for number, _ in enumerate(criteria_of(kind, of), 1):
            give_score(page, number, 4)
        shown = [text.strip() for text in page.locator("[data-testid=textarea-region]").all_inner_texts()]
        filled = [one["value"]["text"][0] for one in task["predictions"][0]["result"]]
        assert shown == filled, "corrections are not pre-filled"
        assert_fits(page)
        form = page.locator(".hw-form")
        assert form.evaluate("one => one.scrollHeight - one.clientHeight") <= 0, "the form has to be scrolled"
        keep_screenshot(page, f"review-{kind}-{item.topology}-fix", docs=False)
    # The queue that an annotator works through, which has the whole window; its next task is the first one.
    begin_labelling(
        page, label_studio, report.project, look_at_instructions if kind is ReviewTaskKind.MULTI_HOP else None
    )
    choose_verdict(page, "Fix" if kind is ReviewTaskKind.MULTI_HOP else "Retain")
    for number, _ in enumerate(criteria_of(kind, of), 1):
        give_score(page, number, 5 - number % 2)
    keep_screenshot(page, f"review-{kind.replace('_', '-')}")
    assert_fits(page)


def look_at_instructions(page: Any) -> None:
    """They come before the first task."""
    assert page.get_by_role("heading", name="1 Logical integrity").first.is_visible()
    keep_screenshot(page, "review-instructions")


@pytest.mark.parametrize("kind", ReviewTaskKind)
def test_planted_text_is_shown_as_text_and_the_page_stays_usable(
    label_studio: LiveServer, page: Any, tmp_path: Path, kind: ReviewTaskKind
) -> None:
    item = plant(make_items(1)[0], PLANTED)
    task, of = make_task(item, kind, PLANTED)
    report = push_to(label_studio, f"Planted: {kind}", [task], tmp_path, kind, of)
    page.evaluate("window.planted = undefined")
    dialogs: list[Any] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog))
    (held,) = label_studio.tasks(report.project).values()
    open_task(page, label_studio, report.project, held.id)
    for place in (".hw-question bdi", ".hw-option bdi", ".hw-check bdi", ".hw-id bdi", *PLACES[kind]):
        assert drop_controls(PLANTED) in page.locator(place).last.text_content(), place
    choose_verdict(page, "Fix")
    page.locator("[data-testid=textarea-region]").nth(5).wait_for()
    assert_fits(page)
    keep_screenshot(page, f"planted-{kind}", docs=False)
    assert page.evaluate("window.planted") is None
    assert not dialogs
    button = page.get_by_role("button", name="Submit").first
    box = button.bounding_box()
    assert box["y"] + box["height"] <= 800
    for number, _ in enumerate(criteria_of(kind, of), 1):
        give_score(page, number, 1)
    button.click()
    (annotation,) = wait_for_annotations(label_studio, held.id, 1)
    given = {one["from_name"]: one["value"] for one in annotation["result"]}
    assert given["fix_question"]["text"] == [drop_controls(PLANTED)], "the text went through the page unchanged"


@pytest.mark.parametrize("kind", REVIEWED)
def test_a_blind_task_shows_the_answer_only_after_ones_own(
    label_studio: LiveServer, page: Any, tmp_path: Path, kind: ReviewTaskKind
) -> None:
    item = make_twin() if kind is ReviewTaskKind.TWIN else make_items(1)[0]
    task = build_task(item, kind, 4 if kind is ReviewTaskKind.SINGLE_HOP else None, blind=True)
    report = push_to(label_studio, f"Blind: {kind}", [task], tmp_path, kind, blind=True)
    (held,) = label_studio.tasks(report.project).values()
    open_task(page, label_studio, report.project, held.id)
    assert page.locator(".hw-ask .hw-option").count() == 4
    for hidden in (".hw-right", ".hw-tick", ".hw-form", ".hw-fix", ".hw-check", ".hw-hop-line", ".hw-working"):
        assert not any(one.is_visible() for one in page.locator(hidden).all()), hidden
    assert_fits(page)
    keep_screenshot(page, f"review-blind-{kind.replace('_', '-')}", docs=kind is ReviewTaskKind.MULTI_HOP)
    answer_blind(page, "B")
    assert page.locator(".hw-right").first.is_visible()
    assert not page.locator(".hw-ask .hw-question").is_visible(), "the question is shown once"
    chosen = page.locator(".hw-own").get_by_role("radio")
    page.mouse.click(**find_middle(chosen.nth(2)))
    assert chosen.nth(1).is_checked(), "a click changed it"
    choose_verdict(page, "Fix")
    assert_fits(page)
    form = page.locator(".hw-form")
    assert form.evaluate("one => one.scrollHeight - one.clientHeight") <= 0, "the form has to be scrolled"
    choose_verdict(page, "Retain")
    for number, _ in enumerate(criteria_of(kind), 1):
        give_score(page, number, 4)
    keep_screenshot(page, f"review-blind-{kind.replace('_', '-')}-shown", docs=False)
    submit(page)
    (annotation,) = wait_for_annotations(label_studio, held.id, 1)
    form = parse_interface(load_interface(kind, blind=True))
    review = read_annotation(annotation, task["data"], form, project=report.project, task=held.id, who="a-1")
    assert (review.own_answer, review.own_words, review.verdict) == ("B", "", "Retain")
    assert len(review.scores) == len(criteria_of(kind))


def find_middle(one: Any) -> dict[str, float]:
    """Where on the page something is."""
    box = one.bounding_box()
    return {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}


def make_showcase(kind: ReviewTaskKind) -> list[tuple[Task, Item]]:
    """A task of each reasoning graph; it is drawn alike for all kinds that show it, so of the others only one."""
    items = make_items(3) if kind is ReviewTaskKind.MULTI_HOP else make_items(3)[2:]
    return [(make_task(item, kind)[0], item) for item in items]

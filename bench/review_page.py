"""What a reviewer has to do for one task in Label Studio's page: keys, clicks and seconds, and whether the page holds
still and shows everything.

    python bench/review_page.py [RUN_FOLDER] [--tasks 20]

Takes the first tasks of each kind that the run exported for review; without a folder, it builds the shipped sample.
It starts a Label Studio server of its own, opens the queue of each project in headless Chromium at 1280×800, and
reviews as somebody does who has nothing to object to: a verdict, every score, submit. Before it submits, it chooses
Fix and then Retain again, which counts as neither keys nor time. Printed for each kind:

- keys and clicks of a task, counted by the page, and seconds from one task's page to the next without any time to
  read (median, slowest),
- tasks in which a text of the item is cut to its box and has to be scrolled in it, those in which the form has to be
  scrolled (with Retain, with Fix), and those in which Fix moves what is being read.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.files import list_kinds, read_settings, read_tasks
from annotation.ledger import Ledger, ledger_path
from annotation.push import push
from annotation.schema import OWN_ANSWERS, ReviewTaskKind, criteria_of
from annotation.server import open_server
from tests.e2e.label_studio import LiveServer, share_server
from tests.e2e.review_pages import (
    answer_blind,
    begin_labelling,
    choose_verdict,
    give_score,
    list_cut,
    list_places,
    open_browser,
    submit,
    wait_for_form,
)

_COUNT = """() => {
    if (window.counted) return;
    window.counted = {keys: 0, clicks: 0};
    addEventListener('keydown', e => { if (!['Shift', 'Control'].includes(e.key)) window.counted.keys++; }, true);
    addEventListener('mousedown', () => window.counted.clicks++, true);
}"""
_READ = "() => ({...window.counted})"
_SCROLLED = (
    "() => { const form = document.querySelector('.hw-form'); return form.scrollHeight > form.clientHeight + 1; }"
)


@dataclass
class Seen:
    """What was seen of one kind's tasks."""

    keys: list[int] = field(default_factory=list)
    clicks: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)
    form_scrolled: int = 0
    form_scrolled_to_fix: int = 0
    moved: int = 0


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", type=Path, help="the folder of a run with exported tasks")
    parser.add_argument("--tasks", type=int, default=20, help="tasks of each kind")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _find_run(options.run, Path(folder)) as run:
        tasks = run / "review" / "tasks"
        blind = read_settings(tasks).blind
        with share_server(Path(folder)) as server, open_browser(server) as log_in:
            page = log_in(server.email, server.password)
            print("kind         tasks  keys clicks         seconds  cut  form  moved")
            for kind in list_kinds(tasks):
                seen = _review(server, page, tasks, kind, options.tasks, Path(folder), blind=blind)
                seconds = f"{statistics.median(seen.seconds):.2f} ({max(seen.seconds):.2f})"
                form = f"{seen.form_scrolled}/{seen.form_scrolled_to_fix}"
                print(
                    f"{kind:12} {len(seen.keys):5} {statistics.fmean(seen.keys):5.1f} "
                    f"{statistics.fmean(seen.clicks):6.1f} {seconds:>15} {len(seen.cut):4} {form:>5} {seen.moved:6}",
                    ", ".join(sorted(set(seen.cut))),
                    flush=True,
                )
    return 0


@contextmanager
def _find_run(given: Path | None, folder: Path) -> Iterator[Path]:
    """The run that was named, or one of the shipped sample."""
    if given is not None:
        yield given
        return
    command = [sys.executable, "-m", "flows.cli", "build", "--run", "page"]
    subprocess.run(command, check=True, env={**os.environ, "HOPWRIGHT_HOME": str(folder)}, stdout=subprocess.DEVNULL)
    yield folder / "runs" / "page"


def _review(
    server: LiveServer, page: Any, tasks: Path, kind: ReviewTaskKind, count: int, folder: Path, *, blind: bool
) -> Seen:
    with open_server(server.url, server.token) as opened:
        report = push(
            itertools.islice(read_tasks(tasks, kind), count),
            server=opened,
            title=f"Page: {kind}",
            kind=kind,
            ledger=Ledger(ledger_path(folder, server.url)),
            blind=blind,
        )
    seen = Seen()
    begin_labelling(page, server, report.project)
    for number in range(report.new):
        shown = _read_task(page)
        page.evaluate(_COUNT)
        start, before = time.perf_counter(), page.evaluate(_READ)
        if blind:
            answer_blind(page, OWN_ANSWERS[0])
        choose_verdict(page, "Retain")
        for row in range(len(criteria_of(kind))):
            give_score(page, row + 1, 5)
        looked, unseen = time.perf_counter(), page.evaluate(_READ)
        seen.cut += list_cut(page)[:1]
        seen.form_scrolled += page.evaluate(_SCROLLED)
        places = list_places(page)
        choose_verdict(page, "Fix")
        seen.moved += list_places(page) != places
        seen.form_scrolled_to_fix += page.evaluate(_SCROLLED)
        choose_verdict(page, "Retain")
        looked, unseen = time.perf_counter() - looked, _subtract(page.evaluate(_READ), unseen)
        submit(page)
        if number + 1 < report.new:
            _wait_until(lambda shown=shown: _read_task(page) not in ("", shown))
            wait_for_form(page)
        seen.seconds.append(time.perf_counter() - start - looked)
        spent = _subtract(_subtract(page.evaluate(_READ), before), unseen)
        seen.keys.append(spent["keys"])
        seen.clicks.append(spent["clicks"])
    return seen


def _read_task(page: Any) -> str:
    """What tells one task's page from the next."""
    return str(
        page.evaluate("() => [...document.querySelectorAll('.hw-head, .hw-question')].map(e => e.innerText).join()")
    )


def _subtract(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: count - other[name] for name, count in one.items()}


def _wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("the next task does not come")
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(main())

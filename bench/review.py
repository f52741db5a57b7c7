"""Expert review through a real Label Studio server: pushing, pushing again.

    python bench/review.py --url http://127.0.0.1:8080 [--items 10000] [--runs 1]

Start a server first (`make serve`); its token comes from LABEL_STUDIO_API_KEY or from the file that `make serve` keeps.
Items are those of the tests, told apart by their ids; one task each, with six pre-filled corrections. Every run makes a
project of its own and deletes it. Floor: the same tasks posted in the same batches by bare HTTP calls.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.access import find_token
from annotation.files import ReviewEntry, read_tasks, write_tasks
from annotation.forms import Task, load_interface
from annotation.push import push_folder
from annotation.schema import ReviewTaskKind
from annotation.server import Server, open_server
from hopwright.errors import HopwrightError
from hopwright.records import Item
from tests.builders import all_items

BATCH = 500


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    try:
        measure(options.url, options.items, options.runs)
    except HopwrightError as error:
        print(f"not measured: {error}")


def measure(url: str, items: int, runs: int) -> None:
    """Export, push, push again, and the floor."""
    with tempfile.TemporaryDirectory() as folder, open_server(url, find_token(url)) as server:
        tasks = Path(folder) / "tasks"
        entries = (ReviewEntry(item) for item in make_items(items))
        export = clock(lambda: write_tasks(entries, tasks, kinds=[ReviewTaskKind.MULTI_HOP]))
        size = sum(path.stat().st_size for path in tasks.rglob("tasks-*.json"))
        print(f"export: {items:,} tasks of {size / items / 1000:.1f} kB in {export:.1f} s")
        pushes, repeats, floors = [], [], []
        for number in range(runs):
            run = Path(folder) / f"bench {number} {time.time_ns()}"
            pushes.append(clock(lambda: push_and_check(tasks, server, run, new=items)))  # noqa: B023
            repeats += [clock(lambda: push_and_check(tasks, server, run, new=0)) for _ in range(3)]  # noqa: B023
            delete(server, run.name)
            floors.append(post_bare(url, find_token(url), list(read_tasks(tasks, ReviewTaskKind.MULTI_HOP))))
    push, again, floor = (statistics.median(times) for times in (pushes, repeats, floors))
    print(f"push: {push:.1f} s, {items / push:,.0f} tasks/s")
    print(f"push again: {again:.2f} s, 1/{push / again:,.0f} of it; nothing changed")
    print(f"floor, bare posts: {floor:.1f} s; the push takes {push / floor:.2f} times that")


def make_items(count: int) -> list[Item]:
    """Items of all three graphs, told apart by their ids."""
    items = all_items()
    return [items[number % 3].model_copy(update={"id": f"hw-{number:016x}"}) for number in range(count)]


def clock(work) -> float:
    """Seconds that something took."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def push_and_check(tasks: Path, server: Server, run: Path, new: int) -> None:
    """Push, and hold the report against what it should say."""
    (report,) = push_folder(tasks, server, run)
    assert report.new == new, report
    assert not report.updated
    assert not report.refused


def delete(server: Server, run: str) -> None:
    """Remove the project that a run made."""
    for project in list(server.client.projects.list(title=run)):
        if project.title.startswith(run):
            server.client.projects.delete(project.id)


def post_bare(url: str, token: str, tasks: list[Task]) -> float:
    """Seconds for posting the tasks, with nothing read, checked or remembered."""
    bodies = [json.dumps(tasks[first : first + BATCH]).encode() for first in range(0, len(tasks), BATCH)]
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/json"}
    with httpx.Client(base_url=url, headers=headers, timeout=300) as client:
        settings = {"title": "bench floor", "label_config": load_interface(ReviewTaskKind.MULTI_HOP)}
        project = client.post("/api/projects/", json=settings).json()["id"]
        start = time.perf_counter()
        for body in bodies:
            client.post(f"/api/projects/{project}/import", content=body).raise_for_status()
        taken = time.perf_counter() - start
        client.delete(f"/api/projects/{project}/").raise_for_status()
    return taken


if __name__ == "__main__":
    main()

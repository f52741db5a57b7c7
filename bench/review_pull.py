"""Expert review through a real Label Studio server: pulling.

    python bench/review_pull.py --url http://127.0.0.1:8080 [--annotations 20000]

Start a server first (`make serve`); its token comes from LABEL_STUDIO_API_KEY or from the file that `make serve` keeps.
It imports tasks with two annotations each, pulls them, pulls again, and once more after a hundred changed; floor: the
server's own export of the same annotations. The project is deleted.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.access import find_token
from annotation.export import build_task
from annotation.forms import Task, load_interface
from annotation.journal import Journal
from annotation.pseudonyms import Pseudonyms
from annotation.pull import Project, pull_project
from annotation.schema import CRITERIA, ReviewTaskKind
from annotation.server import Server, open_server
from annotation.server_reading import list_tasks
from hopwright.errors import HopwrightError
from tests.annotation.reviews import choose, rate
from tests.builders import all_items

_T = TypeVar("_T")
BATCH = 500


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--annotations", type=int, default=20_000)
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder, open_server(options.url, find_token(options.url)) as server:
            bench_pull(server, Path(folder), options.annotations // 2)
    except HopwrightError as error:
        print(f"not measured: {error}")
    print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")


def bench_pull(server: Server, folder: Path, tasks: int) -> None:
    """Pull a project of so many tasks with two annotations each."""
    people = add_people(server, 2)
    project = create(server, f"bench pull {time.time_ns()}", ReviewTaskKind.MULTI_HOP)
    sent, seconds = clock(lambda: send(server, project, make_annotated(tasks, people)))
    print(f"import: {sent:,} tasks with 2 annotations each in {seconds:.1f} s")
    listed = {task["id"]: task["data"] for task in list_tasks(server, project, "id,data")}
    known = Project(project, ReviewTaskKind.MULTI_HOP, data=listed)
    journal, pseudonyms = Journal(folder / "journal"), Pseudonyms(folder)
    report, whole = clock(lambda: pull_project(server, known, journal, pseudonyms))
    assert (report.new, report.refused) == (2 * tasks, ()), report
    print(f"pull: {report.new:,} annotations in {whole:.1f} s, {report.new / whole:,.0f} a second")
    size = sum(path.stat().st_size for path in (folder / "journal").iterdir())
    print(f"on disk: {size / report.new:,.0f} bytes an annotation")
    report, again = clock(lambda: pull_project(server, known, journal, pseudonyms))
    assert (report.new, report.changed, report.removed) == (0, 0, 0), report
    print(f"pull again, nothing changed: {again:.2f} s, 1/{whole / again:,.0f} of it")
    chosen = random.Random(1).sample(sorted(listed), min(100, tasks))
    for task in chosen:
        server.client.annotations.create(task, result=give(random.Random(task)), completed_by=people[0])
    report, some = clock(lambda: pull_project(server, known, journal, pseudonyms))
    assert (report.whole, report.new) == (False, len(chosen)), report
    print(f"pull of {len(chosen)} new ones: {some:.2f} s")
    held, reading = clock(journal.read)
    assert held.annotations == 2 * tasks + len(chosen)
    print(f"reading the journal back: {reading:.2f} s")
    content, floor = clock(lambda: b"".join(server.client.projects.exports.download_sync(project, export_type="JSON")))
    print(f"floor, the server's own export of {len(content) / 1e6:,.0f} MB: {floor:.1f} s")
    print(f"the pull takes {whole / floor:.2f} times that")
    server.client.projects.delete(project)


def make_annotated(count: int, people: list[int]) -> Iterable[Task]:
    """Tasks of the tests' items, told apart by their ids, each with an annotation by everybody."""
    bases = [build_task(item, ReviewTaskKind.MULTI_HOP) for item in all_items()]
    for number in range(count):
        base = bases[number % len(bases)]
        rng = random.Random(number)
        annotations = [
            {"result": give(rng), "completed_by": person, "lead_time": round(rng.uniform(60, 900), 3)}
            for person in people
        ]
        data = {**base["data"], "item_id": f"hw-{number:016x}"}
        yield {"data": data, "predictions": base["predictions"], "annotations": annotations}


def give(rng: random.Random) -> list[dict[str, Any]]:
    """An annotation's answers."""
    scores = [rate(name, rng.randint(1, 5)) for name in CRITERIA[ReviewTaskKind.MULTI_HOP]]
    return [choose("verdict", "Retain"), *scores]


def add_people(server: Server, count: int) -> list[int]:
    """Accounts for annotators."""
    mark = time.time_ns()
    return [
        int(server.client.users.create(email=f"bench-{mark}-{n}@example.org", username=f"bench-{mark}-{n}").id)
        for n in range(count)
    ]


def create(server: Server, title: str, kind: ReviewTaskKind) -> int:
    """An empty project."""
    return int(server.client.projects.create(title=title, label_config=load_interface(kind)).id or 0)


def send(server: Server, project: int, tasks: Iterable[Task]) -> int:
    """Import tasks in batches; returns how many."""
    batch: list[Task] = []
    sent = 0
    for task in tasks:
        batch.append(task)
        if len(batch) == BATCH:
            server.client.projects.import_tasks(id=project, request=batch)  # type: ignore[arg-type]
            sent, batch = sent + len(batch), []
    if batch:
        server.client.projects.import_tasks(id=project, request=batch)  # type: ignore[arg-type]
    return sent + len(batch)


def clock(work: Callable[[], _T]) -> tuple[_T, float]:
    """A result, and the seconds that it took."""
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


if __name__ == "__main__":
    main()

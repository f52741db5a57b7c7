"""Expert review through a real Label Studio server: pulling, and the paper's 1,172 items by simulated annotators.

    python bench/review_pull.py pull   --url http://127.0.0.1:8080 [--annotations 20000]
    python bench/review_pull.py rounds --url http://127.0.0.1:8080 [--items 1172]

Start a server first (`make serve`); its token comes from LABEL_STUDIO_API_KEY or from the file that `make serve` keeps.
`pull` imports tasks with two annotations each, pulls them, pulls again, and once more after a hundred changed; floor:
the server's own export of the same annotations. `rounds` makes a run of items from the sample, has ten annotators of
known skill, bias and noise review every hop and question (two each, gold for all), pulls, and holds agreement, gold
and decisions against what they were made with. Both delete their projects.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from annotation.accepted import decide_all, table_of_scores
from annotation.access import TOKEN_VARIABLE, find_token
from annotation.agreement import measure_agreement
from annotation.annotators import profile_annotators
from annotation.decisions import Thresholds
from annotation.export import build_task
from annotation.files import read_planted, read_tasks
from annotation.forms import Task, load_interface
from annotation.gathering import gather, reviews_folder
from annotation.journal import Journal
from annotation.pseudonyms import Pseudonyms
from annotation.pull import Project, pull_project
from annotation.push import name_project, push_folder
from annotation.reading import list_tasks
from annotation.report import count_decisions
from annotation.schema import CRITERIA, VERDICT, Kind
from annotation.server import Server, open_server
from hopwright.errors import HopwrightError
from hopwright.graph.ingest import ingest
from hopwright.graph.store import GraphStore
from hopwright.settings import sample_folder
from hopwright.synthesis.checks import CheckContext
from hopwright.synthesis.properties import default_table
from tasks.work.reviews import load_items, pull_reviews
from tests.annotation.expected import expect_alpha, expect_outcome
from tests.annotation.reviews import choose, rate
from tests.annotation.rounds import Work, answers, list_units, make_run, plan_work
from tests.annotation.simulated import TEN
from tests.builders import all_items
from tests.synthesis.drafts import draft_items

_T = TypeVar("_T")
BATCH = 500


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="pull", choices=["pull", "rounds"])
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--annotations", type=int, default=20_000)
    parser.add_argument("--items", type=int, default=1172)
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder, open_server(options.url, find_token(options.url)) as server:
            os.environ[TOKEN_VARIABLE] = find_token(options.url)
            if options.what == "pull":
                bench_pull(server, Path(folder), options.annotations // 2)
            else:
                bench_rounds(server, Path(folder), options.items)
    except HopwrightError as error:
        print(f"not measured: {error}")
    print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")


def bench_pull(server: Server, folder: Path, tasks: int) -> None:
    """Pull a project of so many tasks with two annotations each."""
    people = add_people(server, 2)
    project = create(server, f"bench pull {time.time_ns()}", Kind.MULTI_HOP)
    sent, seconds = clock(lambda: send(server, project, make_annotated(tasks, people)))
    print(f"import: {sent:,} tasks with 2 annotations each in {seconds:.1f} s")
    listed = {task["id"]: task["data"] for task in list_tasks(server, project, "id,data")}
    known = Project(project, Kind.MULTI_HOP, data=listed)
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


def bench_rounds(server: Server, home: Path, count: int) -> None:
    """The paper's review, simulated."""
    os.environ["HOPWRIGHT_HOME"] = str(home)
    store = home / "stores" / "sample"
    ingest(sample_folder(), store)
    graph = GraphStore.open(store)
    # Drafts of one plan look alike; a run would keep one of them.
    items = list({item.id: item for item in draft_items(graph, count + count // 4)}.values())[:count]
    print(f"{len(items):,} items from the sample")
    # A name of its own, so that nobody's projects are touched.
    name = f"bench-{time.time_ns()}"
    run = make_run(home, store.relative_to(home), items, name=name, gold_share=min(0.5, 12 / count))
    people = add_people(server, len(TEN))
    folder = run.path / "review" / "tasks"
    tasks = {kind: list(read_tasks(folder, kind)) for kind in (Kind.SINGLE_HOP, Kind.MULTI_HOP)}
    context = CheckContext(default_table(), graph=graph)
    known = {item.id: item for item in items}
    work = plan_work(list_units(run), read_planted(folder).values(), TEN, known, context)
    given: dict[tuple[Kind, str, int | None], list[Work]] = {}
    for one in work:
        given.setdefault((one.job.kind, one.job.item_id, one.job.hop), []).append(one)
    numbers = {annotator.name: number for annotator, number in zip(TEN, people, strict=True)}
    for kind, plain in tasks.items():
        project = create(server, name_project(run.name, kind), kind)
        filled = [{**task, "annotations": list_annotations(task, kind, given, numbers)} for task in plain]
        sent, seconds = clock(lambda: send(server, project, filled))  # noqa: B023
        print(f"{kind}: {sent:,} tasks with their annotations in {seconds:.1f} s")
    reports, seconds = clock(lambda: push_folder(folder, server, run.path))
    assert all(report.new == 0 and report.updated == 0 for report in reports), reports
    print(f"push that finds them there: {seconds:.1f} s")
    done, seconds = clock(lambda: pull_reviews(run, server.url))
    assert sum(report.new for report in done.pulled) == len(work)
    print(f"pull: {len(work):,} annotations in {seconds:.1f} s")
    judge(run, work, known, context)
    for report in reports:
        server.client.projects.delete(report.project)


def judge(run: Any, work: list[Work], items: dict[str, Any], context: CheckContext) -> None:
    """Hold what came home against what the annotators were made with."""
    gathered = gather(reviews_folder(run.home, run.name), run.path)
    lines, seconds = clock(
        lambda: measure_agreement(gathered.reviews, {id: item.topology for id, item in items.items()})
    )
    print(f"agreement of {len(gathered.reviews):,} reviews, {len(lines)} lines with intervals: {seconds:.1f} s")
    held = 0
    for kind in (Kind.SINGLE_HOP, Kind.MULTI_HOP):
        for criterion in (VERDICT, *CRITERIA[kind]):
            (found,) = [
                one.reliability for one in lines if (one.kind, one.criterion, one.scope) == (kind, criterion, "all")
            ]
            expected = expect_alpha(criterion)
            low, high = found.alpha.low or 0.0, found.alpha.high or 0.0
            held += low <= expected <= high
            interval = f"{found.alpha.value:.3f} ({low:.3f} to {high:.3f})"
            print(f"  {kind} {criterion:22} alpha {interval}, expected {expected:.3f}")
    print(f"  {held} of 10 intervals of 95 % hold what was expected")
    profiles = profile_annotators((*gathered.reviews, *gathered.gold), load_items(run), gathered.gold_items)
    for one in profiles:
        if one.concerns:
            print(f"  worth a closer look: {one.name}, {'; '.join(one.concerns)}")
    decided, seconds = clock(lambda: decide_all(gathered, items, context, Thresholds()))
    print(f"decisions: {seconds:.1f} s, {count_decisions(decided)}")
    outcomes = {one.item.id: one.decision.check or "accepted" for one in decided}
    wrong = [id for id in items if outcomes[id] != expect_outcome(work, id, Thresholds())]
    print(f"  {len(items) - len(wrong):,} of {len(items):,} items as worked out from what was given")
    for row in table_of_scores(decided):
        print(f"  {row.kind:10} {row.criterion:22} {row.mean:.2f} ± {row.deviation:.2f} over {row.items:,} items")
    assert not wrong


def make_annotated(count: int, people: list[int]) -> Iterable[Task]:
    """Tasks of the tests' items, told apart by their ids, each with an annotation by everybody."""
    bases = [build_task(item, Kind.MULTI_HOP) for item in all_items()]
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
    stars = [rate(name, rng.randint(1, 5)) for name in CRITERIA[Kind.MULTI_HOP]]
    return [choose("verdict", "Retain"), *stars]


def list_annotations(
    task: Task, kind: Kind, given: dict[tuple[Kind, str, int | None], list[Work]], numbers: dict[str, int]
) -> list[dict[str, Any]]:
    """What was given to a task, as an import takes it."""
    data = task["data"]
    return [
        {"result": answers(one.given), "completed_by": numbers[one.job.annotator.name], "lead_time": one.given.seconds}
        for one in given.get((kind, data["item_id"], data.get("hop")), ())
    ]


def add_people(server: Server, count: int) -> list[int]:
    """Accounts for annotators."""
    mark = time.time_ns()
    return [
        int(server.client.users.create(email=f"bench-{mark}-{n}@example.org", username=f"bench-{mark}-{n}").id)
        for n in range(count)
    ]


def create(server: Server, title: str, kind: Kind) -> int:
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

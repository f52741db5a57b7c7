"""All reviews of a run, sorted: of the tasks as they are today, of older ones, and of planted faults.

    <home>/reviews/<run>/secret                        what pseudonyms are made with; the owner's only
    <home>/reviews/<run>/<server>/project-<id>/        one journal a project
    <home>/reviews/<run>/settled.json                  which adjudication was about which task

Reviews lie beside the runs, not in them: they cost hours that starting a run over must not throw away.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from annotation.files import GOLD, read_planted, read_settings, read_tasks
from annotation.gold import read_gold
from annotation.journal import Journal
from annotation.ledger import FOLDER, ledger_path
from annotation.schema import REVIEWED, GoldItem, key_of, split_key, task_key
from hopwright.errors import InputError
from hopwright.records import Rejected, Review, ReviewKind
from hopwright.runs import write_file

SETTLED = "settled.json"
_PROJECT = re.compile(r"^project-(\d+)$")

TaskName = tuple[ReviewKind, str]
"""Kind and key of a task."""


@dataclass(frozen=True, slots=True)
class CurrentTask:
    """A task of today: the hash of what it shows, and how many reviewers it gets."""

    item_hash: str
    wanted: int


@dataclass(frozen=True, slots=True)
class CollectedReviews:
    """The reviews of a run. `tasks`: every task of today; `stale` counts reviews of texts that are no more.

    `gold` are reviews of planted faults, which say nothing about the items; `refused` what does not fit an interface.
    """

    reviews: tuple[Review, ...]
    gold: tuple[Review, ...]
    gold_items: tuple[GoldItem, ...]
    tasks: Mapping[TaskName, CurrentTask]
    stale: int = 0
    refused: tuple[Rejected, ...] = field(default=())


def reviews_folder(home: Path, run: str) -> Path:
    """Where the reviews of a run lie."""
    return home / "reviews" / run


def journal_folder(reviews: Path, server: str, project: int) -> Path:
    """Where the journal of one project lies."""
    return reviews / ledger_path(Path(), server).stem.removeprefix("ledger-") / f"project-{project}"


def gather(reviews: Path, run: Path) -> CollectedReviews:
    """Read all journals of a run. `reviews` and `run` are its folders.

    Raises InputError when the run has no review tasks, or a file is damaged.
    """
    tasks = list_current_tasks(run)
    # What was pushed, and what was exported since, or never pushed.
    planted = {**read_planted(run / "review" / "tasks"), **read_gold(run / FOLDER / GOLD)}
    gold_items = {(one.kind.value, one.key): one for one in planted.values() if one.kind in REVIEWED}
    bases = read_settled(reviews)
    usable: list[Review] = []
    gold: list[Review] = []
    refused: list[Rejected] = []
    stale = 0
    for journal in list_journals(reviews):
        held = journal.read()
        refused += held.refused
        for review in held.reviews:
            name = (review.settles, task_key(review.item_id, review.hop))
            now = tasks.get(name)
            shown = bases.get(review.item_hash) if review.kind == "adjudication" else review.item_hash
            if name in gold_items:
                gold.append(review)
            elif now is None or now.item_hash != shown:
                stale += 1
            else:
                usable.append(review)
    return CollectedReviews(tuple(usable), tuple(gold), tuple(gold_items.values()), tasks, stale, tuple(refused))


def list_current_tasks(run: Path) -> dict[TaskName, CurrentTask]:
    """Every task that the run's export holds, planted faults included. Raises InputError when there is no export."""
    folder = run / "review" / "tasks"
    settings = read_settings(folder)
    found: dict[TaskName, CurrentTask] = {}
    for kind in REVIEWED:
        for task in read_tasks(folder, kind):
            data = task["data"]
            key = key_of(data)
            if key is not None:
                found[kind.value, key] = CurrentTask(str(data["item_hash"]), settings.of(split_key(key)[0]))
    return found


def list_journals(reviews: Path) -> Iterator[Journal]:
    """Every journal below a folder, a run's or a server's, by server and project."""
    found = sorted(
        (path for path in reviews.rglob("project-*") if path.is_dir() and _PROJECT.match(path.name)),
        key=lambda path: (path.parent.name, int(path.name.removeprefix("project-"))),
    )
    yield from (Journal(path) for path in found)


def read_settled(reviews: Path) -> dict[str, str]:
    """Hash of an adjudication's task → hash of the task that it settles. Raises InputError for a damaged file."""
    path = reviews / SETTLED
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); restore it, or remove it and adjudicate again") from None
    return {str(one): str(other) for one, other in dict(found).items()}


def add_settled(reviews: Path, added: Iterable[tuple[str, str]]) -> None:
    """Keep which task an adjudication is about, before it is pushed."""
    before = read_settled(reviews)
    after = {**before, **dict(added)}
    if after != before:
        write_file(reviews / SETTLED, json.dumps(dict(sorted(after.items())), indent=0).encode() + b"\n")

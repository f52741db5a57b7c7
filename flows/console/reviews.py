"""`hopwright review pull`, `listen`, `agreement` and `adjudicate`."""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from annotation.access import find_server
from flows.console.options import parameters_of, pick_run
from flows.console.output import err, out, prefect_ready, print_json
from hopwright.errors import InputError, ServiceError
from hopwright.runs import RunFolder, StageManifest
from hopwright.settings import AdjudicateRun, ReviewPullRun, home

if TYPE_CHECKING:  # the SDK takes a second to import
    from annotation.report import ReviewReport

_MOST_LINES = 10
_LISTEN_SECONDS = 300.0
"""While listening, what changed is fetched this often even if nothing was heard."""


def pull(run: str | None, url: str | None, group: Mapping[str, Any], *, as_json: bool) -> None:
    """Run the flow that fetches reviews, and print what came."""
    options = {"pull": {**group, "url": find_server(url)}}
    parameters = parameters_of(ReviewPullRun, run, options, fresh=False, holding="review")
    with prefect_ready(_import_pull) as flow:
        summary = flow(parameters)
    if as_json:
        print_json(summary)
        return
    for project in summary["projects"]:
        out.print(project["summary"])
    _print_some("left out", summary["left_out"])
    questions = summary["questions"]
    if questions and (questions["open"] or questions["answered"]):
        out.print(
            f"corrections that do not hold: {questions['open']:,} tasks wait for their authors, "
            f"{questions['asked']:,} asked now, {questions['answered']:,} answered"
        )


def listen(run: str | None, url: str | None, port: int) -> None:
    """Have Label Studio call this machine, and fetch what changed when it does; ends with Ctrl-C."""
    from annotation.access import find_token
    from annotation.pseudonyms import Pseudonyms
    from annotation.review_collection import reviews_folder
    from annotation.server import open_server
    from annotation.stages.reviews import find_projects, pull_reviews, return_failed_corrections
    from annotation.webhook import Receiver, register, unregister

    server_url = find_server(url)
    token = find_token(server_url)
    folder = RunFolder(home(), pick_run(run, "review"))
    secret = Pseudonyms(reviews_folder(folder.home, folder.name)).webhook_secret(server_url.rstrip("/"))
    with Receiver(secret, port) as receiver:
        with open_server(server_url, token) as server:
            projects = [project.id for project in find_projects(folder, server, [])]
            ids = register(server, projects, receiver.url, secret)
        out.print(f"listening at {receiver.url} for {len(projects)} projects of run {folder.name}; Ctrl-C ends it")
        try:
            while True:
                try:
                    done = pull_reviews(folder, server_url)
                    if done.news:
                        return_failed_corrections(folder, server_url)
                        for one in done.pulled:
                            if one.new or one.changed or one.removed:
                                out.print(f"{time.strftime('%H:%M:%S')} {one.summary}")
                                _print_some("left out", one.refused)
                    _print_some("missing", done.missing)
                except ServiceError as error:  # a server that is restarted comes back
                    err.print(f"hopwright: {error}")
                receiver.wait(_LISTEN_SECONDS)
        finally:
            with open_server(server_url, token) as server:
                unregister(server, ids)


def measure(run: str | None, *, as_json: bool) -> None:
    """Measure agreement, and print its short form."""
    from annotation.report import to_json
    from annotation.review_collection import reviews_folder
    from annotation.stages.reviews import REPORT, measure_reviews

    folder = RunFolder(home(), pick_run(run, "review"))
    if not folder.path.is_dir():
        raise InputError(f"no run {folder.name!r} in {home() / 'runs'}: `hopwright build --run {folder.name}` makes it")
    report = measure_reviews(folder)
    if as_json:
        print_json(to_json(report))
        return
    show_agreement(report)
    out.print(f"report: {reviews_folder(folder.home, folder.name) / REPORT / 'report.md'}")


def show_agreement(report: "ReviewReport") -> None:
    """How many reviewed how much, how far they agree, and whom to look at."""
    from annotation.report import show_estimate
    from annotation.schema import TITLES

    people = len({review.annotator for review in report.reviews})
    out.print(f"{len(report.reviews):,} reviews by {people} annotators")
    for line in report.agreement:
        if line.scope == "all":
            name = TITLES.get(line.criterion, line.criterion)
            found = line.reliability
            out.print(f"  {line.kind:10} {name:34} alpha {show_estimate(found.alpha):24} {found.units:,} units")
    for profile in report.profiles:
        for concern in profile.concerns:
            out.print(f"  worth a closer look: {profile.name}, {concern}")


def adjudicate(run: str | None, url: str | None, group: Mapping[str, Any], *, push: bool, as_json: bool) -> None:
    """Run the flow that decides, and print what came of it."""
    options = {"adjudicate": {**group, "url": find_server(url) if push else ""}}
    parameters = parameters_of(AdjudicateRun, run, options, fresh=False, holding="review")
    with prefect_ready(_import_adjudicate) as flow:
        manifest = flow(parameters)
    if as_json:
        print_json(manifest.model_dump(mode="json", by_alias=True))
        return
    counts = manifest.counts
    out.print(f"{counts.taken:,} items and twins under review, {counts.out:,} accepted")
    for check, rows in sorted(counts.rejected.items(), key=lambda pair: (-pair[1], pair[0])):
        out.print(f"  {check.replace('_', ' ')}: {rows:,}")
    for name, text in manifest.notes["scores"].items():
        out.print(f"  {name.replace('_', ' '):40} {text}")
    for line in manifest.notes["pushed"]:
        out.print(f"  disputes: {line}")
    folder = RunFolder(home(), parameters.run)
    out.print(f"accepted set: {folder.path / 'review' / 'accepted'}")
    out.print(f"report: {home() / 'reviews' / parameters.run / 'report' / 'report.md'}")


def _print_some(what: str, lines: list[str] | tuple[str, ...]) -> None:
    for line in lines[:_MOST_LINES]:
        out.print(f"  {what}: {line}")
    if len(lines) > _MOST_LINES:
        out.print(f"  and {len(lines) - _MOST_LINES:,} more")


def _import_pull() -> Callable[[ReviewPullRun], dict[str, Any]]:
    from flows.review_pull import run_review_pull

    return run_review_pull


def _import_adjudicate() -> Callable[[AdjudicateRun], StageManifest]:
    from flows.adjudicate import run_adjudicate

    return run_adjudicate

"""`hopwright review …`: items to experts, and what they said."""

from typing import Annotated

import typer

from flows.commands.options import Fresh, Json, Options, Run, run_stage, takes
from hopwright.settings import AdjudicateRun, ReviewPullRun, ReviewRun

app = typer.Typer(no_args_is_help=True, help="Hand items to experts in Label Studio.", rich_markup_mode=None)

Url = Annotated[str | None, typer.Option("--url", help="Address of a Label Studio server.")]
_NOT_HERE = ("seed", "workers", "cluster", "review.url", "pull.url", "pull.all_runs", "adjudicate.url")


@app.command("export")
@takes(ReviewRun, leaving_out=_NOT_HERE)
def export_review(*, run: Run = None, options: Options, fresh: Fresh = False, as_json: Json = False) -> None:
    """Write the task files, the labelling interfaces and the guidelines of a run."""
    options["review"]["url"] = ""
    run_stage("review", run, options, fresh, as_json)


@app.command("push")
@takes(ReviewRun, leaving_out=_NOT_HERE)
def push_review(
    *, run: Run = None, options: Options, url: Url = None, fresh: Fresh = False, as_json: Json = False
) -> None:
    """Push a run's tasks to a Label Studio server (token in LABEL_STUDIO_API_KEY). Repeating it makes no duplicates."""
    from annotation.access import find_server
    from flows.console.review import show_pushed

    options["review"]["url"] = find_server(url)
    run_stage("review", run, options, fresh, as_json)
    if not as_json:
        show_pushed(run)


@app.command("pull")
@takes(ReviewPullRun, leaving_out=_NOT_HERE)
def pull_review(*, run: Run = None, options: Options, url: Url = None, as_json: Json = False) -> None:
    """Fetch the reviews from Label Studio, and return corrections that do not hold to their authors."""
    from flows.console.reviews import pull

    pull(run, url, options["pull"], as_json=as_json)


@app.command("listen")
def listen_review(
    run: Run = None,
    url: Url = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0 takes a free one.")] = 8090,
) -> None:
    """Fetch reviews as soon as they are made, until Ctrl-C; Label Studio calls this machine."""
    from flows.console.reviews import listen

    listen(run, url, port)


@app.command("agreement")
def measure_review(run: Run = None, as_json: Json = False) -> None:
    """Measure how far annotators agree, and write the report. No server is needed."""
    from flows.console.reviews import measure

    measure(run, as_json=as_json)


@app.command("adjudicate")
@takes(AdjudicateRun, leaving_out=_NOT_HERE)
def adjudicate_review(
    *,
    run: Run = None,
    options: Options,
    url: Url = None,
    push: Annotated[bool, typer.Option("--push/--no-push", help="Push disputes to the server, or leave them.")] = True,
    as_json: Json = False,
) -> None:
    """Decide on the reviewed items, write the accepted set, and push disputes to an adjudicator."""
    from flows.console.reviews import adjudicate

    adjudicate(run, url, options["adjudicate"], push=push, as_json=as_json)

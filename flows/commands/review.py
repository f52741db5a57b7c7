"""`hopwright review …`: items to experts, and what they said."""

from typing import Annotated, Any

import typer

from flows.commands.options import Fresh, Json, Run, run_stage

app = typer.Typer(no_args_is_help=True, help="Hand items to experts in Label Studio.", rich_markup_mode=None)

Url = Annotated[str | None, typer.Option("--url", help="Address of a Label Studio server.")]
ReviewItems = Annotated[int | None, typer.Option("--items", help="How many items are handed over.")]
ReviewKind = Annotated[
    list[str] | None,
    typer.Option("--kind", help="single_hop, multi_hop or twin; may be given several times; all otherwise."),
]
Overlap = Annotated[int | None, typer.Option(help="Reviewers per task.")]
AgreementItems = Annotated[int | None, typer.Option(help="Items that go to one reviewer more, to measure agreement.")]
GoldShare = Annotated[float | None, typer.Option(help="Items with a planted fault, as a share of the items.")]


@app.command("export")
def export_review(
    run: Run = None,
    items: ReviewItems = None,
    kind: ReviewKind = None,
    overlap: Overlap = None,
    agreement_items: AgreementItems = None,
    gold_share: GoldShare = None,
    fresh: Fresh = False,
    as_json: Json = False,
) -> None:
    """Write the task files, the labelling interfaces and the guidelines of a run."""
    group = _group(items, kind, overlap, agreement_items, gold_share)
    run_stage("review", run, {"review": {**group, "url": ""}}, fresh, as_json)


@app.command("push")
def push_review(
    run: Run = None,
    url: Url = None,
    items: ReviewItems = None,
    kind: ReviewKind = None,
    overlap: Overlap = None,
    agreement_items: AgreementItems = None,
    gold_share: GoldShare = None,
    fresh: Fresh = False,
    as_json: Json = False,
) -> None:
    """Bring a run's tasks to a Label Studio server (token in LABEL_STUDIO_API_KEY); repeated, it makes no doubles."""
    from flows.console.review import find_server, show_pushed

    group = _group(items, kind, overlap, agreement_items, gold_share)
    run_stage("review", run, {"review": {**group, "url": find_server(url)}}, fresh, as_json)
    if not as_json:
        show_pushed(run)


@app.command("pull")
def pull_review(
    run: Run = None,
    url: Url = None,
    full: Annotated[bool, typer.Option("--full", help="Fetch everything again, not only what changed.")] = False,
    as_json: Json = False,
) -> None:
    """Fetch what was reviewed in Label Studio, and ask back where a correction does not hold."""
    from flows.console.reviews import pull

    pull(run, url, full=full, as_json=as_json)


@app.command("listen")
def listen_review(
    run: Run = None,
    url: Url = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port on this machine; 0 takes a free one.")] = 8090,
) -> None:
    """Fetch reviews as they are made: have Label Studio call this machine, until Ctrl-C."""
    from flows.console.reviews import listen

    listen(run, url, port)


@app.command("agreement")
def measure_review(run: Run = None, as_json: Json = False) -> None:
    """Say how far annotators agree, and write the report; needs no server."""
    from flows.console.reviews import measure

    measure(run, as_json=as_json)


@app.command("adjudicate")
def adjudicate_review(
    run: Run = None,
    url: Url = None,
    push: Annotated[bool, typer.Option("--push/--no-push", help="Whether disputes are pushed to the server.")] = True,
    min_mean: Annotated[float | None, typer.Option(help="Least mean over all criteria.")] = None,
    floor: Annotated[float | None, typer.Option(help="Least mean of any one criterion.")] = None,
    score_gap: Annotated[int | None, typer.Option(help="Scores further apart than this are settled.")] = None,
    settle_returned: Annotated[
        bool | None, typer.Option("--settle-returned", help="Settle corrections that wait for their authors, too.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Decide what was reviewed, write the accepted set, and push to an adjudicator what reviewers differ on."""
    from flows.console.reviews import adjudicate

    group = {"min_mean": min_mean, "floor": floor, "score_gap": score_gap, "settle_returned": settle_returned}
    adjudicate(run, url, group, push=push, as_json=as_json)


def _group(
    items: int | None,
    kinds: list[str] | None,
    overlap: int | None,
    agreement_items: int | None,
    gold_share: float | None,
) -> dict[str, Any]:
    """What a handing over is asked to be like."""
    return {
        "items": items, "kinds": kinds, "overlap": overlap, "agreement_items": agreement_items, "gold_share": gold_share
    }  # fmt: skip

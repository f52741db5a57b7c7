"""The `hopwright` command. Each verb imports what it needs only when it runs."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.commands import cache, claims, corpus, graph, items, review
from flows.commands.options import DryRun, Fresh, Json, Options, Run, Store, run_stage, takes
from hopwright.settings import BuildParameters, EvaluateRun, FilterRun, ReleaseRun, RewriteRun

app = typer.Typer(
    name="hopwright",
    help="Builds step-wise multi-hop QA datasets: questions that come apart into single-hop sub-questions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)
app.add_typer(items.app)
app.add_typer(cache.app, name="cache")
app.add_typer(claims.app, name="claims")
app.add_typer(review.app, name="review")
app.add_typer(graph.app, name="graph")
app.add_typer(corpus.app, name="corpus")

_INTERRUPTED = 130
"""What Typer makes of Ctrl-C."""

ParameterFile = Annotated[
    Path | None, typer.Option("--parameters", metavar="FILE", help="JSON file of parameters; options go before it.")
]
_OTHER_STAGES = ("filter", "vllm", "rewrite", "review", "release")


def main() -> None:
    """Run the command line; a mistake that the user can act on is one line on stderr.

    Exit codes: 1 for what a verb found or could not do, 2 for a command line that makes no sense, 130 for Ctrl-C.
    """
    from typer.exceptions import TyperException

    from hopwright.errors import HopwrightError

    try:
        code = app(standalone_mode=False)
    except HopwrightError as error:
        print(f"hopwright: {error}", file=sys.stderr)
        sys.exit(1)
    except TyperException as error:
        print(_explain_usage(error.format_message()), file=sys.stderr)
        sys.exit(error.exit_code)
    if code == _INTERRUPTED:
        print("hopwright: interrupted; the same command continues where it stopped", file=sys.stderr)
    sys.exit(code)


@app.command()
@takes(BuildParameters, hiding=_OTHER_STAGES, prefix="review")
def build(
    *,
    run: Run = None,
    options: Options,
    dry_run: DryRun = False,
    parameters: ParameterFile = None,
    fresh: Fresh = False,
    as_json: Json = False,
) -> None:
    """Run every stage, from raw files to a release; started again, it continues where it stopped.

    The other options of filter, rewrite and release, and those of review export as --review-…, are taken here, too.
    """
    options["run"] = run
    names = options["synthesize"]["topologies"] or []
    options["synthesize"]["topologies"] = [name.strip() for one in names for name in one.split(",")] or None
    if dry_run:
        from flows.console.estimate import estimate_build_run

        estimate_build_run(parameters, options, as_json=as_json)
        return
    from flows.console.build import build_run

    build_run(parameters, options, fresh=fresh, as_json=as_json)


@app.command()
def audit(
    file: Annotated[Path, typer.Argument(help="A JSONL file in the release format, ours or another's.")],
    graph: Annotated[
        Path | None, typer.Option("--graph", metavar="STORE", help="Also check against this graph store.")
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Published questions to look for (MuSiQue, …); may be given several times."),
    ] = None,
    scorecard: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Also measure variety and guessability, and write them there.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a dataset file and report every violation by item, hop and check; exits with 1 when there is one."""
    from flows.console.audit import audit_file

    audit_file(file, graph, against or [], scorecard, as_json=as_json)


@app.command("filter")
@takes(FilterRun, leaving_out=("seed",))
def filter_items(
    *, run: Run = None, options: Options, fresh: Fresh = False, dry_run: DryRun = False, as_json: Json = False
) -> None:
    """Let the voters answer a run's items, and drop those that are too easy."""
    run_stage("filter", run, options, fresh, as_json, dry_run=dry_run)


@app.command()
@takes(RewriteRun)
def rewrite(
    *,
    run: Run = None,
    options: Options,
    passages: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Instead of a run: ask 2-, 3- and 4-hop questions of each {title, text}."),
    ] = None,
    into: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="With --passages: the JSON lines to write.")
    ] = None,
    question_model: Annotated[
        str | None, typer.Option(help="With --passages: who asks what the graph does not, as endpoint/model.")
    ] = None,
    store: Store = None,
    fresh: Fresh = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Make counterfactual twins of a run's items, or of passages with questions about them."""
    if passages is None:
        run_stage("rewrite", run, options, fresh, as_json, dry_run=dry_run)
        return
    from flows.console.passages import ask_passages

    ask_passages(passages, into, store, question_model, options, as_json=as_json)


@app.command()
@takes(ReleaseRun, leaving_out=("seed", "workers", "cluster"))
def release(*, run: Run = None, options: Options, fresh: Fresh = False, as_json: Json = False) -> None:
    """Write a run's items and twins as a dataset: JSONL, Parquet, card and plots."""
    run_stage("release", run, options, fresh, as_json)


@app.command()
@takes(EvaluateRun, leaving_out=("evaluate.data", "cluster", "shard_size"))
def evaluate(
    *,
    data: Annotated[
        str | None, typer.Argument(help="A release's folder or a JSONL file; the run's own release otherwise.")
    ] = None,
    run: Run = None,
    options: Options,
    fresh: Fresh = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Ask models about a dataset, hop by hop, and write the report."""
    from flows.console.evaluate import evaluate_run

    options["evaluate"]["data"] = data
    evaluate_run(run, options, fresh=fresh, as_json=as_json, dry_run=dry_run)


@app.command("export")
def export_dataset(
    data: Annotated[
        str | None, typer.Argument(help="A release's folder or a JSONL file; the latest run's release otherwise.")
    ] = None,
    to: Annotated[
        Literal["lm-eval", "inspect", "llama-factory", "verl"], typer.Option("--to", help="The tool to write for.")
    ] = "lm-eval",
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write; ./hopwright-TOOL otherwise.")] = None,
    variant: Annotated[
        Literal["factual", "counterfactual", "both"], typer.Option(help="Items, their twins, or both.")
    ] = "factual",
    run: Run = None,
    seed: Annotated[int, typer.Option(help="Another seed, another half of multiple-choice examples.")] = 0,
    as_json: Json = False,
) -> None:
    """Write a dataset for lm-evaluation-harness, Inspect, LLaMA-Factory or verl."""
    from flows.console.export import export_to

    export_to(data, to, out, variant, run, seed, as_json=as_json)


@app.command("publish")
def publish_dataset(
    to: Annotated[str, typer.Option("--to", metavar="OWNER/NAME", help="The dataset repository of the Hub.")],
    folder: Annotated[
        Path | None, typer.Argument(help="A release's folder; the latest run's release otherwise.")
    ] = None,
    graph: Annotated[
        Path | None, typer.Option("--graph", metavar="STORE", help="Also audit against this graph store.")
    ] = None,
    private: Annotated[
        bool, typer.Option("--private/--public", help="How a repository that is not there yet is made.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be uploaded, and send nothing.")] = False,
    run: Run = None,
    as_json: Json = False,
) -> None:
    """Upload a release to the Hugging Face Hub: one commit, tagged with its version."""
    from flows.console.publish import publish

    publish(folder, to, graph, run, private=private, dry_run=dry_run, as_json=as_json)


@app.command()
def doctor(
    sparql: Annotated[str | None, typer.Option(metavar="URL", help="Also ask this SPARQL service.")] = None,
    as_json: Json = False,
) -> None:
    """Check what Hopwright needs on this machine, and say what to do about what is missing."""
    from flows.console.doctor import examine

    examine(as_json=as_json, sparql=sparql)


def _explain_usage(message: str) -> str:
    """A wrong command line in one line; the page of help that a bare command gets stays a page."""
    if "\n" in message:
        return message
    message = message.removeprefix("Value error, ").rstrip(".")
    return f"hopwright: {message[:1].lower()}{message[1:]} (--help lists what is possible)"


if __name__ == "__main__":
    main()

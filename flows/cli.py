"""The `hopwright` command. Each verb imports what it needs only when it runs."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

import hopwright
from flows.commands import cache, claims, corpus, environment, graph, images, items, novels, review
from flows.commands.options import (
    OWN_OPTIONS,
    BuildRun,
    DryRun,
    Fresh,
    Json,
    Options,
    Run,
    Store,
    run_stage,
    takes,
)
from hopwright.settings import (
    BuildParameters,
    EvaluateRun,
    ExportParameters,
    FilterRun,
    ReleaseRun,
    RewriteRun,
    call_parameters,
    spell_options,
)

app = typer.Typer(
    name="hopwright",
    help="Build datasets of step-wise multi-hop questions, each of which is decomposed into single-hop sub-questions.",
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
app.add_typer(environment.app, name="environment")
app.add_typer(images.app, name="images")
app.add_typer(novels.app, name="novels")

_INTERRUPTED = 130
"""What Typer makes of Ctrl-C."""

ParameterFile = Annotated[
    Path | None,
    typer.Option(
        "--parameters", metavar="FILE", help="Read parameters from this JSON file; options take precedence over it."
    ),
]
_OTHER_STAGES = ("filter", "vllm", "rewrite", "review", "release")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"hopwright {hopwright.__version__}")
        raise typer.Exit


@app.callback()
def show_version(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Build datasets of step-wise multi-hop questions, each of which is decomposed into single-hop sub-questions."""


def main() -> None:
    """Run the command line; a mistake that the user can act on is one line on stderr.

    Exit codes: 1 for what a verb found or could not do, 2 for a command line that makes no sense, 130 for Ctrl-C.
    """
    from typer.exceptions import TyperException

    from hopwright.errors import HopwrightError
    from hopwright.foreign import escape_controls, escape_page, show

    call_parameters(spell_options(OWN_OPTIONS))
    try:
        code = app(standalone_mode=False)
    except HopwrightError as error:
        # It may quote a file; what it quotes writes no lines of its own.
        print(f"hopwright: {escape_controls(str(error))}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        # What the operating system says of a file that was named, such as a folder that may not be written.
        if error.filename is None:
            raise
        print(f"hopwright: {show(error.filename)}: {error.strerror}", file=sys.stderr)
        sys.exit(1)
    except TyperException as error:
        print(escape_page(_explain_usage(error.format_message())), file=sys.stderr)
        sys.exit(error.exit_code)
    finally:
        call_parameters(None)
    if code == _INTERRUPTED:
        print("hopwright: interrupted; the same command continues where it stopped", file=sys.stderr)
    sys.exit(code)


@app.command()
@takes(BuildParameters, hiding=_OTHER_STAGES, prefix="review")
def build(
    *,
    run: BuildRun = None,
    options: Options,
    dry_run: DryRun = False,
    parameters: ParameterFile = None,
    fresh: Fresh = False,
    as_json: Json = False,
) -> None:
    """Run every stage, from raw files to a release; the same command continues a run that stopped.

    This command also takes the other options of filter, rewrite and release, and those of review export as --review-….
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
    file: Annotated[
        Path, typer.Argument(help="A release's folder, or a JSONL file in the release format, ours or another's.")
    ],
    graph: Annotated[
        Path | None, typer.Option("--graph", metavar="STORE", help="Also check the items against this graph store.")
    ] = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE", help="Look for the questions of this published file (MuSiQue, …); repeat it for more files."
        ),
    ] = None,
    scorecard: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Also measure variety and guessability, and write the scorecard to this folder."
        ),
    ] = None,
    read: Annotated[
        str | None,
        typer.Option(
            metavar="ENDPOINT/MODEL",
            help="Also have this model read every question back without its plan, and answer it from the plan's facts: "
            "two requests an item. What it understands otherwise is a violation.",
        ),
    ] = None,
    endpoints: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For --read: the TOML file that describes the endpoints.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option(metavar="DOLLARS", min=0, help="For --read: the most that it may cost.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a dataset and report every violation by item, hop and check. The exit code is 1 if there is any."""
    from flows.console.audit import audit_file
    from flows.console.read_back import ReadingOptions

    reading = ReadingOptions(read, endpoints, budget) if read else None
    audit_file(file, graph, against or [], scorecard, reading=reading, as_json=as_json)


@app.command("filter")
@takes(FilterRun, leaving_out=("seed",))
def filter_items(
    *, run: Run = None, options: Options, fresh: Fresh = False, dry_run: DryRun = False, as_json: Json = False
) -> None:
    """Have the voters answer a run's items, and drop the items that are too easy."""
    run_stage("filter", run, options, fresh, as_json, dry_run=dry_run)


@app.command()
@takes(RewriteRun)
def rewrite(
    *,
    run: Run = None,
    options: Options,
    passages: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Instead of a run, ask 2-, 3- and 4-hop questions about each {title, text} of this file.",
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="With --passages, write the questions to this file as JSON lines."),
    ] = None,
    question_model: Annotated[
        str | None,
        typer.Option(help="With --passages, have this model (endpoint/model) ask what the graph cannot ask."),
    ] = None,
    store: Store = None,
    fresh: Fresh = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Make counterfactual twins of a run's items, or questions about passages and twins of both."""
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
        str | None,
        typer.Argument(help="A release's folder or a JSONL file. Without it, the run's own release is taken."),
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
@takes(ExportParameters)
def export_dataset(
    *,
    data: Annotated[
        str | None,
        typer.Argument(help="A release's folder or a JSONL file. Without it, the latest run's release is taken."),
    ] = None,
    to: Annotated[
        Literal[
            "lm-eval", "inspect", "llama-factory", "verl",
            "passages", "environment", "verifiers", "inspect-agent", "verl-agent", "trajectories",
        ],
        typer.Option("--to", help="Write for this tool."),
    ] = "lm-eval",
    out: Annotated[
        Path | None, typer.Option("--out", help="Write to this folder. Without it, ./hopwright-TOOL is written.")
    ] = None,
    variant: Annotated[
        Literal["factual", "counterfactual", "both"] | None,
        typer.Option(
            help="Export the items, their twins, or both. Without it, environments of agents get both."
        ),
    ] = None,
    run: Run = None,
    options: Options,
    as_json: Json = False,
) -> None:
    """Write a dataset for lm-evaluation-harness, Inspect, LLaMA-Factory, verl, or for training agents that search."""
    from flows.console.export import export_to

    export_to(data, to, out, variant, run, options, as_json=as_json)


@app.command("publish")
def publish_dataset(
    to: Annotated[str, typer.Option("--to", metavar="OWNER/NAME", help="The dataset repository of the Hub.")],
    folder: Annotated[
        Path | None, typer.Argument(help="A release's folder. Without it, the latest run's release is taken.")
    ] = None,
    graph: Annotated[
        Path | None, typer.Option("--graph", metavar="STORE", help="Also audit the release against this graph store.")
    ] = None,
    private: Annotated[
        bool, typer.Option("--private/--public", help="Make a new repository private or public.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be uploaded, and send nothing.")] = False,
    run: Run = None,
    as_json: Json = False,
) -> None:
    """Upload a release to the Hugging Face Hub: one commit, tagged with its version."""
    from flows.console.publish import publish

    publish(folder, to, graph, run, private=private, dry_run=dry_run, as_json=as_json)


@app.command()
def doctor(
    sparql: Annotated[str | None, typer.Option(metavar="URL", help="Also query this SPARQL service.")] = None,
    as_json: Json = False,
) -> None:
    """Check this machine for what Hopwright needs, and say what to do about what is missing."""
    from flows.console.doctor import examine

    examine(as_json=as_json, sparql=sparql)


def _explain_usage(message: str) -> str:
    """A wrong command line in one line; the page of help that a bare command gets stays a page."""
    if "\n" in message:
        return message
    message = message.replace("Value error, ", "").rstrip(".")
    return f"hopwright: {message[:1].lower()}{message[1:]} (--help lists what is possible)"


if __name__ == "__main__":
    main()

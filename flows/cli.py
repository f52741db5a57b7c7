"""The `hopwright` command. Each verb imports what it needs only when it runs."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from flows.commands import cache, claims, graph, items, review
from flows.commands.options import (
    Batch,
    Budget,
    Cluster,
    DryRun,
    Endpoints,
    Fresh,
    Json,
    MaxRight,
    Name,
    ParameterFile,
    Run,
    Seed,
    Store,
    Translation,
    Twins,
    Version,
    Voters,
    Workers,
    group_models,
    run_stage,
)

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

_INTERRUPTED = 130
"""What Typer makes of Ctrl-C."""


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
def build(
    run: Run = None,
    seed: Seed = None,
    drafts: Annotated[int | None, typer.Option(help="How many plans are drawn.")] = None,
    topology: Annotated[
        list[str] | None,
        typer.Option("--topology", "--topologies", help="Reasoning graphs, separated by commas or one an option."),
    ] = None,
    min_domains: Annotated[int | None, typer.Option(help="Domains that one item must span at least.")] = None,
    items: Annotated[int | None, typer.Option(help="Items that synthesis ends with; 0 keeps all.")] = None,
    claims: Annotated[
        str | None, typer.Option(metavar="FILE", help="Bank of claims: numbers that no graph holds, with sources.")
    ] = None,
    claim_share: Annotated[float | None, typer.Option(help="Share of the drafts that may rest on a claim.")] = None,
    writer: Annotated[
        Literal["rules", "anthropic", "openai"] | None, typer.Option(help="Who words the plans: rules or a model.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model that words, as endpoint/model.")] = None,
    corpus: Annotated[str | None, typer.Option(help="Folder with Wikidata5M's files.")] = None,
    anchors: Annotated[str | None, typer.Option(help="MuSiQue's JSONL of 2-hop questions.")] = None,
    shard_size: Annotated[int | None, typer.Option(help="Items per shard (50-500).")] = None,
    preset: Annotated[
        Literal["offline", "api", "gpu", "paper"] | None,
        typer.Option(help="Parameters to begin with; options and --parameters go before it."),
    ] = None,
    profile: Annotated[
        Literal["offline", "api", "gpu"] | None,
        typer.Option(help="offline: no model is needed; api: models write; gpu: four small models vote, by vLLM."),
    ] = None,
    voter: Voters = None,
    max_right: MaxRight = None,
    twins: Twins = None,
    back_translation: Translation = None,
    review_url: Annotated[str | None, typer.Option(help="Push the review tasks to this Label Studio.")] = None,
    review_items: Annotated[int | None, typer.Option(help="How many items are handed over for review.")] = None,
    name: Name = None,
    version: Version = None,
    endpoints: Endpoints = None,
    budget: Budget = None,
    batch: Batch = None,
    dry_run: DryRun = False,
    workers: Workers = None,
    cluster: Cluster = None,
    fresh: Fresh = False,
    parameters: ParameterFile = None,
    as_json: Json = False,
) -> None:
    """Run every stage, from raw files to a release; started again, it continues where it stopped."""
    options = {
        "run": run,
        "seed": seed,
        "corpus": corpus,
        "anchors": anchors,
        "shard_size": shard_size,
        "workers": workers,
        "cluster": cluster,
        "synthesize": {
            "drafts": drafts,
            "topologies": [name.strip() for one in topology for name in one.split(",")] if topology else None,
            "min_domains": min_domains,
            "items": items,
            "claims": claims,
            "claim_share": claim_share,
            "writer": writer,
            "model": model,
        },
        "preset": preset,
        "profile": profile,
        "filter": {"voters": voter or None, "max_right": max_right},
        "rewrite": {"enabled": twins, "back_translation": back_translation},
        "review": {"url": review_url, "items": review_items},
        "release": {"name": name, "version": version},
        "models": group_models(endpoints, budget, batch),
    }
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
def filter_items(
    run: Run = None,
    voter: Voters = None,
    max_right: MaxRight = None,
    all_votes: Annotated[
        bool | None, typer.Option("--all-votes/--stop-early", help="Let every voter vote on every item.")
    ] = None,
    rotations: Annotated[
        Literal["one", "all"] | None, typer.Option(help="Orders of the options that a voter is shown.")
    ] = None,
    closed_book: Annotated[
        int | None, typer.Option(help="Items that are also asked without options, and hop by hop.")
    ] = None,
    pilot: Annotated[int | None, typer.Option(help="Items that everyone votes on first, to order the voters.")] = None,
    gpus: Annotated[int | None, typer.Option(help="GPUs that vLLM uses; 0 takes all.")] = None,
    endpoints: Endpoints = None,
    budget: Budget = None,
    batch: Batch = None,
    workers: Workers = None,
    cluster: Cluster = None,
    fresh: Fresh = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Let the voters answer a run's items, and drop those that are too easy."""
    group = {
        "voters": voter or None,
        "max_right": max_right,
        "all_votes": all_votes,
        "rotations": rotations,
        "closed_book": closed_book,
        "pilot": pilot,
    }
    models = group_models(endpoints, budget, batch)
    options = {"filter": group, "models": models, "vllm": {"gpus": gpus}, "workers": workers, "cluster": cluster}
    run_stage("filter", run, options, fresh, as_json, dry_run=dry_run)


@app.command()
def rewrite(
    run: Run = None,
    seed: Seed = None,
    twins: Twins = None,
    back_translation: Translation = None,
    translation_model: Annotated[str | None, typer.Option(help="Who translates with `llm`, as endpoint/model.")] = None,
    pivot: Annotated[
        list[str] | None, typer.Option(help="Language to go through with `llm`; several are tried in turn.")
    ] = None,
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
    endpoints: Endpoints = None,
    budget: Budget = None,
    batch: Batch = None,
    dry_run: DryRun = False,
    workers: Workers = None,
    cluster: Cluster = None,
    fresh: Fresh = False,
    as_json: Json = False,
) -> None:
    """Make counterfactual twins of a run's items, or of passages with questions about them."""
    group = {
        "enabled": twins,
        "back_translation": back_translation,
        "translation_model": translation_model,
        "pivots": pivot,
    }
    if passages is not None:
        from flows.console.passages import ask_passages

        ask_passages(
            passages, into, store, question_model, group, endpoints=endpoints, budget=budget, seed=seed, as_json=as_json
        )
        return
    models = group_models(endpoints, budget, batch)
    options = {"seed": seed, "workers": workers, "cluster": cluster, "rewrite": group, "models": models}
    run_stage("rewrite", run, options, fresh, as_json, dry_run=dry_run)


@app.command()
def release(
    run: Run = None,
    name: Name = None,
    version: Version = None,
    reviewed: Annotated[
        bool | None,
        typer.Option(
            "--reviewed/--all", help="What the expert review accepted as bench, the rest as synth; or all as synth."
        ),
    ] = None,
    separation: Annotated[
        str | None, typer.Option(help="facts or paths: what no two sets may share.", metavar="RULE")
    ] = None,
    test: Annotated[float | None, typer.Option(help="Share of the machine-checked items for a set test.")] = None,
    validation: Annotated[float | None, typer.Option(help="The same for a set validation.")] = None,
    previous: Annotated[
        str | None, typer.Option(help="Folder of the release before: what changed since is told.", metavar="FOLDER")
    ] = None,
    fresh: Fresh = False,
    as_json: Json = False,
) -> None:
    """Write a run's items and twins as a dataset: JSONL, Parquet, card and plots."""
    group = {
        "name": name,
        "version": version,
        "reviewed": reviewed,
        "separation": separation,
        "test": test,
        "validation": validation,
        "previous": previous,
    }
    run_stage("release", run, {"release": group}, fresh, as_json)


@app.command()
def evaluate(
    data: Annotated[
        str | None, typer.Argument(help="A release's folder or a JSONL file; the run's own release otherwise.")
    ] = None,
    model: Annotated[list[str] | None, typer.Option(help="endpoint/model; may be given several times.")] = None,
    form: Annotated[list[str] | None, typer.Option(help="mcq or open; both otherwise.")] = None,
    prompting: Annotated[list[str] | None, typer.Option(help="direct or cot; both otherwise.")] = None,
    protocol: Annotated[
        list[str] | None, typer.Option(help="question, alone, independent or chain; all otherwise.")
    ] = None,
    passages: Annotated[
        list[str] | None, typer.Option(help="none, own or irrelevant; may be given several times.")
    ] = None,
    sub_questions: Annotated[
        bool | None, typer.Option("--sub-questions/--no-sub-questions", help="Also ask with the sub-questions.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="endpoint/model that judges free answers.")] = None,
    limit: Annotated[int | None, typer.Option(help="How many items are asked about; 0 for all.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Tokens that an answer may have.")] = None,
    endpoints: Endpoints = None,
    budget: Budget = None,
    batch: Batch = None,
    dry_run: DryRun = False,
    run: Run = None,
    seed: Seed = None,
    workers: Workers = None,
    fresh: Fresh = False,
    as_json: Json = False,
) -> None:
    """Ask models about a dataset, hop by hop, and write the report."""
    from flows.console.evaluate import evaluate_run

    group = {
        "data": data,
        "models": model,
        "forms": form,
        "promptings": prompting,
        "protocols": protocol,
        "passages": passages,
        "sub_questions": sub_questions,
        "judge": judge,
        "limit": limit,
        "max_tokens": max_tokens,
    }
    models = group_models(endpoints, budget, batch)
    options = {"seed": seed, "workers": workers, "evaluate": group, "models": models}
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

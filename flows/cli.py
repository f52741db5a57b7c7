"""The `hopwright` command. Each verb imports what it needs only when it runs."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

app = typer.Typer(
    name="hopwright",
    help="Builds step-wise multi-hop QA datasets: questions that come apart into single-hop sub-questions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)
review_app = typer.Typer(no_args_is_help=True, help="Hand items to experts in Label Studio.", rich_markup_mode=None)
graph_app = typer.Typer(no_args_is_help=True, help="Make and look into the graph store.", rich_markup_mode=None)
cache_app = typer.Typer(no_args_is_help=True, help="The cache of models' answers.", rich_markup_mode=None)
claims_app = typer.Typer(
    no_args_is_help=True, help="Numbers that no graph holds, each with its source.", rich_markup_mode=None
)
app.add_typer(cache_app, name="cache")
app.add_typer(claims_app, name="claims")
app.add_typer(review_app, name="review")
app.add_typer(graph_app, name="graph")

_INTERRUPTED = 130
"""What Typer makes of Ctrl-C."""

Run = Annotated[str | None, typer.Option("--run", help="Name of the run's folder.")]
Seed = Annotated[int | None, typer.Option(help="The same seed gives the same bytes.")]
Workers = Annotated[int | None, typer.Option(help="Worker processes; 0 takes one per processor.")]
Cluster = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="Dask cluster for the shards: local, or tcp://HOST:8786."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start over instead of continuing.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ParameterFile = Annotated[
    Path | None, typer.Option("--parameters", metavar="FILE", help="JSON file of parameters; options go before it.")
]
Store = Annotated[Path | None, typer.Option("--store", help="Folder of a graph store; the newest one otherwise.")]
Endpoint = Annotated[str | None, typer.Option(help="Address of a SPARQL 1.1 service; Wikidata's otherwise.")]
Contact = Annotated[str | None, typer.Option(help="E-mail or web address to name in the User-Agent.")]
BatchSize = Annotated[int | None, typer.Option(help="Entities asked for in one query.")]
MaxRight = Annotated[int | None, typer.Option(help="Right votes allowed before an item is too easy.")]
Voters = Annotated[
    list[str] | None,
    typer.Option(
        "--voter",
        metavar="VOTER",
        help="Who judges difficulty: shortcuts, vllm:MODEL, transformers:MODEL or ENDPOINT/MODEL; several times.",
    ),
]
Twins = Annotated[bool | None, typer.Option("--twins/--no-twins", help="Whether to make counterfactual twins.")]
Translation = Annotated[
    Literal["auto", "apertium", "llm", "marian", "off"] | None,
    typer.Option(help="Back-translation of the twins' wording."),
]
Endpoints = Annotated[
    str | None, typer.Option("--endpoints", metavar="FILE", help="TOML file that describes where models answer.")
]
Budget = Annotated[
    float | None, typer.Option("--budget", metavar="USD", help="Stop before this many dollars are exceeded.")
]
Batch = Annotated[
    bool | None, typer.Option("--batch/--no-batch", help="Ask by batch interfaces: half the price, up to a day.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what models would be asked and what it would cost, and do nothing.")
]
Url = Annotated[str | None, typer.Option("--url", help="Address of a Label Studio server.")]
ReviewItems = Annotated[int | None, typer.Option("--items", help="How many items are handed over.")]
ReviewKind = Annotated[
    list[str] | None,
    typer.Option("--kind", help="single_hop, multi_hop or twin; may be given several times; all otherwise."),
]
Overlap = Annotated[int | None, typer.Option(help="Reviewers per task.")]
AgreementItems = Annotated[int | None, typer.Option(help="Items that go to one reviewer more, to measure agreement.")]
GoldShare = Annotated[float | None, typer.Option(help="Items with a planted fault, as a share of the items.")]
Name = Annotated[str | None, typer.Option("--name", help="Name of the dataset.")]
Version = Annotated[str | None, typer.Option("--version", help="Semantic version of the dataset.")]


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
        "models": _group_models(endpoints, budget, batch),
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
    models = _group_models(endpoints, budget, batch)
    options = {"filter": group, "models": models, "vllm": {"gpus": gpus}, "workers": workers, "cluster": cluster}
    _run_stage("filter", run, options, fresh, as_json, dry_run=dry_run)


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
    models = _group_models(endpoints, budget, batch)
    options = {"seed": seed, "workers": workers, "cluster": cluster, "rewrite": group, "models": models}
    _run_stage("rewrite", run, options, fresh, as_json, dry_run=dry_run)


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
    _run_stage("release", run, {"release": group}, fresh, as_json)


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
    models = _group_models(endpoints, budget, batch)
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


@review_app.command("export")
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
    group: dict[str, Any] = {"items": items, "kinds": kind, "overlap": overlap, "url": ""}
    group |= {"agreement_items": agreement_items, "gold_share": gold_share}
    _run_stage("review", run, {"review": group}, fresh, as_json)


@review_app.command("push")
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

    group: dict[str, Any] = {"items": items, "kinds": kind, "overlap": overlap, "url": find_server(url)}
    group |= {"agreement_items": agreement_items, "gold_share": gold_share}
    _run_stage("review", run, {"review": group}, fresh, as_json)
    if not as_json:
        show_pushed(run)


@review_app.command("pull")
def pull_review(
    run: Run = None,
    url: Url = None,
    full: Annotated[bool, typer.Option("--full", help="Fetch everything again, not only what changed.")] = False,
    as_json: Json = False,
) -> None:
    """Fetch what was reviewed in Label Studio, and ask back where a correction does not hold."""
    from flows.console.reviews import pull

    pull(run, url, full=full, as_json=as_json)


@review_app.command("listen")
def listen_review(
    run: Run = None,
    url: Url = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port on this machine; 0 takes a free one.")] = 8090,
) -> None:
    """Fetch reviews as they are made: have Label Studio call this machine, until Ctrl-C."""
    from flows.console.reviews import listen

    listen(run, url, port)


@review_app.command("agreement")
def measure_review(run: Run = None, as_json: Json = False) -> None:
    """Say how far annotators agree, and write the report; needs no server."""
    from flows.console.reviews import measure

    measure(run, as_json=as_json)


@review_app.command("adjudicate")
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


@graph_app.command("ingest")
def ingest_graph(
    source: Annotated[Path, typer.Argument(help="Folder with Wikidata5M's files.")],
    store: Annotated[Path | None, typer.Option(help="Folder of the store; one in Hopwright's home otherwise.")] = None,
    split: Annotated[
        Literal["all", "transductive", "inductive"], typer.Option(help="Which of the corpus's triplet files.")
    ] = "all",
    max_malformed: Annotated[float, typer.Option(help="Share of malformed lines that is put up with.")] = 0.001,
    force: Annotated[bool, typer.Option("--force", help="Make it again though it is up to date.")] = False,
    as_json: Json = False,
) -> None:
    """Make a graph store from raw files."""
    from flows.console.graph import ingest_folder

    ingest_folder(source, store, split, max_malformed, force=force, as_json=as_json)


@graph_app.command("info")
def show_graph_info(
    store: Store = None,
    verify: Annotated[bool, typer.Option("--verify", help="Check every array against its hash first.")] = False,
    as_json: Json = False,
) -> None:
    """Say what a store holds."""
    from flows.console.graph import show_info

    show_info(store, verify=verify, as_json=as_json)


@graph_app.command("find")
def find_entities(
    name: Annotated[str, typer.Argument(help="A label or an alias.")], store: Store = None, as_json: Json = False
) -> None:
    """List the entities that a name may mean."""
    from flows.console.graph import find_name

    find_name(name, store, as_json=as_json)


@graph_app.command("show")
def show_entity(
    id: Annotated[str, typer.Argument(help="An entity's id, such as Q27.")],
    store: Store = None,
    most: Annotated[int, typer.Option(min=1, max=10_000, help="Facts shown in each direction.")] = 50,
    as_json: Json = False,
) -> None:
    """Show what the store says about an entity."""
    from flows.console.graph import show_facts

    show_facts(id, store, most, as_json=as_json)


@graph_app.command("literals")
def fetch_literals(
    out: Annotated[
        Path, typer.Option("--out", help="File to write, in the layout that ingest reads (.tsv or .tsv.gz).")
    ],
    store: Store = None,
    property: Annotated[
        list[str] | None, typer.Option(help="A property such as P569; may be given several times; all known otherwise.")
    ] = None,
    endpoint: Endpoint = None,
    contact: Contact = None,
    batch_size: BatchSize = None,
    as_json: Json = False,
) -> None:
    """Fetch dates, numbers and coordinates of a store's entities by SPARQL."""
    from flows.console.sparql import fetch

    options = {"endpoint": endpoint, "contact": contact, "batch_size": batch_size}
    fetch(out, store, property or [], options, as_json=as_json)


@graph_app.command("verify")
def verify_release(
    file: Annotated[Path, typer.Argument(help="A JSONL file in the release format.")],
    endpoint: Endpoint = None,
    contact: Contact = None,
    batch_size: BatchSize = None,
    as_json: Json = False,
) -> None:
    """Hold the look-ups of a release against a live graph by SPARQL."""
    from flows.console.sparql import verify

    verify(file, {"endpoint": endpoint, "contact": contact, "batch_size": batch_size}, as_json=as_json)


@claims_app.command("propose")
def propose_claims(
    model: Annotated[str, typer.Option(help="The model that proposes, as endpoint/model.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The bank; claims that it holds are kept.")],
    number: Annotated[int, typer.Option(min=1, max=100_000, help="How many new claims are wanted.")] = 100,
    domain: Annotated[
        list[str] | None,
        typer.Option(help="history, art, geography, politics, science, film, sports or business; all otherwise."),
    ] = None,
    endpoints: Endpoints = None,
    budget: Budget = None,
    seed: Seed = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Have a model propose numbers that no graph holds, each with its source; killed, it continues."""
    from flows.console.claims import Order, propose_claims, read_domains

    order = Order(model, number, read_domains(domain or []), out, endpoints, budget, seed)
    propose_claims(order, dry_run=dry_run, as_json=as_json)


@claims_app.command("check")
def check_claims(
    file: Annotated[Path, typer.Argument(help="A bank: JSON lines of claims.")],
    store: Annotated[
        Path | None, typer.Option("--store", help="Also hold it against this graph store: what it names, what is held.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write those that can be used there.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Hold a bank of claims to the rules; exits with 1 when one of them cannot be used."""
    from flows.console.claims import check_claims

    check_claims(file, store, out, as_json=as_json)


@app.command()
def show(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN|ITEM_ID]", help="A run, or one item; the latest run otherwise.")
    ] = None,
    sample: Annotated[int, typer.Option("--sample", min=1, max=10_000, help="How many items of each topology.")] = 5,
    seed: Annotated[int, typer.Option(help="Another seed, another sample.")] = 0,
    stage: Annotated[
        Literal["synthesize", "filter", "rewrite"], typer.Option(help="The stage whose items are shown.")
    ] = "filter",
    as_json: Json = False,
) -> None:
    """Print items of a run, drawn at random, with their sub-questions."""
    from flows.console.show import show_sample

    show_sample(run, stage, sample, seed, as_json=as_json)


@app.command()
def explain(
    item: Annotated[str, typer.Argument(metavar="ITEM_ID", help="An item's id, as `hopwright show` prints it.")],
    run: Annotated[str | None, typer.Option("--run", help="Look in this run only; in all of them otherwise.")] = None,
    as_json: Json = False,
) -> None:
    """Say where an item came from, and show everything that a model was asked for it."""
    from flows.console.explain import explain_item

    explain_item(item, run, as_json=as_json)


@cache_app.command("stats")
def show_cache(as_json: Json = False) -> None:
    """Say what the cache of models' answers holds."""
    from flows.console.cache import show_stats

    show_stats(as_json=as_json)


@cache_app.command("prune")
def prune_cache(
    older_than_days: Annotated[float | None, typer.Option(min=0, help="Only answers older than so many days.")] = None,
    provider: Annotated[str, typer.Option(help="Only answers of this provider.")] = "",
    model: Annotated[str, typer.Option(help="Only answers of this model.")] = "",
) -> None:
    """Drop answers from the cache; what is dropped is paid again when it is asked again."""
    from flows.console.cache import prune

    prune(older_than_days, provider, model)


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


def _group_models(endpoints: str | None, budget: float | None, batch: bool | None) -> dict[str, Any]:
    """The parameters that every verb has which asks models."""
    return {"endpoints": endpoints, "budget_usd": budget, "batch": batch}


def _run_stage(
    stage: str, run: str | None, options: dict[str, Any], fresh: bool, as_json: bool, *, dry_run: bool = False
) -> None:
    if dry_run:
        from flows.console.estimate import estimate_one_stage

        estimate_one_stage(stage, run, options, as_json=as_json)
        return
    from flows.console.stage import run_one_stage

    run_one_stage(stage, run, options, fresh=fresh, as_json=as_json)


if __name__ == "__main__":
    main()

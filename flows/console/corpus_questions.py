"""`hopwright corpus questions`, `tasks` and `retain`."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from flows.console.corpus import find_folder
from flows.console.estimate import estimate_asked, tell_estimate
from flows.console.graph import find_store
from flows.console.options import merge_options
from flows.console.output import err, out, print_json
from flows.console.reviews import show_agreement
from hopwright.exports.document_chains import WRITER, DocumentChains, write_document_chains
from hopwright.exports.document_set import read_set
from hopwright.knowledge.documents.aligners import TopicPair
from hopwright.knowledge.documents.index import Retriever
from hopwright.knowledge.documents.model_aligner import ModelAligner
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.knowledge.documents.topic_facts import find_topic
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.llm.types import Outcome, Request
from hopwright.release.own_folder import refuse_foreign
from hopwright.settings import CorpusName, CorpusQuestionsParameters, CorpusRetainParameters, home, load_parameters
from hopwright.stages.models import ModelAccess, grant_command_access, open_models
from hopwright.stages.resources import describe_source, open_graph
from tasks.models import require_models

_REVIEWS = "document-reviews"
"""The folder in Hopwright's home with the key that annotators' pseudonyms are made with."""


def make(
    folder: Path, store: Path | None, options: Mapping[str, Any], *, dry_run: bool, replace: bool, as_json: bool
) -> None:
    """Make the questions of a corpus and say what was proven and what was rejected; a dry run prints what a model's
    reading of the corpus would cost."""
    parameters = load_parameters(merge_options({}, options), CorpusQuestionsParameters)
    access = None
    if parameters.model or dry_run:
        access = grant_command_access("corpus questions", folder, (parameters.model,), parameters.access)
    if not dry_run:
        refuse_foreign(folder, WRITER, replace=replace)
    retriever = Retriever.open(find_folder(parameters))
    graph = open_graph(find_store(store))
    source = WikidataSource(graph)
    if access is not None and dry_run:
        _estimate(source, retriever.store, parameters.model, access, as_json=as_json)
        return
    with err.status("reading what the passages state") as status:
        model = _open_model(parameters.model, access) if access is not None else None
        maker = DocumentChains(source, retriever, [describe_source(graph)], parameters.seed, model)
        counts = write_document_chains(maker, folder, parameters, status.update, replace=replace)
    figures = {name: dict(sorted(held.items())) for name, held in vars(counts).items()}
    if as_json:
        print_json(figures | {"folder": str(folder)})
        return
    show_counts(figures)
    out.out(str(folder))


def write_tasks(folder: Path, target: Path, most: int, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Write tasks for reviewers."""
    from annotation.documents import write_document_tasks

    parameters = load_parameters(merge_options({}, options), CorpusName)
    items = read_set(folder)
    number = min(most, len(items))
    chosen = [items[place * len(items) // number] for place in range(number)]
    with err.status("writing"):
        written = write_document_tasks(CorpusStore.open(find_folder(parameters)), chosen, target)
    if as_json:
        print_json({"folder": str(target), "tasks": written})
        return
    out.out(f"{target}: {written:,} tasks, and interface.xml for their project")


def retain(
    folder: Path, export: Path, target: Path, options: Mapping[str, Any], *, replace: bool, as_json: bool
) -> None:
    """Write what reviewers retain of a set, and print what their reviews come to."""
    from annotation.decisions import Thresholds
    from annotation.document_reviews import retain_set
    from annotation.pseudonyms import Pseudonyms
    from annotation.report import count_decisions, to_json

    parameters = load_parameters(merge_options({}, options), CorpusRetainParameters)
    store = CorpusStore.open(find_folder(parameters))
    thresholds = Thresholds(min_mean=parameters.min_mean, floor=parameters.floor, score_gap=parameters.score_gap)
    with err.status("reading reviews"):
        report = retain_set(
            folder, export, target, store, Pseudonyms(home() / _REVIEWS), thresholds,
            reviewers=parameters.reviewers, replace=replace,
        )  # fmt: skip
    if as_json:
        print_json(to_json(report) | {"folder": str(target)})
        return
    show_agreement(report)
    for name, items in count_decisions(report.decided).items():
        out.out(f"{name.replace('_', ' ')}: {items:,}")
    out.out(str(target))


def show_counts(figures: Mapping[str, Mapping[str, int]]) -> None:
    """What was found, proven and written of each kind, why others were rejected, what came of a model's readings."""
    for name, found in figures["found"].items():
        proven, written = figures["proven"].get(name, 0), figures["written"].get(name, 0)
        out.out(f"{name}: {found:,} found, {proven:,} proven, {written:,} written")
    for name, number in sorted(figures["rejected"].items(), key=lambda one: (-one[1], one[0])):
        out.out(f"  rejected: {name} ({number:,})")
    for name, number in sorted(figures.get("readings", {}).items(), key=lambda one: (-one[1], one[0])):
        out.out(f"  readings: {name} ({number:,})")


def _open_model(model: str, access: ModelAccess) -> ModelAligner:
    require_models(access, blocks=False)
    home().mkdir(parents=True, exist_ok=True)
    return ModelAligner(model, open_models(access).complete_all)


def _estimate(source: WikidataSource, store: CorpusStore, model: str, access: ModelAccess, *, as_json: bool) -> None:
    listed = ModelAligner(model, _refuse).list_requests(source, _list_topics(source, store))
    tell_estimate(estimate_asked(listed, access, "questions"), access.budget_usd, as_json=as_json)


def _list_topics(source: WikidataSource, store: CorpusStore) -> Iterator[TopicPair]:
    for document in store.documents():
        if topic := find_topic(source.graph, document.title):
            yield topic, document


def _refuse(_: Iterable[Request]) -> list[Outcome]:
    raise RuntimeError("an estimate sends nothing")

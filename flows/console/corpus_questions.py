"""`hopwright corpus questions`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.console.corpus import find_folder
from flows.console.graph import find_store
from flows.console.options import merge_options
from flows.console.output import err, out, print_json
from hopwright.exports.document_chains import WRITER, DocumentChains, write_document_chains
from hopwright.knowledge.documents.index import Retriever
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.release.own_folder import refuse_foreign
from hopwright.settings import CorpusChainsParameters, load_parameters
from hopwright.stages.resources import describe_source, open_graph


def make(folder: Path, store: Path | None, options: Mapping[str, Any], *, replace: bool, as_json: bool) -> None:
    """Make the questions of a corpus and say what was proven and what was rejected."""
    parameters = load_parameters(merge_options({}, options), CorpusChainsParameters)
    refuse_foreign(folder, WRITER, replace=replace)
    retriever = Retriever.open(find_folder(parameters))
    graph = open_graph(find_store(store))
    with err.status("reading what the passages state") as status:
        maker = DocumentChains(WikidataSource(graph), retriever, [describe_source(graph)], parameters.seed)
        counts = write_document_chains(maker, folder, parameters, status.update, replace=replace)
    figures = {name: dict(sorted(held.items())) for name, held in vars(counts).items()}
    if as_json:
        print_json(figures | {"folder": str(folder)})
        return
    show_counts(figures)
    out.out(str(folder))


def show_counts(figures: Mapping[str, Mapping[str, int]]) -> None:
    """What was found, proven and written of each kind, and why others were rejected."""
    for name, found in figures["found"].items():
        proven, written = figures["proven"].get(name, 0), figures["written"].get(name, 0)
        out.out(f"{name}: {found:,} found, {proven:,} proven, {written:,} written")
    for name, number in sorted(figures["rejected"].items(), key=lambda one: (-one[1], one[0])):
        out.out(f"  rejected: {name} ({number:,})")

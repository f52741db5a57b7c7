"""`hopwright corpus …`."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from flows.console.options import merge_options
from flows.console.output import err, out, print_json
from hopwright.errors import HopwrightError, InputError
from hopwright.knowledge.documents.adding import add_source, list_left_out
from hopwright.knowledge.documents.format import SourceCounts
from hopwright.knowledge.documents.index import Retriever, SearchMode, build_index
from hopwright.knowledge.documents.index.embedding import open_embedder
from hopwright.knowledge.documents.index.format import WHOLE, ShardPart
from hopwright.knowledge.documents.index.vectors import build_vectors
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.settings import (
    CorpusAddParameters,
    CorpusIndexParameters,
    CorpusName,
    CorpusServeParameters,
    home,
    load_parameters,
)

_SHOWN = 5
_EXCERPT = 300
_WAITING = 40
"""Searches at once that wait for others to answer: for peers, or for an endpoint that embeds the query."""


def add(source: Path, options: Mapping[str, Any], *, as_json: bool) -> None:
    """Add a source and say what came of it."""
    parameters = load_parameters(merge_options({}, options), CorpusAddParameters)
    with err.status("reading") as status:
        report = add_source(source, find_folder(parameters), parameters, status.update)
    if as_json:
        print_json(asdict(report) | {"counts": report.counts.model_dump(), **_name_paths(report)})
        return
    out.out(f"{report.folder}: {report.documents:,} documents, {report.passages:,} passages")
    out.out(("already added: " if report.reused else "added: ") + _list_counts(report.counts))
    lost = report.counts.found - report.counts.added + report.counts.files_skipped
    if lost:
        for line in list_left_out(report.left_out, _SHOWN):
            out.out(f"  left out: {line}")
        if lost > _SHOWN:
            out.out(f"  and {lost - _SHOWN:,} more, listed in {report.left_out}")


def index(options: Mapping[str, Any], *, as_json: bool) -> None:
    """Index a corpus and say how large the index is."""
    parameters = load_parameters(merge_options({}, options), CorpusIndexParameters)
    folder = find_folder(parameters)
    # What cannot be embedded is said before the hours of indexing, not after them.
    embedder = open_embedder(parameters.dense)
    with err.status("indexing") as status:
        report = build_index(folder, parameters, status.update)
        vectors = None
        if embedder is not None:
            vectors = build_vectors(CorpusStore.open(folder), embedder, parameters.dense, status.update)
    if as_json:
        print_json({**asdict(report), "folder": str(report.folder), "vectors": vectors and vectors.rows})
        return
    out.out(
        f"{report.folder}: {report.passages:,} passages and {report.terms:,} terms in {report.shards} shards, "
        f"{report.bytes / 2**20:,.1f} MiB; shards made now: {report.made}"
    )
    if vectors is not None:
        out.out(f"vectors of {vectors.rows:,} passages by {vectors.embedder}")


def show_info(options: Mapping[str, Any], *, verify: bool, as_json: bool) -> None:
    """What a corpus holds, and the state of its index."""
    folder = find_folder(load_parameters(merge_options({}, options), CorpusName))
    store = CorpusStore.open(folder, verify=verify)
    state = _describe_index(folder, verify=verify)
    manifest = store.manifest
    if as_json:
        counts = {"documents": manifest.documents, "passages": manifest.passages}
        print_json({"folder": str(folder), **counts, "index": state, **manifest.model_dump(exclude={"parts"})})
        return
    out.out(f"{folder}: {manifest.documents:,} documents, {manifest.passages:,} passages")
    out.out(f"content: {manifest.content}")
    for source in manifest.sources:
        named = [f"{key} {source.settings[key]}" for key in ("licence", "revision") if source.settings[key]]
        out.out(f"  {source.name} ({', '.join(named)}): {_list_counts(source.counts)}")
    out.out(f"index: {state}")


def search(query: str, most: int, mode: SearchMode, options: Mapping[str, Any], *, as_json: bool) -> None:
    """The passages that a query finds. Raises InputError when there is none."""
    folder = find_folder(load_parameters(merge_options({}, options), CorpusName))
    hits = Retriever.open(folder).search(query, most, mode)
    if as_json:
        print_json([{"score": hit.score, **asdict(hit.passage)} for hit in hits])
        return
    if not hits:
        raise InputError(f"no passage of {folder} has a word of {query!r}")
    for hit in hits:
        text = " ".join(hit.passage.text.split())
        shown = text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"
        out.out(f"{hit.score:.3f}  {hit.passage.title}  [{hit.passage.id}]\n    {shown}")


def show(id: str, options: Mapping[str, Any], *, as_json: bool) -> None:
    """A document, or a passage of one."""
    folder = find_folder(load_parameters(merge_options({}, options), CorpusName))
    document, span, original = CorpusStore.open(folder).find(id)
    if as_json:
        print_json({**document.model_dump(), "original": original, "span": span and span.model_dump()})
        return
    out.out(f"{document.title}  [{document.id}]")
    named = {"source": document.source, "its id there": original, "revision": document.revision}
    for what, value in {**named, "licence": document.licence}.items():
        if value:
            out.out(f"{what}: {value}")
    out.out(f"characters {span.start} to {span.end}:\n{span.text}" if span else document.text)


def serve(options: Mapping[str, Any]) -> None:
    """Serve a corpus, a part of its index, or the parts that peers serve, until Ctrl-C."""
    import uvicorn

    parameters = load_parameters(merge_options({}, options), CorpusServeParameters)
    app = _make_app(parameters)
    config = uvicorn.Config(app, host=parameters.host, port=parameters.port, log_level="info", access_log=False)
    try:
        uvicorn.Server(config).run()
    except SystemExit:
        # uvicorn has logged why it could not listen.
        raise InputError(f"cannot listen at {parameters.host}, port {parameters.port}: take another --port") from None


def _make_app(parameters: CorpusServeParameters) -> Any:
    from hopwright.knowledge.documents.index.remote import RemotePart, RemoteRetriever
    from hopwright.knowledge.documents.index.server import SEARCHES, make_app, make_part_app

    part = ShardPart.read(parameters.part)
    if parameters.peers:
        return make_app(RemoteRetriever([RemotePart(url) for url in parameters.peers]), parameters.topk, _WAITING)
    retriever = Retriever.open(find_folder(parameters), part)
    if part != WHOLE:
        return make_part_app(retriever)
    return make_app(retriever, parameters.topk, _WAITING if retriever.has_vectors else SEARCHES)


def serve_tools(options: Mapping[str, Any]) -> None:
    """Serve the tools of agents over a corpus until standard input is closed."""
    from hopwright.environments.mcp_server import require_mcp, serve_stdio
    from hopwright.environments.tools import CorpusFinder

    parameters = load_parameters(merge_options({}, options), CorpusName)
    require_mcp()
    serve_stdio(CorpusFinder(Retriever.open(find_folder(parameters))))


def find_folder(parameters: CorpusName) -> Path:
    """The folder of a corpus in Hopwright's home; it need not be there yet."""
    return home() / "corpora" / parameters.corpus


def _describe_index(folder: Path, *, verify: bool) -> str:
    """One line on the index; with `verify`, what is damaged is an error."""
    try:
        retriever = Retriever.open(folder, verify=verify)
    except HopwrightError as error:
        if verify and (folder / "index" / "manifest.json").is_file():
            raise
        return str(error)
    return f"up to date, {retriever.describe()}"


def _list_counts(counts: SourceCounts) -> str:
    lost = {name: getattr(counts, name) for name in ("malformed", "duplicates", "near_duplicates", "files_skipped")}
    parts = [f"{number:,} {name.replace('_', ' ')}" for name, number in lost.items() if number]
    return ", ".join([f"{counts.found:,} found", f"{counts.added:,} taken", *parts])


def _name_paths(report: Any) -> dict[str, str]:
    return {"folder": str(report.folder), "left_out": str(report.left_out)}

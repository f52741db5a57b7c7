"""`hopwright corpus build`."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flows.console.corpus_questions import show_counts
from flows.console.options import merge_options
from flows.console.output import out, prefect_ready, print_json, show_stages
from hopwright.settings import DocumentBuildParameters, load_parameters, read_document_options
from hopwright.stages.documents import DocumentLine


def build(folder: Path, options: Mapping[str, Any], *, replace: bool, as_json: bool) -> None:
    """Run the flow over documents and print its figures; what it would refuse is said before Prefect starts."""
    began = time.monotonic()
    chosen = {**merge_options({}, options), "folder": str(folder.absolute()), "replace": replace}
    parameters = load_parameters(read_document_options(chosen), DocumentBuildParameters)
    DocumentLine(parameters).check()
    with prefect_ready(_import_flow) as build_documents, show_stages():
        summary = build_documents(parameters)
    seconds = round(time.monotonic() - began, 1)
    if as_json:
        print_json({**summary, "seconds": seconds})
        return
    out.out(f"corpus {summary['corpus']}: {summary['documents']:,} documents, {summary['passages']:,} passages")
    show_counts({name: summary[name] for name in ("found", "proven", "written", "rejected")})
    out.out(
        f"BM25 finds {summary['hops_found_first']:,} of {summary['hops']:,} hops first, "
        f"{summary['hops_found_in_ten']:,} among ten passages"
    )
    out.out(f"{folder}: {summary['items']:,} questions, in {seconds:,.0f} seconds")


def _import_flow() -> Callable[[DocumentBuildParameters], dict[str, Any]]:
    from flows.build_documents import build_documents

    return build_documents

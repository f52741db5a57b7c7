"""The flow of the line over documents: files and facts → corpus → index → a folder of proven questions."""

from typing import Any

from prefect import flow

from flows.flow_options import DOCUMENTS, read_given, with_flow_options
from hopwright.settings import DocumentBuildParameters
from hopwright.stages.documents import DocumentLine
from tasks.documents import run_line

DEFAULT = DocumentBuildParameters()


@flow(
    name="build-documents",
    description="Documents and facts → a corpus with its index → proven questions; started again, it goes on from "
    "what is there.",
    **with_flow_options(DOCUMENTS),
)
def build_documents(parameters: DocumentBuildParameters = DEFAULT) -> dict[str, Any]:
    """Make the questions of a corpus, and the corpus itself where that is missing; returns the figures."""
    return run_line(DocumentLine(read_given(parameters, DocumentBuildParameters)))

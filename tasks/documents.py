"""The line over documents as Prefect tasks: one for each of its steps, and what a maintainer sees of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import task
from prefect.artifacts import create_markdown_artifact
from prefect.cache_policies import NO_CACHE
from prefect.logging import get_run_logger

from hopwright.exports.document_chains import ChainCounts
from hopwright.stages.documents import DocumentLine
from tasks.flow_context import in_flow
from tasks.interrupts import raise_missed
from tasks.live import StageProgress

FACTS, DOCUMENTS, INDEX, QUESTIONS = "facts", "documents", "index", "questions"


def run_line(line: DocumentLine) -> dict[str, Any]:
    """Carry out all steps, as tasks of the flow that is running; returns the figures.

    Raises InputError before anything is made for what would be refused at the end.
    """
    line.check()
    store = read_facts(line)
    corpus = add_documents(line)
    index_corpus(line)
    counts = ask_questions(line, store)
    summary = line.summarise(corpus, counts)
    if in_flow():
        create_markdown_artifact(
            key="document-questions",
            markdown=describe_summary(summary),
            description="Questions over documents: what was found, proven and written",
        )
    return summary


@task(name=FACTS, task_run_name=FACTS, cache_policy=NO_CACHE, persist_result=False)
def read_facts(line: DocumentLine) -> Path:
    """Make the store of facts."""
    progress = _begin(FACTS)
    store = line.read_facts()
    progress.advance()
    return store


@task(name=DOCUMENTS, task_run_name=DOCUMENTS, cache_policy=NO_CACHE, persist_result=False)
def add_documents(line: DocumentLine) -> dict[str, int]:
    """Read the documents into the corpus."""
    progress = _begin(DOCUMENTS)
    corpus = line.add_documents(_log)
    progress.advance()
    return corpus


@task(name=INDEX, task_run_name=INDEX, cache_policy=NO_CACHE, persist_result=False)
def index_corpus(line: DocumentLine) -> None:
    """Index the corpus."""
    progress = _begin(INDEX)
    line.index(_log)
    progress.advance()


@task(name=QUESTIONS, task_run_name=QUESTIONS, cache_policy=NO_CACHE, persist_result=False)
def ask_questions(line: DocumentLine, store: Path) -> ChainCounts:
    """Plan, prove, word and write the questions."""
    progress = _begin(QUESTIONS)
    counts = line.ask(store, _log)
    progress.advance()
    return counts


def describe_summary(summary: dict[str, Any]) -> str:
    """The figures in Markdown."""
    kinds = [
        f"| {name} | {found:,} | {summary['proven'].get(name, 0):,} | {summary['written'].get(name, 0):,} |"
        for name, found in summary["found"].items()
    ]
    rejected = sorted(summary["rejected"].items(), key=lambda one: (-one[1], one[0]))
    return "\n".join(
        [
            "# Questions over documents",
            "",
            f"{summary['documents']:,} documents in {summary['passages']:,} passages; {summary['items']:,} questions "
            f"in `{summary['folder']}`.",
            f"BM25 finds {summary['hops_found_first']:,} of {summary['hops']:,} hops first, and "
            f"{summary['hops_found_in_ten']:,} among ten passages.",
            "",
            "| kind | found | proven | written |",
            "|---|---|---|---|",
            *kinds,
            "",
            "| rejected | plans |",
            "|---|---|",
            *(f"| {reason} | {number:,} |" for reason, number in rejected),
        ]
    )


def _begin(step: str) -> StageProgress:
    raise_missed()
    return StageProgress(step, 1, 0)


def _log(line: str) -> None:
    if in_flow():
        get_run_logger().info("%s", line)

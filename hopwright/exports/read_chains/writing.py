"""A data set of questions that a model asked of a corpus, laid out as that of proven chains.

items.jsonl                      one item a line, as `hopwright.records` has it; a hop's span is its answer's sentence
retrievability.jsonl             for each hop, at which rank the index finds its passage
corpus.jsonl, queries.jsonl      BEIR's layout; the passages' ids are the corpus's
qrels/test.tsv, qrels.trec       which passages are gold for which question, as BEIR and as TREC write it
recipe.json                      what corpus and index were made of, with hashes, and the commands that make them
counts.json                      what came into each stage, what was rejected under which code, requests and dollars
rejected.jsonl                   what was rejected, with its code and the words
README.md                        the card, with the licence of every source
"""

from __future__ import annotations

from pathlib import Path

from hopwright.errors import InputError
from hopwright.exports.document_set import DocumentSet, list_licences
from hopwright.exports.read_chains.funnel import Funnel
from hopwright.exports.read_chains.growing import ReadChains, Tell
from hopwright.exports.read_chains.items import ItemMaker
from hopwright.exports.read_chains.opening import fold_title
from hopwright.foreign import read_file
from hopwright.knowledge.documents.index import Retriever
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.release.own_folder import refuse_foreign
from hopwright.settings import CorpusReadParameters

WRITER = "hopwright corpus read"
_LONGEST_TITLES = 256 << 20
_TOLD = 3


def write_read_chains(
    maker: ReadChains, retriever: Retriever, folder: Path, parameters: CorpusReadParameters, tell: Tell,
    *, replace: bool = False,
) -> Funnel:  # fmt: skip
    """Ask, and write the whole folder, or with `replace` an earlier one anew.

    Raises InputError where no question is kept, or the folder holds other things, and what ends a run of requests.
    """
    refuse_foreign(folder, WRITER, replace=replace)
    chains = maker.make(tell)
    if not chains:
        raise InputError(f"no question is kept: {_tell_rejections(maker.funnel)}")
    tell("writing")
    found = DocumentSet(retriever)
    items = ItemMaker(retriever, parameters, maker.asker.version)
    for chain in chains:
        item, ranks = items.make(chain)
        found.add(item, ranks, (passage.id for passage in sorted(chain.passages, key=lambda one: one.row)))
    card = _write_card(maker.funnel, retriever.store, parameters)
    rejected = [row.model_dump(mode="json") for row in maker.funnel.rows]
    found.write(folder, WRITER, maker.funnel.to_dict(), card, replace=replace, more={"rejected": rejected})
    return maker.funnel


def read_titles(path: str) -> frozenset[str]:
    """The titles in a file, one a line, as they are compared. Raises InputError where it cannot be read."""
    if not path:
        return frozenset()
    file = Path(path).expanduser()
    try:
        text = read_file(file, _LONGEST_TITLES).decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: not UTF-8") from None
    titles = frozenset(fold_title(line) for line in text.split("\n")) - {""}
    if not titles:
        raise InputError(f"{file}: no titles in it; it should have one a line")
    return titles


def _tell_rejections(funnel: Funnel) -> str:
    worst = sorted(funnel.rejected.items(), key=lambda one: (-one[1], one[0]))[:_TOLD]
    return "; ".join(f"{name} ({count:,})" for name, count in worst) or "the model asked nothing"


def _write_card(funnel: Funnel, store: CorpusStore, parameters: CorpusReadParameters) -> str:
    answerer, judge = (name or parameters.model for name in (parameters.answer_model, parameters.judge_model))
    return "\n".join(
        [
            "# Multi-hop questions that a model asked of documents",
            "",
            f"{parameters.model} asked atomic questions and merged them, {answerer} answered them with and",
            f"without their passages, and {judge} judged its answers. Every answer is a span of its passage. That",
            "it is the only one, and that the questions mean what their steps do, is the models' word.",
            "",
            "| kind | items |",
            "|---|---|",
            *(f"| {name} | {count:,} |" for name, count in sorted(funnel.written.items())),
            "",
            "The documents keep their licences:",
            "",
            *list_licences(store),
            "",
        ]
    )

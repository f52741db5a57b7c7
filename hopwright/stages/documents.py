"""The line over documents: facts → store, documents → corpus → index → proven questions.

Each step finds what an earlier call made and goes on from there, so that the same call continues what was stopped. The
steps are not those of a run: a corpus and its index serve many sets of questions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopwright.errors import InputError, StoreError
from hopwright.exports.document_chains import WRITER, ChainCounts, DocumentChains, write_document_chains
from hopwright.knowledge.documents.adding import add_source
from hopwright.knowledge.documents.format import MANIFEST, read_manifest
from hopwright.knowledge.documents.index import Retriever, build_index
from hopwright.knowledge.documents.index.embedding import open_embedder
from hopwright.knowledge.documents.index.vectors import build_vectors
from hopwright.knowledge.documents.readers import list_source_files
from hopwright.knowledge.documents.store import CorpusStore
from hopwright.knowledge.wikidata.source import WikidataSource
from hopwright.knowledge.wikidata.sources import find_corpus
from hopwright.release.own_folder import refuse_foreign
from hopwright.runs import hash_file
from hopwright.settings import DocumentBuildParameters, home, name_parameter
from hopwright.stages.resources import describe_source, open_graph
from hopwright.stages.retrieve import ingest_corpus, name_store

Tell = Callable[[str], None]
_NEAR = 10
"""A passage among so many hits counts as found."""


@dataclass(frozen=True, slots=True)
class DocumentLine:
    """One way from documents to questions; every step may be called again."""

    parameters: DocumentBuildParameters

    @property
    def corpus(self) -> Path:
        """The folder of the corpus."""
        return home() / "corpora" / self.parameters.corpus

    def check(self) -> None:
        """Raises InputError, before anything is made, for what would be refused at the end."""
        refuse_foreign(self.parameters.questions_folder(), WRITER, replace=self.parameters.replace)
        self.parameters.facts_folder()
        open_embedder(self.parameters.dense)
        source = self.parameters.documents_path()
        if source is None:
            if not (self.corpus / MANIFEST).exists():
                raise InputError(
                    f"no corpus {self.parameters.corpus!r}, and no documents for it: name a file or a folder by "
                    f"{name_parameter('documents')}, or take the preset offline"
                )
        elif others := self._find_others(source):
            raise InputError(
                f"the corpus {self.parameters.corpus!r} holds other documents, too ({others[0]}): take another "
                f"{name_parameter('corpus')}, or leave {name_parameter('documents')} empty to ask about all of them"
            )

    def read_facts(self) -> Path:
        """Make the store of facts, or find the one of the same files; returns its folder."""
        folder = self.parameters.facts_folder()
        store = home() / "stores" / name_store({path.name: hash_file(path) for path in find_corpus(folder).paths})
        ingest_corpus(folder, store)
        return store

    def add_documents(self, tell: Tell) -> dict[str, int]:
        """Read the documents into the corpus; returns the numbers of documents and passages in it.

        Raises InputError where the corpus holds them already, but cut or sifted in another way.
        """
        source = self.parameters.documents_path()
        if source is not None:
            report = add_source(source, self.corpus, self.parameters.adding(), tell)
            if not report.reused and not report.counts.added:
                raise InputError(
                    f"the corpus {self.parameters.corpus!r} holds these documents already, read in another way: take "
                    f"another {name_parameter('corpus')}, or the same options"
                    if report.documents
                    else f"{source}: no documents in it"
                )
        manifest = CorpusStore.open(self.corpus).manifest
        return {"documents": manifest.documents, "passages": manifest.passages}

    def index(self, tell: Tell) -> None:
        """Index the corpus, as far as it is not indexed yet."""
        build_index(self.corpus, self.parameters.indexing(), tell)
        embedder = open_embedder(self.parameters.dense)
        if embedder is not None:
            build_vectors(CorpusStore.open(self.corpus), embedder, self.parameters.dense, tell)

    def ask(self, store: Path, tell: Tell) -> ChainCounts:
        """Find out what the passages state, plan over it, prove, word and write the questions."""
        graph = open_graph(store)
        retriever = Retriever.open(self.corpus)
        maker = DocumentChains(WikidataSource(graph), retriever, [describe_source(graph)], self.parameters.seed)
        folder = self.parameters.questions_folder()
        return write_document_chains(maker, folder, self.parameters.asking(), tell, replace=self.parameters.replace)

    def summarise(self, corpus: Mapping[str, int], counts: ChainCounts) -> dict[str, Any]:
        """The figures of what was made."""
        folder = self.parameters.questions_folder()
        lines = (folder / "retrievability.jsonl").read_text("utf-8").split("\n")[:-1]
        ranks = [rank for line in lines for rank in json.loads(line)["ranks"]]
        return {
            "folder": str(folder),
            "corpus": self.parameters.corpus,
            **corpus,
            "items": len(lines),
            "hops": len(ranks),
            "hops_found_first": sum(rank == 1 for rank in ranks),
            "hops_found_in_ten": sum(rank is not None and rank <= _NEAR for rank in ranks),
            **{name: dict(sorted(held.items())) for name, held in vars(counts).items()},
        }

    def _find_others(self, source: Path) -> list[str]:
        """The sources in the corpus that are not of these files."""
        files, _ = list_source_files(source)
        if not (self.corpus / MANIFEST).exists():
            return []
        try:
            entries = read_manifest(self.corpus).sources
        except StoreError:
            return []  # what is wrong with the corpus is said when it is opened
        hashes = {hash_file(path) for path in {file.path for file in files}}
        return [entry.name for entry in entries if not hashes.issuperset(entry.files.values())]

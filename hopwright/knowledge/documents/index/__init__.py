"""Indexes of a corpus: BM25 over shards, vectors as an optional second list, and the two fused."""

from hopwright.knowledge.documents.index.building import IndexReport, build_index
from hopwright.knowledge.documents.index.retriever import Hit, Retriever, SearchMode

__all__ = ["Hit", "IndexReport", "Retriever", "SearchMode", "build_index"]

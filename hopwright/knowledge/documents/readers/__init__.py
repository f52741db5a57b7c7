"""Readers: files of documents, row by row; what cannot be read is a row, too, with its place and its reason."""

from hopwright.knowledge.documents.readers.files import SkippedFile, SourceFile, list_source_files
from hopwright.knowledge.documents.readers.rows import MalformedRow, RawDocument
from hopwright.knowledge.documents.readers.select import read_documents

__all__ = ["MalformedRow", "RawDocument", "SkippedFile", "SourceFile", "list_source_files", "read_documents"]

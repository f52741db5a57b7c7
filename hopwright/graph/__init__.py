"""The knowledge graph: ingest, store, linking, literals."""

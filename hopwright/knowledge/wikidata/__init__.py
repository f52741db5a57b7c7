"""Wikidata: ingest, store, linking, literals, SPARQL, and what is known about its properties and classes."""

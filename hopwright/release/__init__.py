"""Releases: the published format, Parquet, the card, plots, the audit."""

"""Prefect flows, one a file, and the command line."""

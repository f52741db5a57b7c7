"""Prefect tasks: a shard in, a shard out."""

"""The stages of a run: for each, its specification and the function that makes one shard. No Prefect here."""

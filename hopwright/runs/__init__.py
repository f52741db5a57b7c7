"""The run folder: shards, manifests, continuing after a kill."""

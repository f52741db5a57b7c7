"""Documents: corpora of passages."""

"""What `scripts/make_sample.py` is made of: one module a source, what they gather, how it is settled and written."""

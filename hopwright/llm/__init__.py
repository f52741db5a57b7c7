"""One client for every language model: cached, rate-limited, budgeted, and safe to kill at any moment.

Importing this package loads no provider's SDK; the first request to an endpoint does.
"""

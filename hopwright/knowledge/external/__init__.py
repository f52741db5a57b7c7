"""Claims: numbers that the graph does not hold, from a bank that a model or a person filled, each with its source.

Nothing here proves a claim. It is worded, computed with and handed to an expert as what it is.
"""

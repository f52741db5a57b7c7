"""Hopwright: step-wise multi-hop question answering datasets, planned and proven before they are worded."""

__version__ = "0.1.0"

"""The rules writer."""

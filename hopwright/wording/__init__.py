"""Putting proven plans into words, by rules or by a language model."""

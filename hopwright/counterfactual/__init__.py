"""Counterfactual twins and back-translation."""

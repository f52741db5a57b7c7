"""Counterfactual twins: the same plans in worlds that exist nowhere, so that memory does not help."""

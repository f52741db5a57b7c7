"""Counterfactual twins: the same plans in worlds that exist nowhere, so that memory does not help."""

from hopwright.counterfactual.back_translation import ApertiumBackTranslator, BackTranslator, Gates
from hopwright.counterfactual.names import Namer
from hopwright.counterfactual.rewriting import Rewriter, Workshop, finish_twins, rewrite_items
from hopwright.counterfactual.twins import TwinMaker, link_twins

__all__ = [
    "ApertiumBackTranslator",
    "BackTranslator",
    "Gates",
    "Namer",
    "Rewriter",
    "TwinMaker",
    "Workshop",
    "finish_twins",
    "link_twins",
    "rewrite_items",
]

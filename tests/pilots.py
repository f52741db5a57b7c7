"""Hardly any pilot plans: a planner draws them for seconds, and only shares of whole sets rest on them."""

from __future__ import annotations

from hopwright.planning import plan_sampler

FEW = 6


def draw_few() -> None:
    """Let every planner of this process draw few."""
    plan_sampler._PILOTS = FEW

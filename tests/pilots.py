"""Hardly any pilot plans: a planner draws them for seconds, and only shares of whole sets rest on them."""

from __future__ import annotations

from hopwright.planning import plan_sampler
from hopwright.stages import workers

FEW = 6
_prepare = workers.prepare_worker


def draw_few() -> None:
    """Let every planner of this process draw few, and those of the worker processes that it starts."""
    plan_sampler._PILOTS = FEW
    workers.prepare_worker = prepare_frugal_worker


def prepare_frugal_worker() -> None:
    """Begin a worker process; it imports this module, and not the script that started its parent."""
    plan_sampler._PILOTS = FEW
    _prepare()

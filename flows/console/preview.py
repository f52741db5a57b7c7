"""`hopwright preview`: a few items at once, without a run."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.prompt import Confirm

from flows.console.estimate import print_estimate
from flows.console.options import merge_options
from flows.console.output import err, out, print_json
from flows.console.show import print_item
from hopwright.errors import InputError
from hopwright.records import Item
from hopwright.settings import SynthesizeRun, home, load_parameters


def preview(number: int, store: Path | None, options: Mapping[str, Any], *, agreed: bool, as_json: bool) -> None:
    """Print so many items as they are made; a model words them where one is named, after its price was told."""
    parameters = load_parameters(merge_options({}, options), SynthesizeRun)
    with err.status("opening the graph"):
        from hopwright.stages.workbench import Workbench

        bench = Workbench(store, seed=parameters.seed, parameters=parameters.synthesize)
    by_rules = parameters.synthesize.writer == "rules"
    items = bench.make(number, tell=None if as_json or not by_rules else print_item)
    if not items:
        raise InputError("no item could be made: another --seed or --topology may give some")
    if not by_rules:
        items = _reword(bench, items, parameters, agreed=agreed, as_json=as_json)
    if as_json:
        print_json([item.model_dump(mode="json") for item in items])
        return
    for reason in sorted({one.check for one in bench.rejected}):
        err.print(f"left out by {reason}: {sum(one.check == reason for one in bench.rejected)}")
    kept = "" if by_rules else f"; what the model answered, and was paid for, is kept in {home() / 'llm.sqlite'}"
    out.print(f"{len(items)} items from {bench.store}; no run was begun{kept}. `hopwright build` makes a dataset.")


def _reword(bench: Any, items: list[Item], parameters: SynthesizeRun, *, agreed: bool, as_json: bool) -> list[Item]:
    """The items in the model's words. Raises InputError where nobody agrees to the price."""
    from hopwright.llm.config import read_settings
    from hopwright.llm.estimate import estimate_run
    from hopwright.llm.prices import read_prices
    from hopwright.llm.store import consult_store
    from hopwright.llm.types import parse_model
    from hopwright.stages.models import STORE, ModelAccess, name_command, open_models
    from hopwright.stages.wording import check_models
    from tasks.models import require_models

    wanted = parameters.synthesize
    settings = read_settings(parameters.models.endpoints_file())
    asked = wanted.list_models()
    for one in asked:
        settings.endpoint(parse_model(one).provider)
    run = name_command("preview", [item.id for item in items], wanted.model_dump_json())
    access = ModelAccess(parameters.models.endpoints_file(), home() / STORE, run, parameters.models.limit(), asked)
    check_models(wanted, access)
    requests = bench.list_requests(items, access)
    with consult_store(access.store) as store:
        estimate = estimate_run(requests, settings, store, read_prices(settings.prices), stage="preview")
    if not as_json:
        print_estimate(estimate, parameters, as_json=False)
    if not agreed and not (sys.stdin.isatty() and Confirm.ask("Ask the model now?", console=err, default=False)):
        raise InputError("the model was not asked: give --yes to agree to the price")
    require_models(access, blocks=False)
    worded: list[Item] = bench.reword(items, access, open_models(access))
    if not as_json:
        for item in worded:
            print_item(item)
    return worded

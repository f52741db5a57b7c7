"""`hopwright corpus read`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.console.corpus import find_folder
from flows.console.options import merge_options
from flows.console.output import err, out, print_json
from hopwright.errors import InputError
from hopwright.exports.read_chains.estimating import list_expected
from hopwright.exports.read_chains.funnel import Funnel
from hopwright.exports.read_chains.growing import ReadChains
from hopwright.exports.read_chains.writing import WRITER, read_titles, write_read_chains
from hopwright.knowledge.documents.index import Retriever
from hopwright.llm.config import read_settings
from hopwright.llm.estimate import estimate_run, render_estimate
from hopwright.llm.prices import read_prices
from hopwright.llm.store import consult_store
from hopwright.llm.types import Outcome, Request, parse_model
from hopwright.release.own_folder import refuse_foreign
from hopwright.settings import CorpusReadParameters, home, load_parameters
from hopwright.stages.models import STORE, ModelAccess, name_command, open_models
from tasks.models import require_models


def make(folder: Path, options: Mapping[str, Any], *, dry_run: bool, replace: bool, as_json: bool) -> None:
    """Have a model ask, and say what was kept; a dry run prints what asking would cost."""
    parameters = load_parameters(merge_options({}, options), CorpusReadParameters)
    access = _open_access(folder, parameters)
    excluded = read_titles(parameters.exclude)
    retriever = Retriever.open(find_folder(parameters))
    if dry_run:
        _estimate(ReadChains(retriever, parameters, _refuse, excluded), parameters, access, as_json=as_json)
        return
    refuse_foreign(folder, WRITER, replace=replace)
    require_models(access, blocks=False)
    home().mkdir(parents=True, exist_ok=True)
    maker = ReadChains(retriever, parameters, open_models(access).complete_all, excluded)
    with err.status("asking") as status:
        funnel = write_read_chains(maker, retriever, folder, parameters, status.update, replace=replace)
    if as_json:
        print_json({**funnel.to_dict(), "folder": str(folder)})
        return
    _tell(funnel)
    out.out(str(folder))


def _open_access(folder: Path, parameters: CorpusReadParameters) -> ModelAccess:
    """What may be asked. Raises InputError where no model, or an unknown endpoint, is named."""
    if not parameters.model:
        raise InputError("no model is named: --model endpoint/model names one (docs/models.md)")
    named = (parameters.model, parameters.answer_model, parameters.judge_model)
    asked = tuple(dict.fromkeys(one for one in named if one))
    file = parameters.access.endpoints_file()
    settings = read_settings(file)
    for model in asked:
        settings.endpoint(parse_model(model).provider)
    run = name_command("corpus read", folder.absolute(), *asked)
    return ModelAccess(file, home() / STORE, run, parameters.access.limit(), asked)


def _refuse(_: object) -> list[Outcome]:
    raise RuntimeError("an estimate sends nothing")


def _estimate(maker: ReadChains, parameters: CorpusReadParameters, access: ModelAccess, *, as_json: bool) -> None:
    settings = read_settings(access.endpoints)
    listed = list_expected(maker, parameters)
    known = sum(isinstance(one, Request) for one in listed)
    with consult_store(access.store) as store:
        estimate = estimate_run(listed, settings, store, read_prices(settings.prices), stage="read")
    if as_json:
        print_json({**estimate.to_dict(), "known": known, "budget_usd": access.budget_usd})
        return
    out.out(render_estimate(estimate))
    out.out(
        f"Of these requests {known:,} are known; how many follow is assumed from shares of what usually goes on "
        "(docs/document-questions.md)."
    )
    if access.budget_usd is not None and estimate.usd > access.budget_usd:
        out.out(f"The budget of {access.budget_usd:,.2f} dollars would stop it on the way.")


def _tell(funnel: Funnel) -> None:
    for stage, entered in sorted(funnel.entered.items()):
        out.out(f"{stage}: {entered:,} in, {funnel.passed(stage):,} on")
    for name, number in sorted(funnel.rejected.items(), key=lambda one: (-one[1], one[0])):
        out.out(f"  rejected: {name} ({number:,})")
    for name, number in sorted(funnel.written.items()):
        out.out(f"{name}: {number:,} written")
    out.out(f"{len(funnel.keys):,} requests, {funnel.cost_usd:,.4f} dollars")

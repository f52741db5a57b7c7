"""`hopwright corpus read`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flows.console.corpus import find_folder
from flows.console.estimate import estimate_asked, tell_estimate
from flows.console.options import merge_options
from flows.console.output import err, out, print_json
from hopwright.exports.read_chains.estimating import list_expected
from hopwright.exports.read_chains.funnel import Funnel
from hopwright.exports.read_chains.growing import ReadChains
from hopwright.exports.read_chains.writing import WRITER, read_titles, write_read_chains
from hopwright.knowledge.documents.index import Retriever
from hopwright.llm.types import Outcome, Request
from hopwright.release.own_folder import refuse_foreign
from hopwright.settings import CorpusReadParameters, home, load_parameters
from hopwright.stages.models import ModelAccess, grant_command_access, open_models
from tasks.models import require_models


def make(folder: Path, options: Mapping[str, Any], *, dry_run: bool, replace: bool, as_json: bool) -> None:
    """Have a model ask, and say what was kept; a dry run prints what asking would cost."""
    parameters = load_parameters(merge_options({}, options), CorpusReadParameters)
    others = filter(None, (parameters.answer_model, parameters.judge_model))
    asked = tuple(dict.fromkeys((parameters.model, *others)))
    access = grant_command_access("corpus read", folder, asked, parameters.access)
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


def _refuse(_: object) -> list[Outcome]:
    raise RuntimeError("an estimate sends nothing")


def _estimate(maker: ReadChains, parameters: CorpusReadParameters, access: ModelAccess, *, as_json: bool) -> None:
    listed = list_expected(maker, parameters)
    known = sum(isinstance(one, Request) for one in listed)
    remark = (
        f"Of these requests {known:,} are known; how many follow is assumed from shares of what usually goes on "
        "(docs/document-questions.md)."
    )
    estimate = estimate_asked(listed, access, "read")
    tell_estimate(estimate, access.budget_usd, as_json=as_json, more={"known": known}, remark=remark)


def _tell(funnel: Funnel) -> None:
    for stage, entered in sorted(funnel.entered.items()):
        out.out(f"{stage}: {entered:,} in, {funnel.passed(stage):,} on")
    for name, number in sorted(funnel.rejected.items(), key=lambda one: (-one[1], one[0])):
        out.out(f"  rejected: {name} ({number:,})")
    for name, number in sorted(funnel.written.items()):
        out.out(f"{name}: {number:,} written")
    out.out(f"{len(funnel.keys):,} requests, {funnel.cost_usd:,.4f} dollars")

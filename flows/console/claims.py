"""`hopwright claims`: having claims proposed, and holding a bank of them to the rules."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from flows.console.options import merge_options
from flows.console.output import err, out, print_json
from hopwright.errors import InputError
from hopwright.knowledge.external.bank import (
    describe_refused,
    format_bank,
    read_bank,
    refused_path,
    validate_bank,
    write_bank,
    write_refused_claims,
)
from hopwright.records import Claim, Domain, Rejected
from hopwright.settings import DomainName, ModelRun, home, load_parameters

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class ProposalOptions:
    """What the command line asks for."""

    model: str
    number: int
    domains: Sequence[DomainName]
    out: Path
    options: Mapping[str, Any]


def read_domains(names: Sequence[str]) -> list[DomainName]:
    """Domains by their short names. Raises InputError for one that there is not."""
    known = get_args(DomainName)
    for name in names:
        if name not in known:
            raise InputError(f"--domain: there is no domain {name!r}; there are {', '.join(known)}")
    return [name for name in known if name in names]


def propose_claims(order: ProposalOptions, *, dry_run: bool, as_json: bool) -> None:
    """Have a model propose claims and add those that are fit to a bank; what is not is kept beside it, with reasons.

    A killed command, given again, asks nothing twice: answers are in the cache, and the bank is written at the end.
    """
    from hopwright.knowledge.external.proposing import PROMPT, ProposalRequest, propose
    from hopwright.llm.prompts import load_prompts
    from hopwright.llm.types import parse_model
    from hopwright.stages.models import name_command, open_models
    from tasks.models import require_models

    if order.number < 1:
        raise InputError(f"--number: {order.number} claims are none; ask for one at least")
    parameters = load_parameters(merge_options({}, order.options), ModelRun)
    bank = read_bank(order.out) if order.out.exists() else ()
    domains = tuple(Domain[name.upper()] for name in dict.fromkeys(order.domains)) or tuple(Domain)
    wish = ProposalRequest(parse_model(order.model), order.number, domains, parameters.seed)
    prompt = load_prompts()[PROMPT]
    names = [one.name for one in domains]
    run = name_command("claims", wish.model, wish.number, names, wish.seed, format_bank(bank))
    access = _grant(parameters, order.model, run)
    if dry_run:
        _estimate(wish, prompt, bank, parameters, access, as_json=as_json)
        return
    require_models(access, blocks=False)
    home().mkdir(parents=True, exist_ok=True)
    session = open_models(access)
    with err.status(f"asking {order.model} for {order.number:,} claims"):
        found = propose(wish, prompt, session, bank)
    refused = write_refused_claims(found.refused, order.out)
    if found.claims:
        write_bank((*bank, *found.claims), order.out)
    missing = max(0, order.number - len(found.claims))
    values = {
        "out": str(order.out), "claims": len(bank) + len(found.claims), "new": len(found.claims), "missing": missing,
        "proposed": found.proposed, "refused": describe_refused(found.refused),
        "rejected": str(refused) if refused else None,
        "requests": found.requests, "from_cache": found.from_cache, "without_answer": found.without_answer,
        "input_tokens": found.input_tokens, "output_tokens": found.output_tokens, "cost_usd": round(found.cost_usd, 6),
    }  # fmt: skip
    if as_json:
        print_json(values)
    else:
        _tell(values)
    if not found.claims:
        raise InputError(f"none of {found.proposed:,} proposed claims could be kept; {_say_where(order.out, refused)}")


def check_claims(file: Path, store: Path | None, into: Path | None, *, as_json: bool) -> None:
    """Hold a bank to the rules, and to a graph where one is given; exits with 1 when a claim cannot be used."""
    validated = validate_bank(file)
    claims, refused = list(validated.claims), list(validated.refused)
    links: dict[str, tuple[str, ...]] = {}
    if store is not None:
        with err.status("opening the graph"):
            from hopwright.knowledge.external.graph_comparison import compare_claims_with_graph
            from hopwright.knowledge.wikidata.properties import default_table
            from hopwright.knowledge.wikidata.store import GraphStore

            found, held = compare_claims_with_graph(claims, GraphStore.open(store), default_table())
        links = {one.claim.id: one.entities for one in found}
        refused += held
        claims = [claim for claim in claims if claim.id not in {one.key for one in held}]
    place = write_refused_claims(refused, into or file)
    if into is not None:
        write_bank(claims, into)
    if as_json:
        print_json(
            {
                "file": str(file), "claims": len(claims), "refused": describe_refused(refused),
                "reasons": [one.model_dump(mode="json", exclude={"row"}) for one in refused],
                "links": links, "rejected": str(place) if place else None, "out": str(into) if into else None,
            }
        )  # fmt: skip
    else:
        _tell_check(file, claims, refused, links, place)
    if refused or not claims:
        sys.exit(1)


def _grant(parameters: ModelRun, model: str, run: str) -> Any:
    """Leave to ask the model, and those that its endpoints file names for when it is down."""
    from hopwright.llm.config import read_settings
    from hopwright.llm.types import parse_model
    from hopwright.stages.models import STORE, ModelAccess

    settings = read_settings(parameters.models.endpoints_file())
    asked = (model, *settings.fallbacks.get(model, ()))
    for one in asked:
        settings.endpoint(parse_model(one).provider)
    return ModelAccess(parameters.models.endpoints_file(), home() / STORE, run, parameters.models.limit(), asked)


def _estimate(
    wish: Any, prompt: Any, bank: Sequence[Claim], parameters: ModelRun, access: Any, *, as_json: bool
) -> None:
    from flows.console.estimate import print_estimate
    from hopwright.knowledge.external.proposing import list_requests
    from hopwright.llm.config import read_settings
    from hopwright.llm.estimate import estimate_run
    from hopwright.llm.prices import read_prices
    from hopwright.llm.store import consult_store

    settings = read_settings(access.endpoints)
    with consult_store(access.store) as store:
        requests = list_requests(wish, prompt, bank)
        estimate = estimate_run(requests, settings, store, read_prices(settings.prices), stage="claims")
    print_estimate(estimate, parameters, as_json=as_json)


def _tell(values: dict[str, Any]) -> None:
    out.print(
        f"{values['new']:,} new claims of {values['proposed']:,} proposed; {values['claims']:,} in {values['out']}"
    )
    for check, count in values["refused"].items():
        out.print(f"  {check}: {count:,}")
    if values["rejected"]:
        out.print(f"refused ones, with reasons: {values['rejected']}")
    if values["missing"]:
        out.print(f"{values['missing']:,} of those asked for are missing; another --seed may bring more")
    out.print(
        f"{values['requests']:,} requests, {values['from_cache']:,} from the cache, "
        f"{values['without_answer']:,} without an answer; {values['cost_usd']:.4f} dollars"
    )
    out.print("No claim is proven: an expert looks it up in the review (docs/claims.md).")


def _tell_check(
    file: Path,
    claims: Sequence[Claim],
    refused: Sequence[Rejected],
    links: dict[str, tuple[str, ...]],
    place: Path | None,
) -> None:
    out.print(f"{file}: {len(claims):,} claims that can be used, {len(refused):,} refused")
    for one in refused[:_SHOWN]:
        out.print(f"  {one.key}: {one.reason}")
    if len(refused) > _SHOWN:
        out.print(f"  … and {len(refused) - _SHOWN:,} more")
    for claim in claims:
        if links.get(claim.id):
            out.print(f"  {claim.phrase}: {', '.join(links[claim.id])}")
    if place is not None:
        out.print(f"refused ones, with reasons: {place}")


def _say_where(file: Path, refused: Path | None) -> str:
    return f"{refused or refused_path(file)} says why"

"""Having a model propose claims: some of a domain in one request, each held to the rules before it is kept.

The requests of one domain follow one another, each told what is there already; domains go side by side. So the same
answers give the same bank, however many requests are in flight, and what a killed command paid for is in the cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import cast

from pydantic import ValidationError

from hopwright.knowledge.external.bank import ClaimValidator
from hopwright.llm.answers import ProposedClaim, ProposedClaims
from hopwright.llm.asking import RequestSender, ask_until_accepted
from hopwright.llm.estimate import ApproximateRequest
from hopwright.llm.prompts import Prompt
from hopwright.llm.schemas import describe_error
from hopwright.llm.types import ModelRef, Outcome, Request, Response, Sampling
from hopwright.records import Claim, Domain, Rejected, make_claim
from hopwright.records.values import render

PROMPT = "propose-claims"
CLAIMS_PER_REQUEST = 10
"""Claims that one request asks for."""
_TOLD = 200
"""Phrases that a request names as taken: the latest ones, so that it does not grow for ever."""
_MAX_FRUITLESS_ROUNDS = 2
"""A domain is given up after so many requests in a row that brought nothing."""
_PLAIN = re.compile(r"^[+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?$")


@dataclass(frozen=True, slots=True)
class ProposalRequest:
    """What is asked for: so many claims, of these domains alike, from this model."""

    model: ModelRef
    number: int
    domains: tuple[Domain, ...]
    seed: int = 0
    temperature: float | None = None
    fallbacks: tuple[ModelRef, ...] = ()


@dataclass(slots=True)
class ProposalResult:
    """What came of it. `claims` are the new ones; dollars and tokens count what was paid for now."""

    claims: tuple[Claim, ...] = ()
    refused: tuple[Rejected, ...] = ()
    requests: int = 0
    from_cache: int = 0
    without_answer: int = 0
    proposed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


@dataclass(slots=True)
class _DomainProgress:
    """How far one domain is."""

    domain: Domain
    quota: int
    round: int = 0
    in_vain: int = 0
    kept: int = 0
    phrases: list[str] = field(default_factory=list)

    @property
    def open(self) -> bool:
        return self.kept < self.quota and self.in_vain < _MAX_FRUITLESS_ROUNDS

    @property
    def missing(self) -> int:
        return min(CLAIMS_PER_REQUEST, self.quota - self.kept)


def propose(wish: ProposalRequest, prompt: Prompt, asker: RequestSender, bank: Sequence[Claim] = ()) -> ProposalResult:
    """Ask until each domain has its share of the claims or nothing more comes; `bank` is what there is already."""
    result = ProposalResult()
    validator = ClaimValidator()
    validator.settle(bank)
    known = [claim.phrase for claim in sorted(bank, key=lambda one: one.id)]
    courses = _split(wish)
    asking = [_DomainDialogue(course, wish, prompt, known, validator, result) for course in courses]
    # In rounds: whether a claim is new depends on what the domains before it brought.
    ask_until_accepted(asker, [(one.ask(), one.take) for one in asking], in_rounds=True)
    validated = validator.finish()
    settled = {claim.id for claim in bank}
    result.claims = tuple(claim for claim in validated.claims if claim.id not in settled)
    result.refused = (*result.refused, *validated.refused)
    return result


@dataclass(slots=True)
class _DomainDialogue:
    """The requests of one domain, which follow one another until it has its share or nothing more comes."""

    progress: _DomainProgress
    wish: ProposalRequest
    prompt: Prompt
    known: Sequence[str]
    validator: ClaimValidator
    result: ProposalResult

    def ask(self) -> Request:
        return _request(self.wish, self.prompt, self.progress, self.known)

    def take(self, outcome: Outcome) -> Request | None:
        _take(self.progress, outcome, self.validator, self.result)
        return self.ask() if self.progress.open else None


def list_requests(
    wish: ProposalRequest, prompt: Prompt, bank: Sequence[Claim] = ()
) -> Iterator[Request | ApproximateRequest]:
    """What would be asked if every claim were fit: the first request of each domain, and as many more as it takes."""
    known = [claim.phrase for claim in sorted(bank, key=lambda one: one.id)]
    for course in _split(wish):
        yield _request(wish, prompt, course, known)
        while course.kept + course.missing < course.quota:
            course.kept += course.missing
            course.round += 1
            yield ApproximateRequest(_request(wish, prompt, course, known))


def read_value(text: str) -> str:
    """A number as answers are written (`1,234`). Raises ValueError for what is no exact number."""
    plain = text.strip()
    if not _PLAIN.match(plain):
        raise ValueError(f"{text[:40]!r} is no exact number")
    try:
        return render(Decimal(plain.replace(",", "")).normalize())
    except InvalidOperation:
        raise ValueError(f"{text[:40]!r} is no exact number") from None


def _split(wish: ProposalRequest) -> list[_DomainProgress]:
    share, more = divmod(wish.number, len(wish.domains))
    quotas = [share + (place < more) for place in range(len(wish.domains))]
    return [_DomainProgress(domain, quota) for domain, quota in zip(wish.domains, quotas, strict=True) if quota]


def _request(wish: ProposalRequest, prompt: Prompt, course: _DomainProgress, known: Sequence[str]) -> Request:
    taken = [*known, *course.phrases][-_TOLD:]
    inputs = {"domain": course.domain.value, "number": course.missing, "taken": taken}
    temperature = prompt.front.temperature if wish.temperature is None else wish.temperature
    # The round is a part of the seed: a request that brought nothing is not the same request again.
    sampling = Sampling(prompt.front.max_tokens, temperature, seed=wish.seed * 1000 + course.round)
    item = f"claims {course.domain.name.lower()} {course.round + 1}"
    return prompt.request(inputs, wish.model, item=item, sampling=sampling, fallbacks=wish.fallbacks)


def _take(course: _DomainProgress, outcome: Outcome, validator: ClaimValidator, result: ProposalResult) -> None:
    course.round += 1
    key = f"{course.domain.value}, request {course.round}"
    result.requests += 1
    cached = outcome.ok and outcome.cached
    result.from_cache += cached
    if not cached:
        result.input_tokens += outcome.usage.input
        result.output_tokens += outcome.usage.output
        result.cost_usd += outcome.cost_usd
    if not outcome.ok:
        result.without_answer += 1
        course.in_vain += 1
        validator.refuse(key, f"answer_{outcome.kind}", outcome.reason)
        return
    gained = 0
    for place, one in enumerate(cast(ProposedClaims, outcome.parsed).claims, start=1):
        result.proposed += 1
        where = f"{key}, claim {place}"
        if course.kept + gained >= course.quota:
            validator.refuse(where, "claim_surplus", "more than were asked for", one.model_dump_json())
            continue
        claim = _read(one, outcome, where, validator)
        if claim is not None:
            course.phrases.append(claim.phrase)
            gained += validator.add(claim, where)
    course.kept += gained
    course.in_vain = 0 if gained else course.in_vain + 1


def _read(one: ProposedClaim, response: Response, where: str, validator: ClaimValidator) -> Claim | None:
    try:
        return make_claim(
            statement=one.statement.strip(),
            phrase=one.phrase.strip(),
            value=read_value(one.value),
            unit=one.unit.strip(),
            source_title=one.source_title.strip(),
            source_url=one.source_url.strip(),
            names=[name.strip() for name in one.names],
            author="model",
            model=f"{response.provider}/{response.model}",
            model_version=response.model_version,
            request_key=response.key,
        )
    except ValidationError as error:
        validator.refuse(where, "claim_schema", describe_error(error), one.model_dump_json())
    except ValueError as error:
        validator.refuse(where, "claim_schema", f"value: {error}", one.model_dump_json())
    return None

"""Claims from a model that errs: what is kept, what is refused and why, and that nothing is paid for twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopwright.checks.claims import find_faults
from hopwright.knowledge.external.bank import describe_refused, format_bank
from hopwright.knowledge.external.proposing import (
    PROMPT,
    ProposalRequest,
    ProposalResult,
    list_requests,
    propose,
    read_value,
)
from hopwright.llm.prompts import load_prompts
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef
from hopwright.records import Claim, Domain
from tests.e2e.serving import serving
from tests.knowledge.external.claims_model import SHARED, ClaimModel, Slips
from tests.llm.builders import settings
from tests.llm.wire_server import Faults
from tests.sample_claims import APOLLO, BANK

MODEL = ModelRef("local", "some-model")
TWO = (Domain.HISTORY, Domain.SPORTS)
MIXED = Slips(
    no_source=0.08, a_site=0.05, no_number=0.05, number_in_phrase=0.08, so_far=0.05, repeated=0.08, contradiction=0.1,
    broken_json=0.2,
)  # fmt: skip


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWRIGHT_TEST_KEY", "k")


def ask(
    server: ClaimModel, folder: Path, wish: ProposalRequest, bank: tuple[Claim, ...] = (), *, kind: str = "compatible"
) -> ProposalResult:
    url = server.url if kind == "anthropic" else server
    with Session(settings(url, kind=kind), folder / "llm.sqlite", run="r") as session:
        return propose(wish, load_prompts()[PROMPT], session, bank)


@pytest.mark.parametrize("kind", ["compatible", "anthropic"])
def test_of_a_model_that_errs_only_what_is_fit_is_kept(tmp_path: Path, kind: str) -> None:
    with serving(ClaimModel(MIXED)) as server:
        found = ask(server, tmp_path, ProposalRequest(MODEL, 120, tuple(Domain)), kind=kind)
        given = dict(server.given)
    assert len(given) == 8, "every kind of slip was made"
    assert not [fault for claim in found.claims for fault in find_faults(claim)]
    assert {(claim.author, claim.model) for claim in found.claims} == {("model", "local/some-model")}
    assert all(claim.request_key and claim.sealed for claim in found.claims)
    assert SHARED not in {claim.phrase for claim in found.claims}
    refused = describe_refused(found.refused)
    assert len(found.claims) + sum(refused.values()) == found.proposed, "counts add up"
    assert refused["claim_contradiction"] == given["contradiction"] - repeats(found)
    reasons = " ".join(one.reason for one in found.refused)
    for said in ("source_url", "a site, not a page", "no exact number", "gives away", "time of reading", "already"):
        assert said in reasons
    assert 100 <= len(found.claims) <= 120


def repeats(found: ProposalResult) -> int:
    """Claims of the disputed phrase that were the same as an earlier one."""
    return sum(SHARED in one.reason and one.check == "claim_duplicate" for one in found.refused)


def test_the_same_answers_give_the_same_bank_however_slow_they_come(tmp_path: Path) -> None:
    banks = []
    for number, latency_s in enumerate((0.0, 0.05)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with serving(ClaimModel(MIXED, Faults(latency_s=latency_s))) as server:
            banks.append(format_bank(ask(server, folder, ProposalRequest(MODEL, 60, tuple(Domain))).claims))
    keys = [[json.loads(line)["request_key"] for line in bank.splitlines()] for bank in banks]
    assert banks[0] == banks[1] and keys[0] == keys[1]


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    wish = ProposalRequest(MODEL, 40, TWO)
    with serving(ClaimModel(MIXED)) as server:
        first = ask(server, tmp_path, wish)
        asked = server.stats()["received"]
        again = ask(server, tmp_path, wish)
        assert server.stats()["received"] == asked
    assert again.claims == first.claims and again.refused == first.refused
    assert again.from_cache == again.requests == first.requests > 0
    assert again.input_tokens == again.output_tokens == 0


def test_a_refusal_is_a_row_with_a_reason_and_a_domain_that_gives_nothing_is_given_up(tmp_path: Path) -> None:
    with serving(ClaimModel(Slips(refusal=1.0))) as server:
        found = ask(server, tmp_path, ProposalRequest(MODEL, 40, TWO))
    assert not found.claims and found.without_answer == found.requests == 4
    assert {one.check for one in found.refused} == {"answer_refusal"}
    assert [one.key for one in found.refused][:2] == [f"{domain.value}, request 1" for domain in TWO]


def test_what_the_bank_holds_is_named_and_stays(tmp_path: Path) -> None:
    wish = ProposalRequest(MODEL, 10, TWO)
    first = next(iter(list_requests(wish, load_prompts()[PROMPT], BANK)))
    assert all(claim.phrase in first.messages[-1].content for claim in BANK)  # type: ignore[union-attr]
    with serving(ClaimModel(Slips(contradiction=1.0))) as server:
        held = ask(server, tmp_path, ProposalRequest(MODEL, 1, TWO[:1])).claims
        assert [claim.phrase for claim in held] == [SHARED]
        found = ask(server, tmp_path, ProposalRequest(MODEL, 1, TWO[1:]), (APOLLO, *held))
    assert not found.claims
    assert {one.check for one in found.refused} == {"claim_contradiction"}
    assert "the bank" in found.refused[0].reason


def test_a_rehearsal_lists_as_many_requests_as_it_takes() -> None:
    prompt = load_prompts()[PROMPT]
    assert len(list(list_requests(ProposalRequest(MODEL, 100, tuple(Domain)), prompt))) == 16
    assert len(list(list_requests(ProposalRequest(MODEL, 3, tuple(Domain)), prompt))) == 3
    assert prompt.turns[0].stable and not prompt.turns[1].stable


@pytest.mark.parametrize(("text", "value"), [("6", "6"), ("1234", "1,234"), ("1,234", "1,234"), ("2.50", "2.5")])
def test_numbers_are_written_in_one_way(text: str, value: str) -> None:
    assert read_value(text) == value


@pytest.mark.parametrize("text", ["", "six", "about 6", "1,23", "6-7", "1e3", "NaN", "-6"])
def test_what_is_no_exact_number_is_no_value(text: str) -> None:
    with pytest.raises(ValueError, match="no exact number"):
        read_value(text)

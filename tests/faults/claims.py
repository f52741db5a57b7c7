"""Claims that were forged, lost, given away or not marked; an item without any has no place for them."""

from __future__ import annotations

import json

from hopwright.records import make_claim
from tests.faults.planting import each_hop, fault

_CONTENT = ("statement", "phrase", "value", "unit", "source_title", "source_url", "names", "author")


def each_claim(row):
    for faulty, hop in each_hop(row):
        for claim in hop["evidence"]["claims"]:
            yield faulty, hop, claim


def seal_again(faulty, claim, **changes):
    """The claim changed and given the id of its new content, wherever the row names it; its old words made way."""
    changed = make_claim(**({name: claim[name] for name in _CONTENT} | changes)).model_dump(mode="json")
    text = json.dumps(faulty, ensure_ascii=False).replace(claim["id"], changed["id"])
    for name in ("phrase", "statement", "source_url"):
        text = text.replace(*(json.dumps(one[name], ensure_ascii=False)[1:-1] for one in (claim, changed)))
    faulty = json.loads(text)
    for hop in faulty["single_hop"]:
        for one in hop["evidence"]["claims"]:
            one["names"] = changed["names"]
    faulty["id"] = "elsewhere-1"  # an id of other people's, so that it is not the plan's hash that tells
    return faulty


@fault("claims", "recomputation")
def forged_claim(row, graph):
    for faulty, _, claim in each_claim(row):
        claim["value"] = "77"
        yield faulty


@fault("claims")
def exchanged_source(row, graph):
    for faulty, _, claim in each_claim(row):
        claim["source_url"] = "https://www.britannica.com/topic/another-page"
        yield faulty


@fault("recomputation")
def forged_claim_with_a_new_id(row, graph):
    for faulty, hop, claim in each_claim(row):
        expression = hop["derivation"]["expression"]
        changed = make_claim(**({name: claim[name] for name in _CONTENT} | {"value": "77"})).model_dump(mode="json")
        claim.update(changed)
        hop["derivation"]["expression"] = expression.replace(expression.split('"')[1], changed["id"])
        faulty["id"] = "elsewhere-1"
        yield faulty


@fault("claims", "recomputation")
def missing_claim(row, graph):
    for faulty, hop, _ in each_claim(row):
        hop["evidence"]["claims"] = []
        yield faulty


@fault("schema")
def claim_without_a_source(row, graph):
    for faulty, _, claim in each_claim(row):
        claim["source_url"] = ""
        yield faulty


@fault("claims")
def claim_of_a_site(row, graph):
    for faulty, _, claim in each_claim(row):
        yield seal_again(faulty, claim, source_url="https://www.britannica.com/")


@fault("claims")
def phrase_with_the_number(row, graph):
    for faulty, _, claim in each_claim(row):
        yield seal_again(faulty, claim, phrase=f"{claim['phrase']}, all {claim['value']} of them")


@fault("claims")
def claim_that_does_not_last(row, graph):
    for faulty, _, claim in each_claim(row):
        yield seal_again(faulty, claim, phrase=f"{claim['phrase']} so far")


@fault("claims")
def claims_number_in_the_question(row, graph):
    for faulty, _, claim in each_claim(row):
        question = faulty["multi_hop_question"]
        faulty["multi_hop_question"] = question.replace(claim["phrase"], f"{claim['phrase']} ({claim['value']})")
        yield faulty


@fault("claims")
def claim_not_asked_for(row, graph):
    for faulty, hop, claim in each_claim(row):
        hop["question"] = hop["question"].replace(claim["phrase"], "a certain number")
        yield faulty


@fault("claims")
def unmarked_claim(row, graph):
    for faulty, hop, _ in each_claim(row):
        hop["verify"] = ""
        yield faulty


@fault("claims")
def idle_claim(row, graph):
    for faulty, hop, claim in each_claim(row):
        other = next(one for one in faulty["single_hop"] if one is not hop)
        other["evidence"]["claims"] = [claim]
        yield faulty


@fault("claims")
def claim_about_another_hop(row, graph):
    """It mentions what the plan passes through."""
    for faulty, _, claim in each_claim(row):
        passed = [one["answer"] for one in faulty["single_hop"] if one["answer_id"] and one["evidence"]["triplets"]]
        if passed:
            yield seal_again(faulty, claim, names=[*claim["names"], passed[0]])

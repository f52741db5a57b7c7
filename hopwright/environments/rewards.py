"""Rewards of an episode as functions of one form, two of them from papers, by name in `REWARDS`."""

from __future__ import annotations

from collections.abc import Callable

from hopwright.environments.task import Task
from hopwright.environments.transcript import Transcript
from hopwright.environments.verifier import Verdict, verify
from hopwright.scoring.answers import normalise

MMHOPS_TURNS = 4
"""Turns with the knowledge base that MMhops-R1 allows."""
_MMHOPS_ACTION = 0.25
_SEARCH_R1_FORMAT = 0.2
_SEARCH_R1_RETRIEVAL = 0.3
_SEARCH_R1_READABLE = 0.1
HOP_CREDIT = 0.5
"""What all hops together add to our reward."""
CALL_COST = 0.05
"""What a call that serves no hop takes off our reward."""

Reward = Callable[[Task, Transcript], float]


def reward_mmhops(task: Task, transcript: Transcript) -> float:
    """MMhops-R1: outcome + format + 0.25 × outcome × format × well-formed calls, of which the first 4 turns count.

    Its authors gate the calls by the outcome, but a right answer is worth more with every call, of whatever use.
    """
    outcome = float(verify(task, transcript).right)
    form = float(_is_well_formed(transcript))
    calls = sum(not action.problem for turn in transcript.turns[:MMHOPS_TURNS] for action in turn.actions)
    return outcome + form + _MMHOPS_ACTION * outcome * form * calls


def reward_search_r1(task: Task, transcript: Transcript) -> float:
    """Search-R1 with its rewards of format and retrieval.

    1 for a right answer, 0.2 less where the format is broken. A wrong one in the right format is worth 0.3 where the
    gold answer stands in a passage that was shown, else 0.2; a readable wrong one in a broken format 0.1.
    """
    form = _is_well_formed(transcript)
    if verify(task, transcript).right:
        return 1.0 if form else 1.0 - _SEARCH_R1_FORMAT
    if form:
        return _SEARCH_R1_RETRIEVAL if _holds_answer(task, transcript) else _SEARCH_R1_FORMAT
    return _SEARCH_R1_READABLE if transcript.ended == "answered" else 0.0


def reward_hops(task: Task, transcript: Transcript) -> float:
    """Ours: outcome + 0.5 × the share of hops that are found − 0.05 for every call that serves no hop.

    Hops count that have gold places; a hop is found when its answer is written after its gold was shown (`verifier`).
    A call serves a hop when it is the first to show a gold place. Malformed calls serve none.
    """
    return weigh_hops(verify(task, transcript))


def weigh_hops(verdict: Verdict) -> float:
    """Our reward of a verified transcript."""
    stated = [hop for hop in verdict.hops if hop.facts]
    share = sum(hop.found for hop in stated) / len(stated) if stated else 0.0
    return float(verdict.right) + HOP_CREDIT * share - CALL_COST * verdict.serving.count(False)


REWARDS: dict[str, Reward] = {"mmhops-r1": reward_mmhops, "search-r1": reward_search_r1, "hops": reward_hops}


def _is_well_formed(transcript: Transcript) -> bool:
    return transcript.ended == "answered" and not transcript.malformed


def _holds_answer(task: Task, transcript: Transcript) -> bool:
    texts = [f" {normalise(passage.text)} " for action in transcript.actions for passage in action.passages]
    return any(f" {normalise(answer)} " in text for answer in task.answers for text in texts)

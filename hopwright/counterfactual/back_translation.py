"""Back-translation (CofCA's second stage): a round trip through another language proposes another wording.

Every text of an item goes on its own: the question, the sub-questions, the passages, long ones in pieces. What fails a
gate goes on to the next sample or pivot; what fails all of them stays as stage one worded it, with the last failure on
record.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from hopwright.counterfactual.apertium import ApertiumBackTranslator
from hopwright.counterfactual.meaning import Judge, Similarity
from hopwright.counterfactual.rewording_checks import (
    KeptCause,
    MaskedText,
    RewordedText,
    accept_known_paraphrases,
    accept_whole_text,
    has_paraphrase,
    mask,
)
from hopwright.counterfactual.translating import BackTranslator, RoundTripResult
from hopwright.errors import ServiceError
from hopwright.llm.asking import RequestCosts
from hopwright.records import CheckResult, Item, Passage
from hopwright.records.model import Outcome

__all__ = [
    "ApertiumBackTranslator",
    "BackTranslator",
    "RewordingBounds",
    "apply_back_translation",
    "back_translate",
    "list_questions",
]

_PIECE = 300
_NOTHING_KNOWN = frozenset({KeptCause.NO_PARAPHRASE, KeptCause.NO_SAFE_EDIT})
_SENTENCE_END = re.compile(r"(?<=[a-z0-9)\]”\"][.!?]) (?=[A-Z\"“])")


@dataclass(frozen=True, slots=True)
class RewordingBounds:
    """The bounds that a reworded text must keep.

    max_overlap: largest share of the old text's word pairs that may still be there. min_similarity: least cosine of the
    sentence embeddings, asked only of a `similarity`. judge: a model that must say that both texts mean the same.
    """

    max_overlap: float = 1.0
    min_similarity: float = 0.0
    similarity: Similarity | None = None
    judge: Judge | None = None


NO_REWORDING_BOUNDS = RewordingBounds()


@dataclass(frozen=True, slots=True)
class TextBackTranslation:
    """One text after all tries. `by`: the translator that reworded it, empty when it stayed; `tries`: how many it
    took, 0 when it was not sent.
    """

    result: RewordedText
    by: str = ""
    tries: int = 0
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class ItemBackTranslation:
    """An item's texts after the round trips: question, sub-questions, passages in pieces; or why none."""

    texts: tuple[TextBackTranslation, ...] = ()
    skipped: str = ""
    spent: RequestCosts = field(default_factory=RequestCosts)


def back_translate(
    items: Sequence[Item],
    translators: BackTranslator | Sequence[BackTranslator],
    gates: RewordingBounds = NO_REWORDING_BOUNDS,
) -> list[ItemBackTranslation]:
    """Send the texts of all items through the translators; one result per item, and never an exception.

    Each translator is tried as often as it offers samples, then the next one. A translator with an obstacle, or one
    that fails as a whole, is passed over; when none is left to begin with, all items are skipped with the reason.
    """
    chain = list(translators) if isinstance(translators, Sequence) else [translators]
    texts = [text for item in items for text in list_texts(item)]
    names = [own for item in items for own in [_list_names(item)] for _ in list_texts(item)]
    rounds = reword(texts, names, chain, gates)
    if isinstance(rounds, str):
        return [ItemBackTranslation(skipped=rounds) for _ in items]
    pairs = iter(rounds)
    out = []
    for item in items:
        own = [next(pairs) for _ in list_texts(item)]
        total = RequestCosts()
        for _, paid in own:
            total = total + paid
        out.append(ItemBackTranslation(tuple(one for one, _ in own), spent=total))
    return out


def reword(
    texts: Sequence[str],
    names: Sequence[Sequence[str]],
    translators: Sequence[BackTranslator],
    gates: RewordingBounds = NO_REWORDING_BOUNDS,
) -> list[tuple[TextBackTranslation, RequestCosts]] | str:
    """What becomes of each text, and what it cost; or, as text, why none of the translators could run.

    names: by text, what must come back untouched beside numbers, titles and other names. A translator of which only
    known paraphrases are taken is not sent what has none.
    """
    done = [TextBackTranslation(RewordedText(text, 0, 0, 1.0, "not translated")) for text in texts]
    spent = [RequestCosts()] * len(texts)
    skipped, tried = "no translator", False
    for translator in translators:
        if obstacle := translator.find_obstacle():
            skipped = obstacle
            continue
        for attempt in range(translator.tries):
            places = []
            masked = []
            for place in (place for place, one in enumerate(done) if not one.by):
                if not (translator.whole or has_paraphrase(texts[place])):
                    if not done[place].tries:
                        done[place] = _explain(
                            done[place], KeptCause.NO_PARAPHRASE, "not sent: no word of it has a known paraphrase"
                        )
                    continue
                try:
                    masked.append(mask(texts[place], names[place], translator.style))
                    places.append(place)
                except ValueError as error:
                    done[place] = _explain(done[place], KeptCause.MASK_BROKEN, str(error))
            try:
                back = translator.translate([one.text for one in masked], attempt)
                results = _apply_bounds(masked, back, translator, gates)
            except ServiceError as error:
                skipped = str(error)
                break
            tried = True
            for place, came, result in zip(places, back, results, strict=True):
                done[place] = replace(result, tries=done[place].tries + 1)
                spent[place] = spent[place] + came.spent
            if all(one.by for one in done):
                break
    return list(zip(done, spent, strict=True)) if tried else skipped


def apply_back_translation(item: Item, returned: ItemBackTranslation) -> Item:
    """The item with the texts that passed, its provenance, and the check `back_translation`.

    pass: the question was reworded; fail: a rewording of it was refused, and why; skip: there was none to refuse, since
    nothing could be translated, or no paraphrase is known for it.
    """
    if returned.skipped:
        return _note(item, CheckResult(name="back_translation", outcome="skip", reason=returned.skipped))
    texts = iter(returned.texts)
    first, *subs = (next(texts) for _ in range(1 + len(item.hops)))
    hops = []
    reworded = passages = 0
    for hop, sub in zip(item.hops, subs, strict=True):
        own: list[Passage] = []
        for passage in hop.evidence.passages:
            pieces = [next(texts) for _ in split_text(passage.text)]
            own.append(passage.model_copy(update={"text": " ".join(piece.result.text for piece in pieces)}))
            reworded += any(piece.by for piece in pieces)
            passages += 1
        evidence = hop.evidence.replace(passages=own)
        hops.append(hop.model_copy(update={"question": sub.result.text, "evidence": evidence}))
    similarity = "" if first.similarity is None else f", similarity {first.similarity:.3f}"
    figures = (
        f"overlap {first.result.overlap:.2f}{similarity}, "
        f"{first.result.kept} of {first.result.kept + first.result.refused} changes kept, {first.tries} tries; "
        f"{sum(bool(sub.by) for sub in subs)} of {len(subs)} sub-questions reworded"
        + (f", {reworded} of {passages} passages" if passages else "")
    )
    if first.by:
        result = CheckResult(name="back_translation", outcome="pass", reason=figures)
    else:
        outcome: Outcome = "fail" if first.tries and first.result.cause not in _NOTHING_KNOWN else "skip"
        result = CheckResult(name="back_translation", outcome=outcome, reason=f"{first.result.reason}; {figures}")
    used = ", ".join(dict.fromkeys(one.by for one in returned.texts if one.by))
    spent = returned.spent
    provenance = item.provenance.model_copy(
        update={
            "back_translation": used,
            "request_keys": (*item.provenance.request_keys, *spent.keys),
            "input_tokens": item.provenance.input_tokens + spent.input_tokens,
            "output_tokens": item.provenance.output_tokens + spent.output_tokens,
            "cost_usd": item.provenance.cost_usd + spent.cost_usd,
        }
    )
    marked = item.marked if first.result.text == item.question else ""  # nobody knows which new words say what
    update = {"question": first.result.text, "marked": marked, "hops": tuple(hops), "provenance": provenance}
    return _note(item.model_copy(update=update), result)


def list_questions(item: Item) -> list[str]:
    """The question and the sub-questions."""
    return [item.question, *(hop.question for hop in item.hops)]


def list_texts(item: Item) -> list[str]:
    """All texts that go through the round trip: the questions, then the passages in pieces."""
    passages = (passage for hop in item.hops for passage in hop.evidence.passages)
    return [*list_questions(item), *(piece for passage in passages for piece in split_text(passage.text))]


def split_text(text: str) -> list[str]:
    """A text in pieces of whole sentences, each of at most about 300 letters; joined by blanks they are the text."""
    pieces: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        if pieces and len(pieces[-1]) + len(sentence) < _PIECE:
            pieces[-1] += f" {sentence}"
        else:
            pieces.append(sentence)
    return pieces


def _list_names(item: Item) -> list[str]:
    return sorted({one.surrogate for one in item.world if any(map(str.isalpha, one.surrogate))})


def _apply_bounds(
    masked: Sequence[MaskedText], back: Sequence[RoundTripResult], translator: BackTranslator, gates: RewordingBounds
) -> list[TextBackTranslation]:
    """What each returned text is worth: first what each text says by itself, then what embeddings and judge say."""
    results = [
        RewordedText(one.original, 0, 0, 1.0, returned.problem, len(one.masks), 0, _name_cause(returned))
        if returned.problem
        else accept_whole_text(one, returned.text, translator.pivots)
        if translator.whole
        else accept_known_paraphrases(one, returned.text, translator.pivots)
        for one, returned in zip(masked, back, strict=True)
    ]
    results = [
        one
        if one.reason or one.overlap <= gates.max_overlap
        else _refuse(one, text, KeptCause.OVERLAP, f"too much stayed: {one.overlap:.2f}")
        for one, text in zip(results, masked, strict=True)
    ]
    figures: dict[int, float] = {}
    places = [place for place, one in enumerate(results) if not one.reason]
    pairs = [(masked[place].original, results[place].text) for place in places]
    if gates.similarity is not None and places:
        figures = dict(zip(places, gates.similarity.measure(pairs), strict=True))
        for place, figure in figures.items():
            if figure < gates.min_similarity:
                results[place] = _refuse(
                    results[place], masked[place], KeptCause.SIMILARITY, f"meaning: similarity {figure:.3f}"
                )
    places = [place for place in places if not results[place].reason]
    if gates.judge is not None and places:
        asked = gates.judge.judge([(masked[place].original, results[place].text) for place in places])
        for place, verdict in zip(places, asked, strict=True):
            problem = verdict.value if verdict.value is not None else f"no judgement: {verdict.problem}"
            if problem:
                results[place] = _refuse(results[place], masked[place], KeptCause.JUDGE, f"meaning: {problem}")
    return [
        TextBackTranslation(one, "" if one.reason else translator.name, similarity=figures.get(place))
        for place, one in enumerate(results)
    ]


def _explain(text: TextBackTranslation, cause: KeptCause, reason: str) -> TextBackTranslation:
    """A text that stays as it is, and why."""
    return replace(text, result=replace(text.result, reason=reason, cause=cause))


def _refuse(one: RewordedText, text: MaskedText, cause: KeptCause, reason: str) -> RewordedText:
    return replace(one, text=text.original, kept=0, refused=one.refused + one.kept, reason=reason, cause=cause)


def _name_cause(returned: RoundTripResult) -> KeptCause:
    return KeptCause.MASK_LOST if returned.lost_mask else KeptCause.OTHER


def _note(item: Item, result: CheckResult) -> Item:
    kept = tuple(check for check in item.checks if check.name != result.name)
    return item.model_copy(update={"checks": (*kept, result)})

"""Items → Label Studio tasks: what a reviewer sees, rendered and escaped, with today's text as corrections.

Item text is untrusted (it came from a graph or from a model). The page shows HTML fields made by templates that
escape every text; links are kept only when they lead to http or https.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlsplit

from annotation.fact_labels import join_names, label_literal, label_relation, say_plainly
from annotation.forms import Task, check_task, parse_interface
from annotation.graph_drawing import draw_graph
from annotation.schema import (
    BLIND_HTML,
    COMMENT,
    COMPUTATION,
    CRITERIA,
    FIX_ANSWER,
    FIX_OPTIONS,
    FIX_QUESTION,
    FIXES,
    ITEM,
    PREFILLED,
    REVIEWED,
    SOURCE_URL,
    TITLES,
    ReviewTaskKind,
    ShownReview,
)
from annotation.worked_computations import lay_out, write_worked_steps
from hopwright.checks.findings import make_result, read_findings
from hopwright.errors import InputError
from hopwright.foreign import drop_controls
from hopwright.knowledge.external.notes import write_value
from hopwright.knowledge.facts import write_literal
from hopwright.knowledge.wikidata.own_ids import is_own_id
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.planning.expressions import read_hop
from hopwright.records import CheckResult, Compute, Hop, Item, LiteralFact, Lookup, Passage, ReverseLookup, Triplet
from hopwright.records.model import Label
from hopwright.reporting.rendering import load_template
from hopwright.runs.files import write_file
from hopwright.stages.objections import Objections
from hopwright.topologies import topology

_ENTITY = re.compile(r"Q[1-9]\d*")
_NAME = re.compile(r"\b(?:hop\d|Q\w+)")
_ARTICLE = "https://www.wikidata.org/wiki/Special:GoToLinkedPage/enwiki/"
_SEARCH = "https://en.wikipedia.org/wiki/Special:Search?search="


@dataclass(frozen=True, slots=True)
class FactView:
    """A fact as the page shows it, with the address of the subject's article, or of a search for it."""

    subject: str
    property: str
    value: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class HopView:
    """A hop as the page shows it."""

    index: int
    question: str
    answer: str
    options: Mapping[Label, str]
    label: str
    kind: str
    working: tuple[str, ...]
    facts: tuple[FactView, ...]
    passages: tuple[Passage, ...]
    url: str
    domain: str
    verify: str
    read: str = ""
    """Which facts shown above it reads again: `facts of hop 2 above`."""
    sources: tuple[str, ...] = ()
    """Where the claims that it rests on are to be looked up."""

    @property
    def working_rows(self) -> list[tuple[str, str]]:
        """The working as the rows of a table."""
        return lay_out(self.working)

    @property
    def working_line(self) -> str:
        """The working in one line: an equation goes on, other lines stand side by side."""
        equation = any(line.startswith("=") for line in self.working)
        return (" " if equation else "; ").join(self.working)


def build_tasks(item: Item, kinds: Collection[ReviewTaskKind] = REVIEWED, *, blind: bool = False) -> list[Task]:
    """The tasks of one item: each hop's and the whole question's; a counterfactual item has the twin's only."""
    if item.variant == "counterfactual":
        wanted: list[tuple[ReviewTaskKind, int | None]] = [(ReviewTaskKind.TWIN, None)]
    else:
        wanted = [*((ReviewTaskKind.SINGLE_HOP, hop.index) for hop in item.hops), (ReviewTaskKind.MULTI_HOP, None)]
    return [build_task(item, kind, hop, blind=blind) for kind, hop in wanted if kind in kinds]


def build_task(item: Item, kind: ReviewTaskKind, hop: int | None = None, *, blind: bool = False) -> Task:
    """One task. `data.item_id` is ours; `data.item_hash` changes when anything shown or pre-filled changes.

    A `blind` task also holds the question without its answer, for an interface that shows that first.
    Raises InputError for a hop that the item does not have.
    """
    html = {"item_html": render_item(item, kind, hop)}
    if blind:
        html[BLIND_HTML] = render_blind(item, hop)
    return _finish(item, hop, {"kind": kind.value}, html)


def render_objections(objections: Objections) -> str:
    """The page with what the writer would not have asked, and why: kinds of plans first, then plan by plan."""
    page = load_template("annotation", "objections.html.j2").render(plans=objections.plans, frames=objections.frames)
    return drop_controls(page)


def build_adjudication(item: Item, of: ReviewTaskKind, hop: int | None, reviews: Sequence[ShownReview]) -> Task:
    """The task that settles the reviews of one task of kind `of`: the item, and what each reviewer said of it."""
    spreads = {
        criterion: max(scores) - min(scores)
        for criterion in CRITERIA[of]
        if (scores := [review.scores[criterion] for review in reviews if criterion in review.scores])
    }
    shown = load_template("annotation", "reviews.html.j2").render(
        reviews=reviews,
        criteria=CRITERIA[of],
        titles=TITLES,
        spreads={criterion: spreads.get(criterion) for criterion in CRITERIA[of]},
        fixes=[control for control in FIXES if any(control in review.fixes for review in reviews)],
        notes=(COMPUTATION, SOURCE_URL, COMMENT),
    )
    fields = {
        "item_html": render_item(item, of, hop),
        "reviews_html": drop_controls(shown),
        # Without what nobody was asked, so that tasks made before there was this question keep their hashes.
        "reviews": [
            review.model_dump(mode="json", exclude=None if review.own_answer else {"own_answer"}) for review in reviews
        ],
    }
    return _finish(item, hop, {"kind": ReviewTaskKind.ADJUDICATION.value, "of": of.value}, fields)


def list_texts(item: Item, hop: int | None = None) -> dict[str, str]:
    """Correction control → today's text: the hop's, or without one the whole question's."""
    texts: Item | Hop = item if hop is None else find_hop(item, hop)
    named = {FIX_QUESTION: texts.question, FIX_ANSWER: texts.answer}
    return named | {FIX_OPTIONS[label]: text for label, text in texts.options.items()}


def find_hop(item: Item, index: int) -> Hop:
    """The hop of that index. Raises InputError when there is none."""
    for hop in item.hops:
        if hop.index == index:
            return hop
    raise InputError(f"item {item.id} has no hop {index}")


def render_item(item: Item, kind: ReviewTaskKind, hop: int | None = None) -> str:
    """The page's HTML of an item: of one hop, of the whole question, or of a twin."""
    motif = topology(item.topology).motif
    if kind is ReviewTaskKind.SINGLE_HOP:
        if hop is None:
            raise InputError(f"item {item.id}: which hop? a single-hop task shows one")
        view = view_hop(find_hop(item, hop), item, alone=True)
        page = load_template("annotation", "single_hop.html.j2").render(
            item=item, motif=motif, hop=view, graph=draw_graph(item, hop),
            checks=say_checks(_pick_checks(item.checks, hop), item),
        )
        return drop_controls(page)
    views = [view_hop(one, item) for one in item.hops]
    page = load_template("annotation", f"{kind}.html.j2").render(
        item=item,
        motif=motif,
        hops=views,
        graph=draw_graph(item),
        checks=say_checks(item.checks, item),
        domains=len(item.domains),
        facts=list(dict.fromkeys(fact for view in views for fact in view.facts)),
        passages=list(dict.fromkeys(passage for view in views for passage in view.passages)),
    )
    return drop_controls(page)


def render_blind(item: Item, hop: int | None = None) -> str:
    """The page's HTML of a question alone, without anything that tells its answer; a twin with what it is about."""
    asked: Item | Hop = item if hop is None else find_hop(item, hop)
    views = [view_hop(one, item) for one in item.hops] if item.variant == "counterfactual" else []
    page = load_template("annotation", "blind.html.j2").render(
        item=item,
        place="whole question" if hop is None else f"hop {hop} of {len(item.hops)}",
        question=asked.question,
        options=asked.options,
        facts=list(dict.fromkeys(fact for view in views for fact in view.facts)),
        passages=list(dict.fromkeys(passage for view in views for passage in view.passages)),
    )
    return drop_controls(page)


def view_hop(hop: Hop, item: Item, *, alone: bool = False) -> HopView:
    """A hop with its facts in words and its computation worked out.

    Below the hops before it, it shows only what it adds; `alone` it shows all that it reads.
    """
    facts = list_facts(hop, item)
    above = {} if alone else _list_facts_above(hop, item)
    read = _list_hops_read(hop, item)
    facts += [fact for index in read for fact in list_facts(find_hop(item, index), item)] if alone else []
    again = {above[fact] for fact in facts if fact in above} | {index for index in read if index in above.values()}
    kind = "reverse look-up"
    if isinstance(hop.derivation, Lookup):
        kind = "look-up"
    elif isinstance(hop.derivation, Compute):
        kind = hop.derivation.kind
    return HopView(
        index=hop.index,
        question=hop.question,
        answer=hop.answer,
        options=hop.options,
        label=hop.label or "",
        kind=kind,
        working=write_worked_steps(hop, item),
        facts=tuple(dict.fromkeys(fact for fact in facts if fact not in above)),
        passages=hop.evidence.passages,
        url=find_hop_article(hop),
        domain=str(hop.domain or ""),
        verify=hop.verify,
        read=_tell_read(sorted(again)) if not alone else "",
        sources=tuple(_keep_web_address(one.source_url) for one in hop.evidence.claims),
    )


def list_facts(hop: Hop, item: Item) -> list[FactView]:
    """The facts that a hop itself rests on, in the order in which its working reads them, each with an article.

    Of who holds an office only the year that is asked about is shown.
    """
    held = hop.evidence
    facts = [
        FactView(
            one.subject_label, label_relation(one.property, one.subject, one.property_label), one.object_label,
            find_article(one.subject, one.subject_label),
        )
        for one in held.triplets
    ]  # fmt: skip
    facts += [_view_literal(one) for one in _pick_literals(hop, item)]
    facts += [
        FactView(one.phrase, f"claimed by {one.source_title}", write_value(one), _keep_web_address(one.source_url))
        for one in held.claims
    ]
    return facts


def _view_literal(one: LiteralFact) -> FactView:
    table, article = default_table(), find_article(one.subject, one.subject_label)
    label, value = label_literal(one.property, one.subject, one.property_label), write_literal(one, table)
    if table.is_timeline(one.property):
        return FactView("", f"{label} in {value}", one.subject_label, article)
    return FactView(one.subject_label, label, value, article)


def _pick_literals(hop: Hop, item: Item) -> list[LiteralFact]:
    literals, derivation = list(hop.evidence.literals), hop.derivation
    if isinstance(derivation, ReverseLookup) and default_table().is_timeline(derivation.property):
        index = read_hop(derivation.value)
        year = find_hop(item, index).answer if index else derivation.value
        asked = [
            one for one in literals
            if one.property != derivation.property or write_literal(one, default_table()) == year
        ]  # fmt: skip
        literals = asked or literals
    if isinstance(derivation, Compute):
        answers = {f"hop{one.index}": one.answer_id or "" for one in item.hops}
        named = [answers.get(name, name) for name in _NAME.findall(derivation.expression)]
        literals.sort(key=lambda one: named.index(one.subject) if one.subject in named else len(named))
    return literals


def find_article(entity: str, label: str) -> str:
    """The address that leads from an entity's id to its article in English; empty for an invented entity.

    From an id of Hopwright's own no article can be found: the address is that of a search for the label.
    """
    if is_own_id(entity):
        return _SEARCH + quote_plus(label)
    return _ARTICLE + entity if _ENTITY.fullmatch(entity) else ""


def find_hop_article(hop: Hop) -> str:
    """The address of the article that a hop's evidence names, else of a search for what its first fact is about."""
    if url := _keep_web_address(hop.evidence.wikipedia_url):
        return url
    facts: list[Triplet | LiteralFact] = [*hop.evidence.triplets, *hop.evidence.literals]
    own = next(((one.subject, one.subject_label) for one in facts if is_own_id(one.subject)), None)
    return find_article(*own) if own and not isinstance(hop.derivation, Compute) else ""


def _list_facts_above(hop: Hop, item: Item) -> dict[FactView, int]:
    """The facts of the hops before, each with the first hop that has it."""
    found: dict[FactView, int] = {}
    for one in item.hops:
        if one.index < hop.index:
            for fact in list_facts(one, item):
                found.setdefault(fact, one.index)
    return found


def _list_hops_read(hop: Hop, item: Item) -> list[int]:
    """The earlier hops whose numbers or dates a computation goes on with: their facts are its own, too."""
    if not isinstance(hop.derivation, Compute):
        return []
    return [index for index in hop.depends_on if not find_hop(item, index).answer_id]


def _tell_read(hops: Sequence[int]) -> str:
    return f"facts of hop{'s' if len(hops) > 1 else ''} {join_names(map(str, hops))} above" if hops else ""


def _finish(item: Item, hop: int | None, kinds: dict[str, str], html: dict[str, Any]) -> Task:
    """Join what a task holds, and hash it."""
    texts = {name: drop_controls(text) for name, text in list_texts(item, hop).items()}
    data: dict[str, Any] = {
        "item_id": item.id,
        **kinds,
        "question": texts[FIX_QUESTION],
        "answer": texts[FIX_ANSWER],
        "topology": topology(item.topology).motif,
        "variant": item.variant,
        **html,
    }
    if hop is not None:
        data["hop"] = hop
    return seal_task(data, texts)


def seal_task(data: Mapping[str, Any], texts: Mapping[str, str]) -> Task:
    """A task of what its page shows and of the fields' texts; `data.item_hash` changes when any of it does."""
    predictions = [{"model_version": PREFILLED, "result": [prefill(name, text) for name, text in texts.items()]}]
    content = json.dumps([data, predictions], sort_keys=True, ensure_ascii=False)
    item_hash = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    return {"data": {**data, "item_hash": item_hash}, "predictions": predictions}


def write_tasks(xml: str, tasks: Sequence[Task], folder: Path) -> int:
    """Write `interface.xml` and `tasks.json`, to be imported into a project; returns the number of tasks.

    Every task is held against the interface first. Raises InputError for one that does not fit.
    """
    interface = parse_interface(xml)
    for task in tasks:
        check_task(task, interface)
    write_file(folder / "interface.xml", f"{xml}\n".encode())
    write_file(folder / "tasks.json", (json.dumps(tasks, ensure_ascii=False) + "\n").encode())
    return len(tasks)


def prefill(name: str, text: str) -> dict[str, Any]:
    """A text field of a form as it is filled in before anybody looks."""
    return {"id": name, "from_name": name, "to_name": ITEM, "type": "textarea", "value": {"text": [text]}}


def say_checks(checks: Sequence[CheckResult], item: Item) -> list[CheckResult]:
    """What the checks say, as a reader may be told it: without ids of properties, and with names of what is known."""
    labels: dict[str, str] = {}
    for hop in item.hops:
        for one in hop.evidence.triplets:
            labels |= {one.subject: one.subject_label, one.object: one.object_label}
        labels |= {one.subject: one.subject_label for one in hop.evidence.literals}
        if hop.answer_id:
            labels.setdefault(hop.answer_id, hop.answer)
    return [one.model_copy(update={"reason": say_plainly(one.reason, labels)}) for one in checks]


def _pick_checks(checks: Sequence[CheckResult], hop: int) -> list[CheckResult]:
    """What the checks say about one hop: findings name their hop; a check that passed or was skipped speaks of all."""
    picked = []
    for check in checks:
        if check.outcome != "fail":
            picked.append(check)
            continue
        mine = [one for one in read_findings(check) if one[0] in (None, hop)]
        if mine:
            picked.append(make_result(check.name, mine, warning=False))
    return picked


def _keep_web_address(url: str) -> str:
    """The address if it leads to the web, else nothing: `javascript:` and the like are dropped."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.netloc else ""

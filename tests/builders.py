"""Two tiny builders: a world of a dozen entities, and one well-formed item per topology in it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from hopwright.checks import CheckedItem
from hopwright.records import (
    LABELS,
    Compute,
    Derivation,
    Distractor,
    Domain,
    Evidence,
    Hop,
    Item,
    LiteralFact,
    Lookup,
    Triplet,
    plan_id,
)
from hopwright.release.format import to_release
from hopwright.reporting.scorecard import Scorecard, ScorecardMaker
from hopwright.topologies import topology

LABEL = {
    "Q901": "Night Harbour", "Q902": "Ada Lindqvist", "Q903": "Vestmark", "Q904": "Ostrava Bay", "Q905": "Karelund",
    "Q906": "Glass Meridian", "Q907": "Tomas Ferreira", "Q908": "Port Sabel", "Q909": "Iria", "Q910": "Nilsby",
    "Q5": "human", "Q11424": "film", "Q6256": "country", "Q515": "city",
}  # fmt: skip
ALIAS = {"Q903": ("Kingdom of Vestmark",), "Q902": ("A. Lindqvist",)}
TRIPLETS = [
    ("Q901", "P31", "Q11424"), ("Q906", "P31", "Q11424"), ("Q902", "P31", "Q5"), ("Q907", "P31", "Q5"),
    ("Q903", "P31", "Q6256"), ("Q909", "P31", "Q6256"), ("Q905", "P31", "Q6256"),
    ("Q904", "P31", "Q515"), ("Q908", "P31", "Q515"), ("Q910", "P31", "Q515"),
    ("Q901", "P57", "Q902"), ("Q906", "P57", "Q907"), ("Q902", "P27", "Q903"), ("Q907", "P27", "Q909"),
    ("Q903", "P36", "Q904"), ("Q909", "P36", "Q908"), ("Q905", "P36", "Q910"),
    ("Q902", "P19", "Q910"), ("Q907", "P19", "Q908"),
]  # fmt: skip
LITERALS = [
    ("Q903", "P571", "1905-01-01T00:00:00Z", "dateTime"), ("Q909", "P571", "1821-01-01T00:00:00Z", "dateTime"),
    ("Q905", "P571", "1918-01-01T00:00:00Z", "dateTime"),
    ("Q903", "P2046", "+385000000000", "decimal"), ("Q909", "P2046", "+92000000000", "decimal"),
    ("Q905", "P2046", "+43000000000", "decimal"),
    ("Q902", "P569", "1951-04-12T00:00:00Z", "dateTime"), ("Q907", "P569", "1964-09-30T00:00:00Z", "dateTime"),
]  # fmt: skip
PROPERTY = {
    "P31": "instance of", "P57": "director", "P27": "country of citizenship", "P36": "capital",
    "P19": "place of birth", "P571": "inception", "P2046": "area", "P569": "date of birth",
}  # fmt: skip


def literal(subject: str, property: str) -> LiteralFact:
    """The one literal of that subject and property."""
    value, datatype = next((v, d) for s, p, v, d in LITERALS if (s, p) == (subject, property))
    return LiteralFact(
        subject=subject, property=property, value=value, datatype=datatype,  # type: ignore[arg-type]
        subject_label=LABEL[subject], property_label=PROPERTY[property],
    )  # fmt: skip


def triplet(subject: str, property: str) -> Triplet:
    """The one triplet of that subject and property."""
    object = next(o for s, p, o in TRIPLETS if (s, p) == (subject, property))
    return Triplet(
        subject=subject, property=property, object=object, subject_label=LABEL[subject],
        property_label=PROPERTY[property], object_label=LABEL[object],
    )  # fmt: skip


def _hop(
    index: int, question: str, answer: str, derivation: Derivation, domain: Domain, depends_on: tuple[int, ...],
    evidence: Evidence, wrong: tuple[str, ...],
) -> Hop:  # fmt: skip
    entity = next((id for id, label in LABEL.items() if label == answer), None)
    options = [*wrong]
    options.insert(index % 4, answer)
    return Hop(
        index=index, question=question, answer=answer, answer_type="entity" if entity else "number", answer_id=entity,
        unit="" if entity else "year" if len(answer) == 4 else "years",
        domain=domain, depends_on=depends_on, derivation=derivation,
        distractors=tuple(
            Distractor(text=text, kind="sibling" if entity else "slip",
                       id=next((id for id, label in LABEL.items() if label == text), None))
            for text in wrong
        ),
        options=dict(zip(LABELS, options, strict=True)), label=LABELS[index % 4], evidence=evidence,
    )  # fmt: skip


def _item(name: str, question: str, hops: list[Hop]) -> Item:
    assert tuple(hop.depends_on for hop in hops) == topology(name).depends_on
    last = hops[-1]
    assert last.label is not None
    return Item(
        id=plan_id(name, tuple(hop.derivation for hop in hops)), topology=name, hops=tuple(hops), question=question,
        answer=last.answer, options=last.options, label=last.label,
    )  # fmt: skip


def chain_item() -> Item:
    """Director → citizenship → founding year → years before 2000."""
    return _item("chain", "How many years before 2000 was the country founded whose citizen directed Night Harbour?", [
        _hop(1, "Who directed Night Harbour?", "Ada Lindqvist", Lookup(subject="Q901", property="P57"), Domain.FILM, (),
             Evidence.of(triplets=(triplet("Q901", "P57"),)), ("Tomas Ferreira", "Rolf Ekman", "Mia Sundt")),
        _hop(2, "Of which country is Ada Lindqvist a citizen?", "Vestmark", Lookup(subject="hop1", property="P27"),
             Domain.POLITICS, (1,), Evidence.of(triplets=(triplet("Q902", "P27"),)), ("Iria", "Karelund", "Ostmark")),
        _hop(3, "In what year was Vestmark founded?", "1905", Lookup(subject="hop2", property="P571"), Domain.HISTORY,
             (2,), Evidence.of(literals=(literal("Q903", "P571"),)), ("1821", "1918", "1909")),
        _hop(4, "How many years before 2000 is 1905?", "95", Compute(expression="2000 - hop3", kind="temporal"),
             Domain.HISTORY, (3,), Evidence(), ("105", "96", "85")),
    ])  # fmt: skip


def converging_item() -> Item:
    """Two citizenships → the larger country → its capital."""
    question = (
        "Of the country of which Ada Lindqvist is a citizen and that of Tomas Ferreira, "
        "take the one that covers the larger area: what is its capital?"
    )
    return _item("converging", question, [
        _hop(1, "Of which country is Ada Lindqvist a citizen?", "Vestmark", Lookup(subject="Q902", property="P27"),
             Domain.POLITICS, (), Evidence.of(triplets=(triplet("Q902", "P27"),)), ("Iria", "Karelund", "Ostmark")),
        _hop(2, "Of which country is Tomas Ferreira a citizen?", "Iria", Lookup(subject="Q907", property="P27"),
             Domain.POLITICS, (), Evidence.of(triplets=(triplet("Q907", "P27"),)), ("Vestmark", "Karelund", "Ostmark")),
        _hop(3, "Which of Vestmark and Iria covers the larger area?", "Vestmark",
             Compute(expression="argmax(P2046, hop1, hop2)", kind="comparison"), Domain.GEOGRAPHY, (1, 2),
             Evidence.of(literals=(literal("Q903", "P2046"), literal("Q909", "P2046"))),
             ("Iria", "Karelund", "Ostmark")),
        _hop(4, "What is the capital of Vestmark?", "Ostrava Bay", Lookup(subject="hop3", property="P36"),
             Domain.GEOGRAPHY, (3,), Evidence.of(triplets=(triplet("Q903", "P36"),)),
             ("Port Sabel", "Nilsby", "Harnes")),
    ])  # fmt: skip


def bridge_item() -> Item:
    """Director → birth year; founding year of Iria; years between the two."""
    question = (
        "How many years passed between the founding of Iria and the birth of the person who directed Night Harbour?"
    )
    return _item("bridge", question, [
        _hop(1, "Who directed Night Harbour?", "Ada Lindqvist", Lookup(subject="Q901", property="P57"), Domain.FILM, (),
             Evidence.of(triplets=(triplet("Q901", "P57"),)), ("Tomas Ferreira", "Rolf Ekman", "Mia Sundt")),
        _hop(2, "In what year was Ada Lindqvist born?", "1951", Lookup(subject="hop1", property="P569"),
             Domain.HISTORY, (1,), Evidence.of(literals=(literal("Q902", "P569"),)), ("1964", "1948", "1953")),
        _hop(3, "In what year was Iria founded?", "1821", Lookup(subject="Q909", property="P571"), Domain.HISTORY, (),
             Evidence.of(literals=(literal("Q909", "P571"),)), ("1905", "1918", "1831")),
        _hop(4, "How many years passed between 1821 and 1951?", "130",
             Compute(expression="hop2 - hop3", kind="temporal"), Domain.HISTORY, (2, 3), Evidence(),
             ("131", "120", "140")),
    ])  # fmt: skip


def all_items() -> list[Item]:
    """One item per topology."""
    return [chain_item(), converging_item(), bridge_item()]


def write_jsonl(items: Iterable[Item], path: Path) -> None:
    """Items as the lines of a release's file."""
    path.write_text("".join(json.dumps(to_release(item), ensure_ascii=False) + "\n" for item in items), "utf-8")


def score(items: Iterable[Item]) -> Scorecard:
    """The scorecard of a set of items."""
    maker = ScorecardMaker()
    for item in items:
        maker.add(CheckedItem(item))
    return maker.finish()

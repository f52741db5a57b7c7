"""The cast of an item: every entity that its twin must rename, and the names that they get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from hopwright.counterfactual.failures import TwinError
from hopwright.counterfactual.mentions import count_letters, find_leftover, find_mentions, takes_article
from hopwright.counterfactual.names import DatedName, Namer, read_dated_name
from hopwright.records import Item
from hopwright.synthesis.kinds import definite
from hopwright.synthesis.plan import named_entities
from hopwright.synthesis.properties import Kind
from hopwright.synthesis.writer import Names

_CLASS_PROPERTIES = frozenset({"P31", "P279"})


class AliasSource(Protocol):
    """What a twin must know of the graph: which names are taken, and what its entities are also called."""

    def knows_name(self, name: str) -> bool:
        """Whether any entity has that label or alias."""
        ...

    def label(self, id: str) -> str:
        """The entity's label, or empty."""
        ...

    def aliases(self, id: str) -> tuple[str, ...]:
        """The entity's other names."""
        ...


@dataclass(frozen=True, slots=True)
class Member:
    """One entity to rename. `id` is empty for a distractor that the graph does not know; `owner` is whose dates it has.

    `labels`: every form in which the item writes it, the first being the one that counts.
    """

    id: str
    labels: tuple[str, ...]
    kind: Kind
    noun: str
    owner: str

    @property
    def label(self) -> str:
        """The form in which the item writes it first."""
        return self.labels[0]

    @property
    def phrase(self) -> str:
        """The label in running text."""
        return definite(self.label, self.kind, self.noun)

    @property
    def key(self) -> str:
        """The id, or the label of an unknown distractor."""
        return self.id or self.label


def gather_cast(item: Item, names: Names, graph: AliasSource) -> tuple[Member, ...]:
    """All entities of an item's derivations, evidence, answers and distractors that a twin renames, in order.

    Classes ("film", "country") and other common nouns that only serve as conditions keep their names. Raises
    TwinError ("twin_ambiguous") when one label stands for two entities.
    """
    labels: dict[str, dict[str, None]] = {}
    unknown: dict[str, str | None] = {}
    for id, label in _list_written(item):
        labels.setdefault(id, {})[label] = None
    named = [id for hop in item.hops for id in named_entities(hop.derivation)]
    for id in named:
        labels.setdefault(id, {})
    for id, written in labels.items():
        if label := graph.label(id):
            written[label] = None
        if not written:
            raise TwinError("twin_ambiguous", f"{id} has no label")
    common = _find_common(item, labels)
    for hop in item.hops:
        for distractor in hop.distractors:
            if hop.answer_type == "entity" and not distractor.id:
                unknown.setdefault(distractor.text, hop.answer_id)
    owners: dict[str, str] = {}
    members: list[Member] = []
    for id, written in labels.items():
        for label in written:
            if owners.setdefault(label, id) != id:
                raise TwinError("twin_ambiguous", f"{label!r} stands for both {owners[label]} and {id}")
        if id not in common:
            members.append(_make_member(id, tuple(written), id, names))
    # Of what only a text is known, the kind is that of the answer that it competes with.
    members += [_make_member("", (text,), like, names) for text, like in unknown.items() if text not in owners]
    return tuple(members)


def name_cast(
    item: Item,
    cast: Sequence[Member],
    namer: Namer,
    graph: AliasSource,
    years: Mapping[str, int],
    forbidden: Sequence[str],
) -> dict[str, str]:
    """Surrogate names, by `Member.key`: one-to-one, unknown to the graph, and none within another.

    years: by how much the dates of each owner move; a name that states a year moves with them. forbidden: names that no
    surrogate may hold (`list_names`). Raises TwinError ("twin_name") when a name cannot be had.
    """
    rules = _NameRules(item, forbidden)
    texts = [item.question, *(hop.question for hop in item.hops)]
    stems: dict[str, str] = {}
    surrogates: dict[str, str] = {}
    # Undated names first: the stem of "2013 Tour de France" is then the surrogate of the race itself.
    for member in sorted(cast, key=lambda member: member.owner.startswith("stem:")):
        dated = _read_dated(member.label, member.kind)
        stem = dated.stem if dated else member.label
        surrogate = stems.get(stem)
        if surrogate is None:
            article = takes_article(texts, member.label) or member.phrase.startswith("the ")
            key = f"{item.id}:{member.owner if dated else member.key}"
            surrogate = namer.name(key, stem, member.kind, article=article, refuse=rules.refuse)
            if surrogate is None:
                raise TwinError("twin_name", f"no free name for {member.label!r} ({member.kind})")
            stems[stem] = surrogate
            rules.use(surrogate)
        if dated:
            surrogate = dated.write(surrogate, years.get(member.owner, 0))
            if graph.knows_name(surrogate):
                raise TwinError("twin_name", f"{surrogate!r} is a name in the graph")
        surrogates[member.key] = surrogate
    return surrogates


def list_names(cast: Sequence[Member], graph: AliasSource) -> list[str]:
    """Every name of at least four letters that the cast has, aliases included: none may be left in a twin."""
    names = (name for member in cast for name in (*member.labels, *(graph.aliases(member.id) if member.id else ())))
    return list(dict.fromkeys(name for name in names if count_letters(name) >= 4))


def list_aliases(cast: Sequence[Member], graph: AliasSource, surrogates: Mapping[str, str]) -> dict[str, str]:
    """Alias → surrogate, for capitalised aliases of at least four letters that only one member of the cast has."""
    found: dict[str, str | None] = {}
    for member in cast:
        for alias in graph.aliases(member.id) if member.id else ():
            if alias[:1].isupper() and count_letters(alias) >= 4:
                found[alias] = surrogates[member.key] if found.get(alias, member.key) == member.key else None
    return {alias: surrogate for alias, surrogate in found.items() if surrogate is not None}


def list_texts(item: Item) -> Iterator[str]:
    """All texts of an item that a reader or a program may see, but for those of its provenance."""
    yield item.question
    yield item.answer
    yield from item.answer_aliases
    yield from item.options.values()
    for hop in item.hops:
        yield hop.question
        yield hop.answer
        yield from hop.answer_aliases
        yield from hop.options.values()
        yield from (distractor.text for distractor in hop.distractors)
        for triplet in hop.evidence.triplets:
            yield triplet.subject_label
            yield triplet.object_label
        yield from (literal.subject_label for literal in hop.evidence.literals)
        for passage in hop.evidence.passages:
            yield passage.title
            yield passage.text


class _NameRules:
    """What a new name may not be: another's, within another's, or a holder of a name that must disappear."""

    def __init__(self, item: Item, forbidden: Sequence[str]) -> None:
        self._used: list[str] = []
        self._forbidden = forbidden
        self._texts = "\x1f".join(list_texts(item))

    def refuse(self, name: str) -> bool:
        folded = name.casefold()
        return (
            name in self._texts
            or any(_contains(folded, one) or _contains(one, folded) for one in self._used)
            or find_leftover((name,), self._forbidden) is not None
        )

    def use(self, name: str) -> None:
        self._used.append(name.casefold())


def _list_written(item: Item) -> Iterator[tuple[str, str]]:
    """Every (id, label) that the item writes, in the order of its hops."""
    for hop in item.hops:
        for triplet in hop.evidence.triplets:
            yield triplet.subject, triplet.subject_label
            yield triplet.object, triplet.object_label
        for literal in hop.evidence.literals:
            yield literal.subject, literal.subject_label
        if hop.answer_id:
            yield hop.answer_id, hop.answer
        for distractor in hop.distractors:
            if distractor.id:
                yield distractor.id, distractor.text


def _find_common(item: Item, labels: Mapping[str, Mapping[str, None]]) -> set[str]:
    """Entities that keep their names: objects only, and there as classes or as common nouns."""
    asked = {hop.answer_id for hop in item.hops}
    asked |= {distractor.id for hop in item.hops for distractor in hop.distractors}
    classes: set[str] = set()
    others: set[str] = set()
    for hop in item.hops:
        for triplet in hop.evidence.triplets:
            others.add(triplet.subject)
            (classes if triplet.property in _CLASS_PROPERTIES else others).add(triplet.object)
        others.update(literal.subject for literal in hop.evidence.literals)
    subjects = {triplet.subject for hop in item.hops for triplet in hop.evidence.triplets}
    subjects |= {literal.subject for hop in item.hops for literal in hop.evidence.literals}
    lower = {id for id, written in labels.items() if next(iter(written))[:1].islower()}
    return ((classes - others) | (lower - subjects)) - asked


def _make_member(id: str, labels: tuple[str, ...], like: str | None, names: Names) -> Member:
    kind: Kind = names.kind(like) if like else "other"
    dated = _read_dated(labels[0], kind)
    owner = f"stem:{dated.stem}" if dated else id or labels[0]
    return Member(id, labels, kind, names.noun(like) if like else "", owner)


def _read_dated(label: str, kind: Kind) -> DatedName | None:
    # A person's or a work's name does not state when it was.
    return None if kind in ("person", "work") else read_dated_name(label)


def _contains(text: str, name: str) -> bool:
    return name in text and next(find_mentions(text, name), None) is not None

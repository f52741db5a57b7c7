"""The cast of an item: every entity that its twin must rename, and the names that they get."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from hopwright.counterfactual.failures import TwinError
from hopwright.counterfactual.real_names import InventedNames, move_inner_years, share_stem
from hopwright.counterfactual.surrogate_names import (
    DatedName,
    Gender,
    SurrogateNameGenerator,
    is_class_word,
    is_generic_name,
    read_dated_name,
    split_person,
)
from hopwright.knowledge.wikidata.nouns import definite
from hopwright.knowledge.wikidata.roles import CLASSES, ROLES
from hopwright.planning.plan import named_entities
from hopwright.records import Item
from hopwright.records.values import EntityKind
from hopwright.text.mentions import count_letters, find_leftover, find_mentions, takes_article
from hopwright.wording.rules.rules_writer import EntityNaming

_WORD = re.compile(r"\w+")
_TELLING = 5
"""Names of one twin that begin with so many letters alike would be mixed up."""


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

    def objects(self, subject: str, property: str) -> tuple[str, ...]:
        """All objects of (subject, property, ·)."""
        ...


@dataclass(frozen=True, slots=True)
class RenamedEntity:
    """One entity to rename. `id` is empty for a distractor that the graph does not know; `owner` is whose dates it has.

    `labels`: every form in which the item writes it, the first being the one that counts. `gender`: of a person, where
    the graph knows it; the surrogate has it too, so that pronouns stay right.
    """

    id: str
    labels: tuple[str, ...]
    kind: EntityKind
    noun: str
    owner: str
    gender: Gender = ""

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


def collect_renamed_entities(
    item: Item, names: EntityNaming, graph: AliasSource, mentioned: Sequence[tuple[str, str]] = ()
) -> tuple[RenamedEntity, ...]:
    """All entities of an item's derivations, evidence, answers and distractors that a twin renames, in order.

    mentioned: further (id, label) that its passages mention. Classes ("film", "country") and other common nouns that
    only serve as conditions keep their names. Raises TwinError ("twin_ambiguous") when one label stands for two
    entities.
    """
    labels: dict[str, dict[str, None]] = {}
    unknown: dict[str, str | None] = {}
    for id, label in (*_list_written(item), *mentioned):
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
    used = _find_uses(item)
    owners: dict[str, str] = {}
    members: list[RenamedEntity] = []
    for id, written in labels.items():
        for label in written:
            if owners.setdefault(label, id) != id:
                raise TwinError("twin_ambiguous", f"{label!r} stands for both {owners[label]} and {id}")
        if id not in common:
            member = make_renamed_entity(id, tuple(written), id, names, find_gender(id, graph))
            members.append(replace(member, noun=used.get(id) or used.get(member.kind) or member.noun))
    # Of what only a text is known, the kind is that of the answer that it competes with.
    members += [make_renamed_entity("", (text,), like, names) for text, like in unknown.items() if text not in owners]
    return tuple(members)


def assign_surrogate_names(
    key: str,
    texts: Sequence[str],
    cast: Sequence[RenamedEntity],
    namer: SurrogateNameGenerator,
    graph: AliasSource,
    years: Mapping[str, int],
    rules: NameRules,
    invented: InventedNames,
    *,
    articles: bool = True,
) -> dict[str, str]:
    """Surrogate names, by `RenamedEntity.key`: one-to-one, unknown to the graph, and none within another.

    key: the item's id, and whatever else tells its names from those of other tries. texts: all that mentions the cast;
    no surrogate is in them. years: by how much the dates of each owner move; a name that states a year moves with them.
    rules: what no surrogate may be; it learns the names. invented: the names of series, after which their members are
    called. articles: whether the texts are not worded again, so that a
    name after "the" should take it, too. Raises TwinError ("twin_name") when a name cannot be had.
    """
    stems: dict[str, str] = {}
    surrogates: dict[str, str] = {}
    families: dict[str, str] = {}
    # Undated names first: the stem of "2013 Tour de France" is then the surrogate of the race itself.
    for member in sorted(cast, key=lambda member: member.owner.startswith("stem:")):
        dated = _read_dated(member.label, member.kind)
        stem = dated.stem if dated else member.label
        surrogate = stems.get(stem) or invented.name(stem, member.kind)
        if surrogate is not None:
            if not dated and stem not in stems:
                surrogate = move_inner_years(surrogate, years.get(member.owner, 0))
            stems[stem] = surrogate
        else:
            article = None
            if articles:
                article = takes_article(texts, member.label) or member.phrase.startswith("the ")
            own = f"{key}:{member.owner if dated else member.key}"
            family = split_person(stem)[1] if member.kind == "person" else ""
            surrogate = namer.name(
                own,
                stem,
                member.kind,
                noun=member.noun,
                gender=member.gender,
                family=families.get(family, ""),
                article=article,
                refuse=rules.refuse,
            )
            if surrogate is None:
                raise TwinError("twin_name", f"no free name for {member.label!r} ({member.kind})")
            stems[stem] = surrogate
            rules.use(surrogate)
            if family:
                # Relatives share a family name in the new world as they did in the old one.
                families.setdefault(family, split_person(surrogate)[1])
        if dated:
            surrogate = dated.write(surrogate, years.get(member.owner, 0))
            if graph.knows_name(surrogate):
                raise TwinError("twin_name", f"{surrogate!r} is a name in the graph")
        surrogates[member.key] = surrogate
    return surrogates


def list_names(cast: Sequence[RenamedEntity], graph: AliasSource) -> list[str]:
    """Every name of at least four letters that the cast has, aliases included: none may be left in a twin.

    An alias that is one class word ("Lake", "the City") names no one.
    """
    names = (name for member in cast for name in (*member.labels, *list_proper_aliases(member, graph)))
    return list(dict.fromkeys(name for name in names if count_letters(name) >= 4))


def list_proper_aliases(member: RenamedEntity, graph: AliasSource) -> list[str]:
    """The other names that the graph has for a member, without those that name no one."""
    aliases = graph.aliases(member.id) if member.id else ()
    return [alias for alias in aliases if not is_generic_name(alias)]


def find_gender(id: str, graph: AliasSource) -> Gender:
    """The gender that the graph states of an entity, or empty."""
    genders = ROLES.genders
    return next((genders[one] for one in graph.objects(id, ROLES.gender) if one in genders), "")


def list_aliases(cast: Sequence[RenamedEntity], graph: AliasSource, surrogates: Mapping[str, str]) -> dict[str, str]:
    """Alias → surrogate, for capitalised aliases of at least four letters that only one member of the cast has."""
    found: dict[str, str | None] = {}
    for member in cast:
        for alias in list_proper_aliases(member, graph):
            if alias[:1].isupper() and count_letters(alias) >= 4:
                surrogate = rename_alias(member, alias, surrogates[member.key])
                found[alias] = surrogate if found.get(alias, surrogate) == surrogate else None
    return {alias: surrogate for alias, surrogate in found.items() if surrogate is not None}


def rename_alias(member: RenamedEntity, alias: str, surrogate: str) -> str:
    """What an alias becomes: a person's bare given or family name that of the surrogate, all others the surrogate."""
    if member.kind == "person" and " " not in alias:
        old, new = split_person(member.label), split_person(surrogate)
        for one, other in zip(old, new, strict=True):
            if one == alias and other:
                return other
    return surrogate


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


class NameRules:
    """What a new name may not be: another's, within another's, or a holder of a name that must disappear.

    texts: all that mentions what is renamed; no new name is in them. forbidden: `list_names` of what is renamed.
    """

    def __init__(self, texts: Sequence[str], forbidden: Sequence[str]) -> None:
        self._texts = "\x1f".join(texts)
        self._used = ""
        self._beginnings: dict[str, str] = {}
        # By their first words: a name lies within another only where its first word does.
        self._used_from: dict[str, list[str]] = {}
        self._forbidden_from: dict[str, list[str]] = {}
        for name in forbidden:
            self._forbidden_from.setdefault(_find_first_word(name), []).append(name)

    def refuse(self, name: str) -> bool:
        """Whether a name may not be used."""
        folded = name.casefold()
        if name in self._texts or _contains(self._used, folded):
            return True
        words = {"", *_WORD.findall(name)}
        if any(self._is_alike(word) for word in words):
            return True
        if any(find_leftover((name,), self._forbidden_from.get(word, ())) is not None for word in words):
            return True
        return any(_contains(folded, one) for word in words for one in self._used_from.get(word.casefold(), ()))

    def use(self, name: str) -> None:
        """Note that a name is used."""
        folded = name.casefold()
        self._used += f"\x1f{folded}"
        self._used_from.setdefault(_find_first_word(folded), []).append(folded)
        for word in _WORD.findall(name):
            if word[:1].isupper() and len(word) > _TELLING and not is_class_word(word):
                self._beginnings.setdefault(word[:_TELLING].casefold(), word)

    def _is_alike(self, word: str) -> bool:
        """Whether a word begins as another name's does, and is not the same: a reader mixes up Lasmira and Lasmitz."""
        if len(word) <= _TELLING or not word[0].isupper() or is_class_word(word):
            return False
        return self._beginnings.get(word[:_TELLING].casefold(), word) != word


def _find_first_word(name: str) -> str:
    """The first word of a name; empty where it has none."""
    found = _WORD.search(name)
    return found[0] if found else ""


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


def _find_uses(item: Item) -> dict[str, str]:
    """Entity, or the kind of all works of an item that tells of title roles → the noun that its name must suit: what
    distributes a film is no steel works.
    """
    found: dict[str, str] = {}
    for triplet in (one for hop in item.hops for one in hop.evidence.triplets):
        if noun := ROLES.named_as.get(triplet.property):
            found["work" if noun == "title role" else triplet.object] = noun
    return found


def _find_common(item: Item, labels: Mapping[str, Mapping[str, None]]) -> set[str]:
    """Entities that keep their names: objects only, and there as classes or as common nouns."""
    asked = {hop.answer_id for hop in item.hops}
    asked |= {distractor.id for hop in item.hops for distractor in hop.distractors}
    classes: set[str] = set()
    others: set[str] = set()
    for hop in item.hops:
        for triplet in hop.evidence.triplets:
            others.add(triplet.subject)
            (classes if triplet.property in CLASSES else others).add(triplet.object)
        others.update(literal.subject for literal in hop.evidence.literals)
    subjects = {triplet.subject for hop in item.hops for triplet in hop.evidence.triplets}
    subjects |= {literal.subject for hop in item.hops for literal in hop.evidence.literals}
    lower = {id for id, written in labels.items() if next(iter(written), "")[:1].islower()}
    return ((classes - others) | (lower - subjects)) - asked


def make_renamed_entity(
    id: str, labels: tuple[str, ...], like: str | None, names: EntityNaming, gender: Gender = ""
) -> RenamedEntity:
    """A member of the kind of `like`, an entity's id; a name with a year is owned by what it is an edition of."""
    kind: EntityKind = names.kind(like) if like else "other"
    dated = _read_dated(labels[0], kind)
    owner = f"stem:{share_stem(dated.stem)}" if dated else id or labels[0]
    return RenamedEntity(id, labels, kind, names.noun(like) if like else "", owner, gender)


def _read_dated(label: str, kind: EntityKind) -> DatedName | None:
    # A person's or a work's name does not state when it was, and an asteroid's number is no year.
    return None if kind in ("person", "work", "nature") else read_dated_name(label)


def _contains(text: str, name: str) -> bool:
    return name in text and next(find_mentions(text, name), None) is not None

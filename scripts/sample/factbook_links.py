"""Names of the CIA World Factbook, linked to entities whose country agrees."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

CAPITAL, STATE, COUNTRY = "Q5119", "Q3624078", "Q6256"
FORMER = "former country"
_FEATURES = re.compile(
    r"^(?:Mount|Mt\.?|Monte|Monts|Mont|Morne|Pico|Pic|Cerro|Nevado|Jebel|Jabal|Volcan|Volcano|Hora|Kuh-e) (?:de |el )?"
)

_WORDS = ("Mount", "Mont", "Monte", "Pico")


@dataclass(frozen=True, slots=True)
class World:
    """What is known before the Factbook is read.

    `names`: id → label and aliases; `facts`: id → property → objects; `numbers`: (id, property) → values;
    `texts`: id → Wikidata's one-line description; `kind` and `sort` say what an id is, coarsely and in a word.
    """

    names: Mapping[str, Sequence[str]]
    facts: Mapping[str, Mapping[str, Set[str]]]
    numbers: Mapping[tuple[str, str], Sequence[str]]
    texts: Mapping[str, str]
    kind: Callable[[str], str]
    sort: Callable[[str], str]

    def objects(self, id: str, property: str) -> Set[str]:
        """The objects of an entity's facts of one property."""
        return self.facts.get(id, {}).get(property, frozenset())


def fold_name(name: str) -> str:
    """A name without accents, case and punctuation."""
    plain = unicodedata.normalize("NFKD", name.replace("ø", "o").replace("ı", "i")).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", " ", plain.lower()).strip()


class Linker:
    """Finds the one entity that a name of the Factbook means, or none."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._labels: dict[str, set[str]] = defaultdict(set)
        self._any: dict[str, set[str]] = defaultdict(set)
        for id, names in world.names.items():
            for number, name in enumerate(names):
                key = fold_name(name)
                if len(key) > 2:
                    self._any[key].add(id)
                    if not number:
                        self._labels[key].add(id)

    def link_country(self, names: Iterable[str]) -> str:
        """The present-day country with one of these names, the first that fits; an empty string if none does."""
        for name in names:
            key = fold_name(re.sub(r"^(.*), The$", r"\1", name))
            if not key or key == "none":
                continue
            for index in (self._labels, self._any):
                forms = (key, "the " + key, key.removeprefix("the "))
                found = {id for form in forms for id in index.get(form, ())}
                found = {id for id in found if self._world.kind(id) == "country" and self._world.sort(id) != FORMER}
                if len(found) > 1 or index is self._any:
                    # An area and the state on it share a name (China), a territory has its state's name for an alias.
                    found = {id for id in found if {STATE, COUNTRY} & self._world.objects(id, "P31")}
                if len(found) > 1:
                    found = {id for id in found if STATE in self._world.objects(id, "P31")}
                if len(found) == 1:
                    return found.pop()
        return ""

    def link_city(self, names: Sequence[str], country: str) -> str:
        """The place of that name that something ties to the country, or of which no more is known than its name."""
        for name in names:
            key = fold_name(name)
            found = {id for id in self._any.get(key, ()) if self._is_place(id) and self.lies_in(id, country)}
            capitals = {id for id in found if CAPITAL in self._world.objects(id, "P31")}
            labelled = found & self._labels.get(key, set())
            stated = {
                id for id in found
                if country in self._world.objects(id, "P1376") or id in self._world.objects(country, "P36")
            }  # fmt: skip
            for one in (found, capitals, labelled, stated, capitals & labelled, stated & labelled):
                if len(one) == 1:
                    return next(iter(one))
        # Of some cities nothing but the name is known: it is enough where nothing else has it.
        for name in names:
            alone = self._labels.get(fold_name(name), set())
            if len(alone) == 1 and self._is_bare(next(iter(alone))):
                return next(iter(alone))
        return ""

    def link_feature(self, names: Iterable[str], country: str, height: str = "", *, water: bool = False) -> str:
        """The mountain or the water of that name; a mountain is confirmed by its country or by its height.

        `height` is in metres. Seas and oceans touch many countries: of water the label has to be its own.
        """
        for name in names:
            bare = _FEATURES.sub("", name)
            forms = [name] if water else [name, bare, *(f"{word} {bare}" for word in _WORDS)]
            found = {
                id
                for form in forms
                for id in (self._labels if water else self._any).get(fold_name(form), ())
                if self._world.kind(id) == "nature"
            }
            if not water:
                found = {id for id in found if self.lies_in(id, country) or self._is_as_high(id, height)}
            if len(found) == 1:
                return found.pop()
        return ""

    def link_work(self, name: str, country: str) -> str:
        """The work of that name whose description ties it to the country, or an empty string."""
        found = self._any.get(fold_name(name), ())
        works = {id for id in found if self._world.kind(id) == "work" and self.lies_in(id, country)}
        return works.pop() if len(works) == 1 else ""

    def lies_in(self, id: str, country: str) -> bool:
        """Whether the facts of an entity, or its description, name the country."""
        seen, todo = {id}, [id]
        while todo:
            one = todo.pop()
            for property in ("P17", "P131", "P1376", "P361"):
                for outer in self._world.objects(one, property) - seen:
                    if outer == country:
                        return True
                    if property != "P17":
                        seen.add(outer)
                        todo.append(outer)
        if id in self._world.objects(country, "P36") | self._world.objects(country, "P610"):
            return True
        text = f" {fold_name(self._world.texts.get(id, ''))} "
        names = (fold_name(name) for name in self._world.names.get(country, ())[:8])
        return any(len(name) > 3 and f" {name} " in text for name in names)

    def _is_place(self, id: str) -> bool:
        # The sample's facts about some cities do not say what they are: a description that calls it a capital does.
        if self._world.kind(id) == "place":
            return True
        return self._world.kind(id) == "other" and "capital" in self._world.texts.get(id, "")

    def _is_bare(self, id: str) -> bool:
        """Whether nothing is known of an entity that could say what it is, or where."""
        known = self._world.facts.get(id, {}).keys() & {"P31", "P17", "P131", "P1376", "P361"}
        return not known and id not in self._world.texts and self._world.kind(id) in ("place", "other")

    def _is_as_high(self, id: str, height: str) -> bool:
        own = self._world.numbers.get((id, "P2044"), ())
        return bool(height) and any(abs(float(one) - float(height)) <= 0.01 * float(height) for one in own)

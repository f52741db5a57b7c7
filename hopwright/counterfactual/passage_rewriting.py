"""A passage of any corpus, rewritten into a world of its own: CofCA's first stage by look-up instead of by hand."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass

from hopwright.counterfactual.mention_forms import is_distinctive_form, list_forms
from hopwright.counterfactual.real_names import InventedNames
from hopwright.counterfactual.recognition import Recogniser
from hopwright.counterfactual.renamed_entities import (
    NameRules,
    RenamedEntity,
    assign_surrogate_names,
    find_gender,
    list_names,
    make_renamed_entity,
)
from hopwright.counterfactual.shifts import LAST_YEAR, draw_base, find_room
from hopwright.counterfactual.surrogate_names import Gender, SurrogateNameGenerator, is_class_word
from hopwright.knowledge.documents.passage_graph import EntityMention
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Surrogate
from hopwright.records.values import EntityKind
from hopwright.text.demonyms import find_country
from hopwright.text.mentions import replace_names
from hopwright.wording.rules.rules_writer import EntityNaming

_YEAR = re.compile(r"(?<![\w.,–-])(1\d{3}|20[0-2]\d)(?![\w])")
_FEMALE = re.compile(r"\b(?:she|her|hers|actress|queen|princess|empress|duchess|countess|daughter)\b", re.IGNORECASE)
_MALE = re.compile(r"\b(?:he|him|his|actor|king|prince|emperor|duke|count|son)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RewrittenPassage:
    """A passage in its new world.

    forms: what was written → what stands there now, everywhere in title and text. base: by how many years it moved.
    """

    title: str
    text: str
    world: tuple[Surrogate, ...]
    forms: dict[str, str]
    base: int = 0


class PassageRewriter:
    """Rewrites passages one by one; a passage's names depend on the seed, its key and itself alone."""

    def __init__(
        self, graph: GraphStore, names: EntityNaming, *, seed: int, recogniser: Recogniser | None = None
    ) -> None:
        self._graph = graph
        self._names = names
        self._seed = seed
        self._namer = SurrogateNameGenerator(seed, graph.knows_name)
        self.recogniser = recogniser or Recogniser(graph)

    def gather(self, title: str, text: str, *, unknown: bool = True) -> list[RenamedEntity]:
        """Whom a passage names, each with the forms in which it does; unknown: also what the graph has no name for."""
        whole = f"{title}\n{text}"
        mentions = self.recogniser.find(whole)
        labels: dict[str, dict[str, None]] = {}
        for mention in mentions:
            written = labels.setdefault(mention.entity, {})
            if not find_country(mention.text):
                written[mention.text] = None
        members = [self._make_member(id, list(written)) for id, written in labels.items()]
        if unknown:
            found = self.recogniser.find_unknown(whole, mentions, len(title))
            members += [_make_unknown(one, whole) for one in {mention.text: mention for mention in found}.values()]
        return members

    def rewrite(
        self,
        title: str,
        text: str,
        *,
        key: str,
        unknown: bool = True,
        years: bool = True,
        names: Iterable[RenamedEntity] = (),
    ) -> RewrittenPassage:
        """Replace every mention of what the passage names, and move its years together.

        names: whom it names, where that is known already. Raises TwinError when a name cannot be had.
        """
        members = list(names) or self.gather(title, text, unknown=unknown)
        base = self._draw_years(f"{title} {text}", key) if years else 0
        moves = {member.owner: base for member in members}
        rules = NameRules([title, text], list_names(members, self._graph))
        invented = InventedNames(key, self._namer, rules)
        surrogates = assign_surrogate_names(
            key, [title, text], members, self._namer, self._graph, moves, rules, invented
        )
        forms = list_forms(members, self._graph, surrogates, self._graph.knows_name)
        if base:
            # Years move first, in the names too: "1984 Summer Olympics" is then looked for as the edition of 1974.
            moved = {move_years(form, base): becomes for form, becomes in forms.items()}
            new_title, new_text = replace_names([move_years(title, base), move_years(text, base)], moved)
        else:
            new_title, new_text = replace_names([title, text], forms)
        world = tuple(
            Surrogate(original=member.label, surrogate=surrogates[member.key], id=member.id) for member in members
        )
        return RewrittenPassage(new_title, new_text, world, forms, base)

    def _make_member(self, id: str, written: list[str]) -> RenamedEntity:
        label = self._graph.label(id)
        # The label counts most, unless it is a word that may stand for anything.
        if label and (" " in label or is_distinctive_form(label)):
            written = list(dict.fromkeys([label, *written]))
        return make_renamed_entity(id, tuple(written or [label]), id, self._names, find_gender(id, self._graph))

    def _draw_years(self, text: str, key: str) -> int:
        found = {int(match[0]) for match in _YEAR.finditer(text)}
        if not found:
            return 0
        rng = random.Random(f"{self._seed}:years:{key}")
        return draw_base(rng, 30, 4, find_room((year, LAST_YEAR) for year in found))


def move_years(text: str, by: int) -> str:
    """The text with every year from 1000 that stands alone moved."""
    return _YEAR.sub(lambda match: str(int(match[0]) + by), text)


def _make_unknown(mention: EntityMention, text: str) -> RenamedEntity:
    """What the graph does not know is a person, unless quotation marks or its own words say otherwise."""
    words = mention.text.split()
    before, after = text[: mention.start].rstrip()[-1:], text[mention.end : mention.end + 2]
    kind: EntityKind = "person"
    gender: Gender = ""
    if any(is_class_word(word) for word in words):
        kind = "organization"
    elif before in ('"', "“") or after[:1] in ('"', "”"):
        kind = "work"
    elif len(words) == 1 or len(words) > 3:
        kind = "other"
    else:
        female, male = len(_FEMALE.findall(text)), len(_MALE.findall(text))
        gender = "female" if female > male else "male" if male > female else ""
    return RenamedEntity("", (mention.text,), kind, "", mention.text, gender)

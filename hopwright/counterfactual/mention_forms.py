"""The forms in which a text may mention an entity: labels, aliases, a person's one name, a country's adjective."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from hopwright.counterfactual.renamed_entities import AliasSource, RenamedEntity, list_proper_aliases, rename_alias
from hopwright.counterfactual.surrogate_names import is_class_word, make_demonym, split_person
from hopwright.text import english
from hopwright.text.demonyms import list_demonyms, rename_demonym
from hopwright.text.mentions import count_letters

_COMMON = frozenset(english.words("words", "common"))
_SHORT = 4
# Words that open a name or a sentence, and name nobody by themselves.
_TITLES = frozenset(
    "earl marquess marquis viscount margrave landgrave landgravine patriarch abbot abbess archbishop cardinal crown "
    "elector "
    "chancellor minister governor mayor senator judge justice sultan caliph shah part volume chapter act "
    "king queen prince princess duke duchess count countess baron lord lady sir dame saint pope bishop emperor empress "
    "president general captain colonel major professor doctor father mother brother sister uncle aunt january february "
    "march april may june july august september october november december monday tuesday wednesday thursday friday "
    "saturday sunday north south east west northern southern eastern western he she it his her they their we our you "
    "your this that these those there here in on at as after before during while when where who what which how why "
    "if but and or not no yes one two three four five six seven eight nine ten first second third last new old all "
    "both many some most other another each every since until "
    "although though however also then from to by with for of the "
    "a an i ii iii iv v vi de la le du van von der di da el jr sr will mark rose grace hope faith summer winter autumn "
    "me my us mine him hers them out now up off over under again ever never only own such than too very "
    "spring best young long little great good big white black green brown".split()
)


def list_forms(
    cast: Sequence[RenamedEntity],
    graph: AliasSource,
    surrogates: Mapping[str, str],
    knows_name: Callable[[str], bool] | None = None,
) -> dict[str, str]:
    """Form → what it becomes, for texts that nobody wrote from the item's plan.

    Labels come first; a form that two members share is the first one's. Short aliases count when they are all capitals
    ("UK"). knows_name: a demonym that the graph knows as somebody's name is not used.
    """
    forms = {label: rename_alias(member, label, surrogates[member.key]) for member in cast for label in member.labels}
    for member in cast:
        for form, becomes in _list_other_forms(member, graph, surrogates[member.key], knows_name):
            forms.setdefault(form, becomes)
    return forms


@functools.lru_cache(maxsize=100_000)
def is_distinctive_form(word: str) -> bool:
    """Whether a single word can be a name by itself: no title, month, common or class word."""
    folded = word.casefold()
    return word[:1].isupper() and folded not in _TITLES and folded not in _COMMON and not is_class_word(word)


def _list_other_forms(
    member: RenamedEntity, graph: AliasSource, surrogate: str, knows_name: Callable[[str], bool] | None
) -> Iterator[tuple[str, str]]:
    for alias in list_proper_aliases(member, graph):
        bare = " " not in alias
        acronym = alias.isupper() and len(alias) >= 2 and alias.replace(".", "").isalpha() and alias != "I"
        if (alias[:1].isupper() and count_letters(alias) >= _SHORT) or acronym:
            if bare and not acronym and not is_distinctive_form(alias):
                continue
            yield alias, rename_alias(member, alias, surrogate)
    if member.kind == "person":
        for old, new in zip(split_person(member.label), split_person(surrogate), strict=True):
            if len(old) >= 3 and new and is_distinctive_form(old):
                yield old, new
    if member.kind in ("country", "place"):
        names = (*member.labels, *(graph.aliases(member.id) if member.id else ()))
        if words := list_demonyms(names):
            adjective = make_demonym(surrogate)
            if knows_name is not None and knows_name(adjective):
                adjective = f"{adjective.removesuffix('ian').removesuffix('an')}ese"
            for word in words:
                yield word, rename_demonym(word, adjective)

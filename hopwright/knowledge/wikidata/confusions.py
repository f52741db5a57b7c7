"""Properties that readers take for one another: the death for the birth, the writer for the director."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Set

from hopwright.knowledge.wikidata.series import load_series

CONFUSED_DATES: Mapping[str, tuple[str, ...]] = {
    "P569": ("P570",),  # birth, death
    "P570": ("P569",),
    "P571": ("P576", "P1619"),  # foundation, dissolution, opening
    "P576": ("P571",),
    "P577": ("P571", "P1191"),  # publication, creation, first performance
    "P580": ("P582",),  # start, end
    "P582": ("P580",),
    "P619": ("P620",),  # launch, landing
    "P620": ("P619",),
    "P1191": ("P577",),
    "P1619": ("P571",),
    "P990124": ("P990125", "P569"),  # accession, end of the reign, birth
    "P990125": ("P990124", "P570"),
    "P990149": ("P990150",),  # publication, first performance
    "P990150": ("P990149",),
}
"""A date's property → those of other dates of the same thing."""

CONFUSED_ROLES: Mapping[str, tuple[str, ...]] = {
    "P19": ("P20",),  # places of birth and death
    "P20": ("P19",),
    "P57": ("P58", "P162", "P990179", "P990181", "P990180"),  # director, writer, producer, cinematographer, editor
    "P58": ("P57",),
    "P162": ("P57",),
    "P990179": ("P57", "P990180", "P990181"),
    "P990180": ("P57", "P990179", "P990181"),
    "P990181": ("P57", "P990179", "P990180"),
    "P990281": ("P57", "P990181", "P990282"),  # production designer, costume designer
    "P990282": ("P57", "P990281"),
    "P159": ("P740",),  # seat, place of foundation
    "P740": ("P159",),
    "P155": ("P156",),  # what comes before and after
    "P156": ("P155",),
    "P990104": ("P990107",),  # where it stands, where it was founded
    "P990119": ("P990120",),  # who won and who lost a battle
    "P990120": ("P990119",),
    "P990113": ("P990172", "P990174", "P1877"),  # composer, librettist, first conductor, author of the source
    "P990172": ("P990113", "P990174", "P1877"),
    "P990174": ("P990113", "P990172", "P990185"),
    "P990185": ("P990174", "P990172"),  # who created the title role
    "P990176": ("P990113", "P990174", "P990184"),  # choreographer, director of the first production
    "P990184": ("P990176", "P990288", "P990289"),
    "P990286": ("P990113", "P990287"),  # lyricist, composer, author of the book
    "P990287": ("P990286", "P990184"),
    "P990288": ("P990184",),  # set designer
    "P990297": ("P990298", "P990299"),  # trainer, jockey, owner
    "P990298": ("P990297", "P990299"),
    "P990299": ("P990297", "P990298"),
    "P990289": ("P990184",),  # director of the film version
    "P50": ("P990173", "P990182"),  # author, dedicatee, illustrator
    "P990173": ("P990182",),
    "P990182": ("P990173",),
    "P990162": ("P990163",),  # the first wife, the second
    "P990163": ("P990162",),
    "P990164": ("P990165",),
    "P990165": ("P990164",),
    "P990122": ("P990123",),  # who came after and before on the throne
}
"""A property → those whose objects are taken for its own, and whose being so does not make them true."""

SAME_CALLING = frozenset(["P184", "P990110", "P990111", "P86"])
"""Properties whose objects are all of one calling with the answer: advisors, discoverers, inventors, film composers."""

PLAYED = frozenset(["P990178", "P990185", "P990250", "P990251"])
"""Properties whose objects played a role, or a match, which is that of men or of women."""

OF_A_LINE = frozenset(["P990122", "P990123"])
"""Properties whose objects ruled or led where the subject did: who came after and before on a throne."""

BESIDE_IN_PLACE = frozenset(["P47", "P131", "P276", "P706", "P30"])
"""Shares a border with; lies in; is located at; lies on; is on the continent: what makes two places neighbours."""

SAID_ALIKE: tuple[frozenset[str], ...] = (
    frozenset(["P26", "P451", "P990160", "P990161", "P990162", "P990163", "P990164", "P990165"]),  # spouses
    frozenset(["P40", "P990166", "P990167", "P990168"]),  # children
    frozenset(["P3373", "P990169", "P990170"]),  # siblings
    frozenset(["P1066", "P184", "P990171"]),  # teachers
    frozenset(["P58", "P990179"]),  # screenwriter
    frozenset(["P1040", "P990180"]),  # editor
    frozenset(["P344", "P990181"]),  # cinematographer
    frozenset(["P2554", "P990281"]),  # production designer
    frozenset(["P2515", "P990282"]),  # costume designer
    frozenset(["P86", "P990113"]),  # composer
    frozenset(["P825", "P990173"]),  # dedicatee
    frozenset(["P110", "P990182"]),  # illustrator
    frozenset(["P84", "P990105"]),  # architect
    frozenset(["P112", "P990106"]),  # founder
    frozenset(["P61", "P990110", "P990111"]),  # discoverer or inventor
    frozenset(["P170", "P990101", "P990102"]),  # creator
    frozenset(["P180", "P990177"]),  # whom or what it depicts
    frozenset(["P1809", "P990176"]),  # choreographer
    frozenset(["P127", "P990299"]),  # owner
)
"""Properties by which texts say the same of a subject: beside the only wife no other marriage is told of."""

_COLUMN_ALIKE = {
    "birthplace": "P19", "wife": "P26", "winner": "P1346", "scorer": "P3279", "capital": "P36",
    "highest_mountain": "P610", "highest_point": "P610", "director": "P57", "composer": "P86", "screenwriter": "P58",
    "cinematographer": "P344", "author": "P50", "architect": "P84", "engineer": "P287", "water": "P206",
}  # fmt: skip
"""Columns of series → the property that says the same of whatever is no member of one."""
_PLACES = frozenset(["city", "host", "final", "venue", "start", "course", "land", "place"])
_PLACE = "P276"
_START = "P1427"


def add_alike(properties: Set[str]) -> Set[str]:
    """The properties with all by which texts say the same of a subject, the columns of series included."""
    alike = _merge_groups()
    return set(properties).union(*(alike[one] for one in properties if one in alike))


@functools.cache
def _merge_groups() -> Mapping[str, Set[str]]:
    """Property → all that says the same: a column of a series, Wikidata's property, and one of our own."""
    merged: dict[str, frozenset[str]] = {}
    for group in (*SAID_ALIKE, *_group_columns()):
        joined = group.union(*(merged[one] for one in group if one in merged))
        merged.update(dict.fromkeys(joined, joined))
    return merged


@functools.cache
def _group_columns() -> tuple[frozenset[str], ...]:
    groups: list[frozenset[str]] = []
    for series in load_series():
        for column, (property, _, _) in series.cells.items():
            if column in _PLACES and series.kind == "event":
                groups.append(frozenset((property, _PLACE, _START) if column == "start" else (property, _PLACE)))
            elif column in _COLUMN_ALIKE and (column != "birthplace" or series.kind == "person"):
                groups.append(frozenset((property, _COLUMN_ALIKE[column])))
    return tuple(groups)

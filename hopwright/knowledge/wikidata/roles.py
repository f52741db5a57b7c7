"""The part that Wikidata's properties and classes play in Hopwright; outside this folder no id is spelled.

`ROLES` is what other packages ask, as `roles` of the source or of its property table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

from hopwright.knowledge.properties import PropertyRoles

INSTANCE_OF = "P31"
SUBCLASS_OF = "P279"
OCCUPATION = "P106"
GENDER = "P21"
COUNTRY = "P17"
CITIZENSHIP = "P27"
COUNTRY_FOR_SPORT = "P1532"
HOME_COUNTRY = "P990193"
"""Of our own sample: from where somebody is of whom it has no birthplace. Nothing is asked about it."""
RENOWN = "P990196"
"""Of our own sample: how well known a film is, rated from 1 to 5. Nothing is asked about it."""
BIRTH = "P569"
DEATH = "P570"
INCEPTION = "P571"
PUBLICATION = "P577"
START = "P580"
END = "P582"
POINT_IN_TIME = "P585"
WORK_START = "P2031"
BIRTHPLACE = "P19"
SERVED = ("P102", "P39", "P241")
"""Party, office, branch of an army: whoever served a country there is of it."""
CALLINGS = (OCCUPATION, "P101")
HOMES_OF_WORKS = ("P495", COUNTRY)
STATED_COUNTRIES = (COUNTRY, "P1001")
PART_OF = "P131"
MEMBER_OF_TEAM = "P54"
LEAGUE = "P118"
PARTICIPANT_IN = "P1344"
BORDERS = "P47"
PICTURE = "P18"
FLAG = "P41"
LOGO = "P154"
COAT_OF_ARMS = "P94"

CLASSES = frozenset({INSTANCE_OF, SUBCLASS_OF})
"""From an entity or a class to its classes."""
CLASS_LIKE = CLASSES | {GENDER, OCCUPATION}
"""Properties whose value is worded as a noun (`the film that …`)."""
UNINFORMATIVE = CLASSES | {"P1889", "P1343", "P460", "P421", "P6104", "P5008"}
"""Different from, described by source, said to be the same as, time zone, focus list, WikiProject."""
SERIES = ("P3450", "P361", "P664", LEAGUE)
"""Sports season of, part of, organiser, league."""
WITHIN = frozenset({"P17", "P131", "P276", "P30", "P7959", "P6885", "P361", "P1001", "P500", "P501", "P159", "P7938"})
"""Country, division, location, continent, historic county and region, part of, jurisdiction, exclave, headquarters."""
ENDED_WITH_STATE = frozenset({CITIZENSHIP, COUNTRY_FOR_SPORT})
HOLDERS = frozenset(
    ["P6", "P35", "P39", "P54", "P108", "P127", "P169", "P286", "P488", "P1037", "P1308", "P2388", "P3320", "P5769"]
)
"""Heads, officers, managers, coaches, owners, employers, members of teams."""
NEIGHBOURS = frozenset([BORDERS, "P131", "P276", "P706"])
"""Shares a border with; lies in; is located at; lies on."""

CONTAINMENT = frozenset({"P17", "P30", "P131", "P179", "P276", "P361", "P706", "P749", "P4614", "P8345"})
"""Country, continent, division, series, location, part of, landform, parent company, drainage basin, franchise."""

_WHOLE = (
    "part parts includes including contains consists comprises member belongs divided track album episode season "
    "series range"
)
_PART_TAKEN = "participated took part played competed fought served war battle campaign represented contest"
_RELATIONS = tomllib.loads(resources.files(__package__).joinpath("relations.toml").read_text("utf-8"))

TIES = frozenset(
    (
        "P22 P25 P50 P54 P57 P58 P61 P69 P81 P84 P86 P102 P108 P112 P118 P119 P127 P144 P166 P170 P175 P176 P179 "
        "P184 P264 P344 P403 P450 P463 P485 P607 P647 P676 P749 P1040 P1066 P1877 P2438 P3450 P4552 P4614 "
        "P6379 P8345 P990101 P990102 P990103 P990104 P990105 P990106 P990107 P990110 P990111 P990112 P990113 P990116 "
        "P990119 P990120 P990121 P990132"
    ).split()
)
"""Parents, makers of all kinds, line, grave, owner, movement, source, series, label, teachers, mouth, range, season."""
LISTS = frozenset(["P40", "P58", "P112", "P161", "P527", "P710", "P725", "P800", "P974", "P1029", "P3320"])
"""Children, writers, founders, cast, parts, participants, voices, notable works, tributaries, crew, board."""
MADE = frozenset(["P50", "P990101", "P990102", "P990105", "P990106", "P990111", "P990113"])
"""Author, painter, sculptor, architect, founder, inventor, composer."""
FAMILY = frozenset(["P22", "P25", "P26", "P40", "P451", "P3373"]).union(f"P9901{number}" for number in range(60, 72))
"""Parents, spouses, children, partners and siblings."""
KINSHIP = FAMILY.union(["P155", "P156", "P184", "P802", "P1066", "P990122", "P990123"])
"""Father, mother, spouse, child, follows, followed by, advisor, partner, student, teacher, sibling, successors, and
spouses, children and siblings of whom there was one, or who came first."""

SELDOM = frozenset({CITIZENSHIP, COUNTRY_FOR_SPORT, COUNTRY}).union(
    ["P990047", "P131", "P495", "P7938", "P272", "P344", "P2515", "P2554", "P3174", "P1809"]
)
"""A magazine's choice of a year, nested places, countries of people and works, makers of whom a film had several."""

ADAPTERS = frozenset(["P57", "P58", "P990179"])
"""Director and screenwriters: who made a film of somebody's novel, and not only its pictures or its music."""

CREW = frozenset(["P990180", "P990181", "P990281", "P990282"])
"""Editor, cinematographer, production designer, costume designer."""

DOUBTFUL = frozenset({"P7295", "P2031", "P2032", "P2048"})
"""First matches of seasons, when a career began and ended, how tall somebody is: sources differ."""

ROLES = PropertyRoles(
    instance_of=INSTANCE_OF,
    gender=GENDER,
    genders=MappingProxyType({"Q6581072": "female", "Q1052281": "female", "Q6581097": "male", "Q2449503": "male"}),
    country=COUNTRY,
    birth=BIRTH,
    death=DEATH,
    uninformative=UNINFORMATIVE,
    class_like=CLASS_LIKE,
    series=SERIES,
    within=WITHIN,
    ended_with_state=ENDED_WITH_STATE,
    closed_dates=MappingProxyType(
        {
            INCEPTION: frozenset({"country", "competition", "team"}),
            START: frozenset({"event"}),
            END: frozenset({"event"}),
            POINT_IN_TIME: frozenset({"event"}),
        }
    ),
    rosters=MappingProxyType(
        {
            # Lands that border a state are known; its memberships, coasts and languages are known in part.
            "country": frozenset({BORDERS}),
            "competition": frozenset(),
            "team": frozenset({PARTICIPANT_IN, LEAGUE}),
            # A season by its league, or by who was promoted or relegated in it.
            "event": frozenset({"P3450", "P2881", "P2882"}),
        }
    ),
    containment=CONTAINMENT,
    holders=HOLDERS,
    neighbours=NEIGHBOURS,
    release=PUBLICATION,
    ties=TIES,
    lists=LISTS,
    doubtful=DOUBTFUL,
    exact=frozenset({"P990118"}),
    made=MADE,
    makers=frozenset(
        {"P57", "P86", "P58", "P990108", "P990110", "P990138"} | {f"P9901{number}" for number in range(72, 87)}
    ),
    citizenship=CITIZENSHIP,
    homes=(BIRTHPLACE,),
    renown=RENOWN,
    trivial=frozenset({COUNTRY, "P131", "P36", "P30"}),
    event_places=MappingProxyType({BIRTH: BIRTHPLACE, DEATH: "P20"}),
    doubtful_of=MappingProxyType({INCEPTION: frozenset({"country", "organization"}), "P576": frozenset({"country"})}),
    adapted=frozenset({"P50", "P144", "P1877"}),
    seldom=SELDOM,
    last_resort=frozenset({"P990285"}),
    crew=CREW,
    kinship=KINSHIP,
    spouse="P26",
    named_as=MappingProxyType(
        {
            "P272": "film production company",
            "P750": "film distributor",
            "P123": "publisher",
            "P990178": "title role",
            "P990185": "title role",
        }
    ),
    family=FAMILY,
    adapters=ADAPTERS,
    loose=frozenset(_RELATIONS["loose"].split()),
    relation_words=MappingProxyType(_RELATIONS["words"]),
    cues=MappingProxyType(
        {
            "P19": "born birth native",
            "P20": "died death",
            "P569": "born birth",
            "P570": "died death",
            "P27": "",
            "P57": "directed director helmed",
            "P161": "starring starred stars featuring cast actor actress role plays played",
            "P58": "written screenplay writer",
            "P22": "father son daughter child parents",
            "P25": "mother son daughter child parents",
            "P26": "married wife husband spouse",
            "P40": "father mother son daughter child parents",
            "P577": "released published release premiered issued debut",
            "P571": "founded established formed created began launched opened",
            "P576": "abolished dissolved demolished closed merged ended until",
            "P585": "held took place battle fought war",
            "P86": "music score composed composer",
            "P50": "author wrote written writer novel book poem play story",
            "P175": "performed performer recorded sung sang sings singer song single album track band hit",
            "P800": "notable famous known works work wrote written author novel book poem directed film movie album "
            "song single hit composed opera painted designed series",
            "P1441": "character appears featured role story",
            "P17": "",
            "P131": "located",
            "P150": "",
            "P30": "",
            "P495": "",
            "P106": "",
            "P361": _WHOLE,
            "P527": _WHOLE,
            "P272": "produced",
            "P162": "produced producer",
            "P112": "founded founder",
            "P102": "party member candidate politician elected leader",
            "P127": "owned owner owns belongs subsidiary acquired bought",
            "P463": "member band group joined guitarist drummer bassist singer vocalist",
            "P710": _PART_TAKEN,
            "P1344": _PART_TAKEN,
            "P1001": "government minister president parliament law elected assembly governor",
        }
    ),
    latest_years=MappingProxyType({BIRTH: 2004, WORK_START: 2020}),
    earliest_years=MappingProxyType({"P619": 1957, "P620": 1957}),
)

_SUCCEEDED = {
    "Q145": "Q174193 Q161885 Q26",  # the United Kingdom of Great Britain and Ireland, Great Britain, Northern Ireland
    "Q38": "Q172579 Q170174 Q2277 Q12544 Q4948",  # Italy: the kingdom, the Papal States, Rome, Byzantium, Venice
    "Q183": "Q43287 Q41304 Q7318 Q713750 Q16957 Q12548 Q154195 Q161036 Q7928 Q1206012",
    "Q159": "Q34266 Q15180 Q139319 Q186096 Q2184",
    "Q40": "Q28513 Q518101",
    "Q213": "Q33946 Q140359",
    "Q36": "Q172107 Q207272 Q211274",
    "Q55": "Q29999 Q170072",
    "Q43": "Q12560",
    "Q668": "Q129286",
    "Q30": "Q81931",
    "Q218": "Q203493",
    "Q29": "Q217196 Q80702",
    "Q212": "Q243610 Q133356",
    "Q403": "Q37024 Q838261",
}
TODAYS_COUNTRY: Mapping[str, str] = {past: today for today, held in _SUCCEEDED.items() for past in held.split()}
"""A state of the past → the country that people from there are thought of as coming from."""

"""Articles and quotation marks of names in running English."""

from __future__ import annotations

import re

from hopwright.records.values import EntityKind

# Openings that sound otherwise than they are written, letters and numbers among them.
_VOWEL_SOUND = re.compile(
    r"(?i:[aeiou]|hour|honou?r|heir|honest)|8|11(?!\d)|18(?!\d)|18\d\d\b|[FHLMNRSX](?=[A-Z0-9.-]|$)"
)
_CONSONANT_SOUND = re.compile(r"(?i:uni(?![nm])|use|usu|utop|eu|one\b|ubiq|uran|ural|ukr|urug|ugand)|U[A-Z.]")

_KEEP_THE = frozenset({"The Hague", "The Dalles", "The Woodlands", "The Hill", "The Villages", "The Valley"})

_COUNTRY = re.compile(
    r"^(Netherlands|Philippines|Maldives|Comoros|Bahamas|Gambia|Vatican|Holy See|Isle of Man|Soviet Union)$"
    r"|\b(Islands|Republic|Empire|Union|Kingdom|States|Emirates|Federation|Commonwealth|dynasty|Reich|Caliphate"
    r"|Khanate|Confederation|Antilles|Confederacy|Sultanate|Emirate|Horde|Raj)$"
    r"|^(?:[\w'’-]+ )*(Kingdom|Republic|State|States|Principality|Duchy|Empire|Crown|Tsardom|Union"
    r"|Commonwealth|Reich"
    r"|Federation|Confederation|Sultanate|Emirate|Dominion|Colony|Province|Protectorate|Grand Duchy"
    r"|Territory) of\b"
)
_NATURE = re.compile(
    r"\b(River|Sea|Ocean|Mountains|Range|Desert|Alps|Islands|Isles|Archipelago|Canal|Strait|Straits"
    r"|Channel|Basin"
    r"|Peninsula|Delta|Plateau|Highlands|Lowlands|Hills|Antilles|Lakes|Highway|Gulf|Rockies|Andes"
    r"|Pyrenees|Carpathians"
    r"|basin|Ghats|Glacier|System|Fjord|Cordillera|andes|Group)$"
    r"|^(River|Sea|Gulf|Bay|Strait|Straits|Isle|Isles|Cordillera|Plain|Firth|Cape|Channel Islands) of\b"
    r"|^River |^(Moon|Sun|Dodecanese|Cyclades|Hebrides|Crimea Peninsula|Lake District|Earth)$|^(Rio|Río"
    r"|Rivière) "
)
_NOT_NATURE = re.compile(r"^(Lake(?! District)|Mount|Mont|Monte|Loch|Glacier Bay)\b(?!.* basin$)")
_NATURE_NOUNS = frozenset({"river", "sea", "ocean", "mountain range", "desert", "canal", "strait", "drainage basin"})
_PLACE = re.compile(
    r"^([Pp]rovince|[Mm]etropolitan [Cc]ity|[Aa]rrondissement|[Cc]anton|County|District|Duchy|Region"
    r"|Republic|State"
    r"|Borough"
    r"|Principality|Isle|Free City|Free State|Free Hanseatic City|Territory|Municipality"
    r"|Roman Catholic \w+|Crown"
    r"|Kingdom|Grand Duchy|Governorate|City and County|Government|Prefecture|Tower|Palace|Church"
    r"|Cathedral|Basilica"
    r"|Temple|Castle|[Rr]egion|[Dd]istrict|[Cc]ounty|Pale|Collectivity|Federal District|Capital Region"
    r"|Banat|Abbey)"
    r" of\b"
    r"|\b(Peninsula|Islands|[Mm]etropolitan [Aa]rea|Netherlands|Antilles|Balkans|Tri-State Area"
    r"|Bay Area|Country"
    r"|United States|Metropolitan Region|Capital Region|Capital Territory|White House|Pentagon"
    r"|Autonomous Community)$"
    r"|^(Middle East|Caribbean|Levant|Bronx|Ruhr|Maghreb|Crimea Peninsula|Americas|Near East|Far East|Rust Belt"
    r"|Pentagon|Kremlin|Vatican|City of London|District of Columbia|Bay of .*|Sun Belt|Rhineland|Holy Land"
    r"|Northern Territory|Eastern Bloc|Upper Peninsula.*|Acropolis.*|Rose Bowl|Forum|Johan Cruyff Arena"
    r"|Colosseum"
    r"|Maracanã Stadium|Parc des Princes|Saarland|Palatinate|Algarve|Peloponnese|Arctic|Antarctic|Orient"
    r"|contiguous United States)$"
)
_LEAD = (
    r"(University|Academy|Institute|College|School|Ministry|Department|House|Court|Museum|Society"
    r"|Association|Archives"
    r"|Organi[sz]ation|Union|Church|Diocese|Archdiocese|Council|Federation|League|Order|Conservatory"
    r"|Guild|Library"
    r"|Office|Bureau|Bank|Party|Community|Commonwealth|Confederation|Committee|Commission|Corporation"
    r"|Company|Board"
    r"|Brotherhood|Gallery|Group|Centre|Center|Agency|Foundation|Fund|Alliance|Academies|Faculty"
    r"|Parliament|Senate"
    r"|Congress|Government|Assembly|Conference|Authority|Service|Register|Movement|Front|Co-?operation"
    r"|Exchange)"
)
_ORGANISATION = re.compile(
    rf"\b{_LEAD} (of|for|on|in|against|to)\b"
    r"|\b(Academy|Society|Association|Organi[sz]ation|Party|Union|Federation|Council|Conference|League"
    r"|Agency|Institute"
    r"|Committee|Commission|Court|Congress|Museum|Gallery|Library|Foundation|Fund|Guild|Army|Navy|Force"
    r"|Corps|Police"
    r"|Orchestra|Exchange|Alliance|Parliament|Senate|Bundestag|Department|Ministry|Group|Administration"
    r"|Authority"
    r"|Community|Movement|Front|Bureau|Service|Board|Office|Treaty Organization|Conservatory|Archives|Assembly"
    r"|Confederation|Collection|Centre|Center|Observatory|Theatre|Playhouse|Institution|Initiative"
    r"|Secretariat|Forum"
    r"|Nations|Reserve|Consortium|Coalition|Regime|Arrangement|Development Bank|Juilliard School|Bloc"
    r"|Museums|Programme|Program|Secretary|Network|Company|Studio|Greens|Laboratory|Academies|Conservatoire)$"
    r"|^International .* Corporation$|^Allies of\b"
    r"|^(World Bank|Arab League|Holy See|Warsaw Pact|Federal Reserve|Ivy League|Colonial Colleges"
    r"|Russell Group|CW|WB)$"
)
_NOT_ORGANISATION = re.compile(
    r"^(Bank of America|Merrill|Volkswagen Group|Citigroup|Deutsche|BMW|Air |Nationwide|Interpol"
    r"|Trinity|Imperial)"
    r"|^(Cartoon Network|Food Network|Comedy|Ford|Showtime|Capitol|Weinstein|Dow|Church of Scientology"
    r"|Marvel|Pearson"
    r"|Amazon|Warner|Sony|Universal (Music|Television|Pictures|Studios)|Columbia Pictures|TSG"
    r"|Adult Swim|Fox|Bertelsmann|ITV|Lucas|Walt Disney Studio)"
)
_NOT_AWARD = re.compile(
    r"^(Knight|Officer|Commander|Companion|Fellow|Honorary|Doctor|Hero|People's|Honou?red|Merited"
    r"|Member|Dame"
    r"|Chevalier|Grand Officer|Time Person|Person of|Righteous|Gold(en)? Record|MVP|Homelands|Sir\b"
    r"|Ordinary Member)"
)
_COMPETITION_BARE = re.compile(
    r"^(La|Le|Il|Lo|Serie|Série|Ligue|Major League|Formula|documenta|Eredivisie|WrestleMania)\b"
)
_EVENT = re.compile(
    r"\b(War|Wars|Convention|Protocol|Treaty|Agreement|Pact|Games|Olympics|Crisis|Revolution|Compact"
    r"|Charter|Conference"
    r"|elections?|pandemic|epidemic|Front|Papers|hurricane|earthquake|Uprising|Rebellion|Congress"
    r"|referendum|Act|scandal"
    r"|Campaign|Offensive|exodus|conclave|Holocaust|Championships?|Cup|Accords?|Summit|attacks?"
    r"|disaster|crash|affair|Project|Force|Mission|Operation|floods|border)$"
    r"|^\d+(st|nd|rd|th) |^(Global System|Second|First) "
    r"|^(Battle|Siege|Treaty|Convention|Fall|Assassination|assassination|Congress|Massacre|Invasion"
    r"|Declaration|Peace)"
    r" (of|on|for)\b"
    r"|\b(Treaty|Convention|Agreement|Protocol|Pact|Compact|Charter|pandemic|outbreak|elections?) (of"
    r"|for|on|in|to)\b"
)
_RACE = re.compile(r"^(Tour|Giro|Vuelta|Volta|Clásica|Classica|Trofeo|Ronde|Critérium|Circuit|Grand Prix)\b")
_OTHER = re.compile(
    r"\b(languages?|century|Time Zone|period|era|Age|dollar|peso|peseta|ringgit|franc|pound|ruble"
    r"|rouble|mark|crown|yen"
    r"|krone|krona|lira|rupee|Renaissance|Enlightenment|Baroque|Middle Ages|empire|Holocaust|movement)$"
    r"|^\d{3,4}s$"
)
_TRANSPORT = re.compile(
    r"\b(Bridge|Tunnel|Line|Expressway|Railway|Canal|Trail|Turnpike|Highway|Parkway|Motorway|Main Line"
    r"|Autobahn|Subway"
    r"|Metro|line|railway|Freeway|Viaduct|Causeway|Shuttle|Railroad|S-Bahn|Shinkansen|programme|program)( \(.*\))?$"
    r"|^(RMS|SS|USS|HMS|MS|LGV|Transilien)\b"
)
_NOT_TRANSPORT = re.compile(r"^(London|Waterloo|Tower|Blackfriars|Westminster) Bridge$")
_BUILDING = re.compile(
    r"\b([Bb]uilding|Museums?|Gallery|Opera House|Concert Hall|Albert Hall|Theatre|Towers?|Dome|Cent(?:er|re)"
    r"|Pavilion|Pyramid|Memorial|Monument|Arch|Arche|Mausoleum|Mosque|Lotus Temple|Library|Convent|Column"
    r"|Residence|Skytree|Gate|Fountain|House|State Opera|Foundation|Power Station|Fire Station|Winter Palace"
    r"|Crystal Palace|Stoclet Palace|Savings Bank|Bridge|Viaduct|Accademia|Kunsthalle|Louvre|Uffizi|Bargello"
    r"|Mauritshuis|Städel|Nationalmuseum|Rijksmuseum|Gemäldegalerie|Gymnasium|Tempietto|Panthéon|Atomium"
    r"|Belvedere|Karlskirche|Glyptothek|Walhalla|Semperoper|Elbphilharmonie|Looshaus|Radcliffe Camera"
    r"|Bauhaus Dessau|Sagrada Família|Centre Pompidou|Cathedral of Brasília)$"
    r"|^(Altes?|Neues?|Berliner|Gemäldegalerie|Kunstmuseum|Kunsthalle|Konzerthaus|Fernsehturm|Museo|Musée|Museu"
    r"|Museum|Royal Museums|National Museum|Jewish Museum|Guggenheim Museum|São Paulo Museum|Galleria|Gallerie"
    r"|Pinacoteca|Österreichische|Opéra|Palais|Palau|Villa Savoye|Villa Tugendhat|Unité|Arc|Grande|Institut"
    r"|Ospedale|Mole|Burj|Hôtel|Teatro|Palace of|Bridge of|Rock and Roll|(?:Art|Salk) Institute)\b"
)
"""Buildings and museums with an article; those called after a person or a town often go without."""
_NOT_BUILDING = re.compile(
    r"^((Hill|Robie|Hollyhock) House|Elizabeth Tower|Tower Bridge|India Gate)$|^(St|Saint|Lenin's) "
)
_BUILT = frozenset({"building", "museum", "art museum", "opera house", "skyscraper"})
_US_TEAM_NOUNS = frozenset(
    {"sports team", "ice hockey team", "basketball team", "baseball team", "American football team"}
)
_US_SINGULAR = re.compile(r" (Heat|Jazz|Magic|Thunder|Avalanche|Lightning|Wild|Red Sox|White Sox|Kraken)$")
_PLURAL = re.compile(r"[^s\W]s$")
_CLUB_MARK = re.compile(r"\b(BC|KK|BK|SK|HC|FC|AC|CB|B\.C\.|Olimpia|Pallacanestro|Pallalcesto)\b")


def article(noun_phrase: str) -> str:
    """The indefinite article that the sound of a noun phrase asks for: `a` or `an`."""
    if _CONSONANT_SOUND.match(noun_phrase):
        return "a"
    return "an" if _VOWEL_SOUND.match(noun_phrase) else "a"


def definite(label: str, kind: EntityKind, noun: str = "") -> str:
    """The label as a noun phrase in running text.

    Works stand in straight double quotes (a quoted part inside in single ones). Other names take `the` where English
    wants it; a label that brings its own capital `The` has it lowered, but for the few names of which it is a part.
    The common noun sharpens the choice: rivers, mountain ranges and American teams show it in no other way.
    """
    if kind == "work":
        if re.match(r"^season \d+ of ", label):
            return re.sub(r"^(season \d+ of )(.*)$", r'\1"\2"', label)
        return f'''"{label.replace('"', "'")}"'''
    if kind in ("person", "animal", "fiction"):
        return label
    if label.startswith("The "):
        return label if label in _KEEP_THE or kind == "team" else f"the {label[4:]}"
    return f"the {label}" if label[:4] != "the " and _wants_the(label, kind, noun) else label


def _wants_the(label: str, kind: EntityKind, noun: str) -> bool:
    if noun in _BUILT and _BUILDING.search(label) and not _NOT_BUILDING.search(label):
        return True
    match kind:
        case "country":
            return _COUNTRY.search(label) is not None
        case "nature":
            if _NOT_NATURE.search(label):
                return False
            plural = noun in ("archipelago", "island group") and label.endswith("s")
            return noun in _NATURE_NOUNS or plural or _NATURE.search(label) is not None
        case "place":
            return _PLACE.search(label) is not None or (
                "museum" in noun.lower() and _ORGANISATION.search(label) is not None
            )
        case "organization":
            return _ORGANISATION.search(label) is not None and not _NOT_ORGANISATION.search(label)
        case "award":
            return not _NOT_AWARD.search(label)
        case "competition":
            # Races between two places (Paris–Roubaix) and leagues with a foreign article go without.
            return not _COMPETITION_BARE.search(label) and not re.search(r"\w[–-][A-Z]", label)
        case "event":
            if re.match(r"^\d{4}\b", label) or _EVENT.search(label):
                return True
            return _RACE.search(label) is not None
        case "team":
            return _team_wants_the(label, noun)
        case "transport":
            return _TRANSPORT.search(label) is not None and not _NOT_TRANSPORT.search(label)
        case _:
            return _OTHER.search(label) is not None


def _team_wants_the(label: str, noun: str) -> bool:
    if re.search(r"\bnational .*\bteam$", label) or re.match(r"^\d{4} .* season$", label):
        return True
    if noun not in _US_TEAM_NOUNS or _CLUB_MARK.search(label) or " " not in label:
        return False
    return _PLURAL.search(label) is not None or _US_SINGULAR.search(label) is not None

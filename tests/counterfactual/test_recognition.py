"""Finding what a text names, and replacing all of it, on the shipped sample's names."""

from __future__ import annotations

import re

import pytest

from hopwright.counterfactual.mention_forms import list_forms
from hopwright.counterfactual.passage_context import find_rewriting_fault
from hopwright.counterfactual.passage_rewriting import PassageRewriter, move_years
from hopwright.counterfactual.recognition import Recogniser
from hopwright.counterfactual.renamed_entities import RenamedEntity
from hopwright.counterfactual.surrogate_names import make_demonym, split_person
from hopwright.knowledge.wikidata.names import GraphNames
from hopwright.knowledge.wikidata.nouns import KindIndex
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Passage
from hopwright.text.demonyms import find_country, list_demonyms, rename_demonym
from hopwright.text.mentions import replace_names
from tests.counterfactual.leftovers import find_left
from tests.worlds import DictGraph


@pytest.fixture(scope="module")
def recogniser(sample: GraphStore) -> Recogniser:
    return Recogniser(sample)


@pytest.fixture(scope="module")
def rewriter(sample: GraphStore) -> PassageRewriter:
    return PassageRewriter(sample, GraphNames(KindIndex(sample)), seed=0)


def found(recogniser: Recogniser, text: str) -> list[str]:
    return [mention.text for mention in recogniser.find(text)]


def unknown(recogniser: Recogniser, text: str) -> list[str]:
    return [mention.text for mention in recogniser.find_unknown(text, recogniser.find(text))]


def test_the_longest_name_wins_and_demonyms_mean_their_country(recogniser: Recogniser) -> None:
    text = "The German player left Borussia Dortmund for the United Kingdom's league."
    assert found(recogniser, text) == ["German", "Borussia Dortmund", "United Kingdom"]


def test_words_with_a_capital_for_another_reason_are_no_names(recogniser: Recogniser) -> None:
    assert found(recogniser, "He was born in May. The Queen and the President met on Monday.") == []
    assert found(recogniser, "In the year of the river.") == []


def test_a_part_of_a_longer_name_is_not_taken_for_the_whole(recogniser: Recogniser) -> None:
    assert found(recogniser, "She studied at the Germany Zorbin Institute.") == []
    assert unknown(recogniser, "She studied at the Germany Zorbin Institute.") == ["Germany Zorbin Institute"]


def test_unknown_names_are_found_unless_they_only_open_a_sentence(recogniser: Recogniser) -> None:
    assert unknown(recogniser, "Grobnik met Teutberga Zorn. Grobnik left.") == ["Teutberga Zorn"]
    assert unknown(recogniser, "We saw Grobnik. Grobnik left.") == ["Grobnik", "Grobnik"]


@pytest.mark.parametrize(
    ("name", "parts"),
    [("Ada Lindqvist", ("Ada", "Lindqvist")), ("J. Max von Sydow Jr.", ("Max", "Sydow")), ("Lothair II", ("Lothair",
    "")),
     ("Hugh of Italy", ("Hugh", "")), ("Madonna", ("", ""))],
)  # fmt: skip
def test_a_person_is_taken_apart(name: str, parts: tuple[str, str]) -> None:
    assert split_person(name) == parts


def test_all_forms_of_a_name_follow_its_surrogate() -> None:
    cast = [
        RenamedEntity("Q902", ("Ada Lindqvist",), "person", "person", "Q902", "female"),
        RenamedEntity("Q903", ("Sweden",), "country", "country", "Q903"),
    ]
    graph = DictGraph(aliases={"Q902": ("Lindqvist", "A. Lindqvist"), "Q903": ("Kingdom of Sweden", "SE")})
    forms = list_forms(cast, graph, {"Q902": "Runa Torpvik", "Q903": "Vestmark"})
    text = (
        "Ada's film: Lindqvist, a Swedish director of Sweden, met two Swedes. A. Lindqvist left the Kingdom of Sweden."
    )
    assert replace_names([text], forms) == [
        "Runa's film: Torpvik, a Vestmarkian director of Vestmark, met two Vestmarkians. "
        "Runa Torpvik left the Vestmark."
    ]


def test_demonyms_and_their_plurals() -> None:
    assert list_demonyms(("Germany",)) == ("German", "Germans")
    assert list_demonyms(("Atlantis",)) == ()
    assert find_country("Swedes") == "Sweden" and find_country("Dutch") == "Netherlands" and find_country("x") == ""
    assert rename_demonym("Swedes", "Velmian") == "Velmians" and rename_demonym("Chinese", "Velmian") == "Velmian"
    assert [make_demonym(name) for name in ("Vesta", "Karo", "Orlund", "Velmi", "Republic of Orlund")] == [
        "Vestan", "Karian", "Orlundian", "Velmian", "Orlundian",
    ]  # fmt: skip


TEXTS = [
    (
        "Borussia Dortmund",
        "Borussia Dortmund is a German football club. Dortmund's stadium opened in 1974; Germany won.",
    ),
    (
        "Anton Grobnik",
        "Anton Grobnik (born 1950) is an Italian author. Grobnik moved to Spain in 1989, as he said, to write.",
    ),
    ("Nowhere", "An American film of 1999, shot in the United States of America and in India by Vera Stolz."),
]


@pytest.mark.parametrize(("title", "text"), TEXTS)
def test_nothing_is_left_of_what_was_replaced_and_nothing_else_changes(
    rewriter: PassageRewriter, sample: GraphStore, title: str, text: str
) -> None:
    members = rewriter.gather(title, text)
    done = rewriter.rewrite(title, text, key="k", names=members, years=False)
    assert members and find_left([done.title, done.text], members, sample, done.forms) == []
    assert done == rewriter.rewrite(title, text, key="k", years=False)
    assert done.text != rewriter.rewrite(title, text, key="other", years=False).text
    marked = replace_names([text], dict.fromkeys(done.forms, "¤"))[0]
    back = replace_names([done.text], dict.fromkeys(done.forms.values(), "¤"))[0]
    drop = re.compile(r"\ban? ", re.IGNORECASE)
    assert drop.sub("", marked) == drop.sub("", back)
    assert len({one.surrogate for one in done.world}) == len(done.world)
    assert not any(sample.knows_name(one.surrogate) for one in done.world)


def test_years_of_a_passage_move_together(rewriter: PassageRewriter) -> None:
    done = rewriter.rewrite(*TEXTS[1], key="k")
    years = [int(year) for year in re.findall(r"\b(?:19|20)\d\d\b", done.text)]
    assert years[1] - years[0] == 39 and years[0] != 1950 and done.base == years[0] - 1950
    assert move_years("1905–06, 1,905 and x1905 in 1905.", 3) == "1908–06, 1,905 and x1905 in 1908."


@pytest.mark.parametrize("opening", ["Born", "Buried", "Directed", "Based", "Set", "Established"])
def test_a_word_that_opens_a_passage_is_no_name(sample: GraphStore, opening: str) -> None:
    """Title and text are joined by a line break, after which a sentence begins."""
    title, text = "Quorl Vemsby", f"{opening} in Trellick Zorn, Quorl Vemsby was widely read."
    recogniser = Recogniser(sample)
    whole = f"{title}\n{text}"
    unknown = recogniser.find_unknown(whole, recogniser.find(whole), len(title))
    assert opening not in " ".join(mention.text for mention in unknown)
    rewriter = PassageRewriter(sample, GraphNames(KindIndex(sample)), seed=1)
    done = rewriter.rewrite(title, text, key="k")
    assert done.text.startswith(f"{opening} in ") and done.text.endswith(" was widely read.")
    old, new = Passage(title=title, text=text), Passage(title=done.title, text=done.text)
    assert find_rewriting_fault(old, new, done.forms) == ""
    broken = new.model_copy(update={"text": f"Trornmefeen {new.text.partition(' ')[2]}"})
    assert find_rewriting_fault(old, broken, {**done.forms, opening: "Trornmefeen"})

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.adjudication import show_review
from annotation.export import (
    FactView,
    build_adjudication,
    build_task,
    build_tasks,
    find_article,
    find_hop_article,
    list_facts,
    list_texts,
    render_blind,
    view_hop,
)
from annotation.forms import check_task, load_interface, parse_interface
from annotation.schema import BLIND_HTML, CRITERIA, FIX_QUESTION, FIXES, ReviewTaskKind, ShownReview
from annotation.worked_computations import write_worked_steps
from hopwright.errors import InputError
from hopwright.records import CheckResult, Compute, Evidence, Item, LiteralFact, ReverseLookup, Surrogate, Vote
from tests.annotation.pages import PLANTED, Page, plant, read_pages
from tests.annotation.reviews import make_review
from tests.builders import all_items, bridge_item, chain_item, converging_item

ARTICLE = re.compile(r"https://www\.wikidata\.org/wiki/Special:GoToLinkedPage/enwiki/Q\d+")


def twin_item() -> Item:
    """A counterfactual item, as the rewriting makes them."""
    return bridge_item().model_copy(
        update={"variant": "counterfactual", "world": (Surrogate(original="Oslo", surrogate="Nilsby", id="QX1"),)}
    )


def test_an_item_gives_a_task_for_each_hop_and_one_for_the_whole() -> None:
    for item in all_items():
        tasks = build_tasks(item)
        assert [task["data"].get("hop") for task in tasks] == [1, 2, 3, 4, None]
        assert [task["data"]["kind"] for task in tasks] == ["single_hop"] * 4 + ["multi_hop"]
        for task in tasks:
            assert task["data"]["item_id"] == item.id
            check_task(task, parse_interface(load_interface(ReviewTaskKind(task["data"]["kind"]))))


def test_a_counterfactual_item_gives_the_twins_task_only() -> None:
    (task,) = build_tasks(twin_item())
    assert task["data"]["kind"] == "twin"
    check_task(task, parse_interface(load_interface(ReviewTaskKind.TWIN)))
    assert "Oslo → Nilsby" in Page(task["data"]["item_html"]).words


@pytest.mark.parametrize("item", [*all_items(), twin_item()], ids=lambda item: f"{item.topology}-{item.variant}")
def test_what_is_shown_first_does_not_depend_on_the_answer(item: Item) -> None:
    secret = "Xyzzyville"
    for task in build_tasks(item, blind=True):
        kind, hop = ReviewTaskKind(task["data"]["kind"]), task["data"].get("hop")
        check_task(task, parse_interface(load_interface(kind, blind=True)))
        shown = task["data"][BLIND_HTML]
        assert list_texts(item, hop)[FIX_QUESTION] in Page(shown).words
        for label in "ABCD":
            hops = tuple(one.model_copy(update={"label": label}) for one in item.hops)
            assert render_blind(item.model_copy(update={"label": label, "hops": hops}), hop) == shown
        hops = tuple(
            one.model_copy(update={"answer": secret, "verify": secret, "answer_aliases": (secret,)})
            for one in item.hops
        )
        if kind is not ReviewTaskKind.TWIN:  # the facts of a twin's world are what its question is about
            evidence = chain_item().hops[0].evidence
            hops = tuple(one.model_copy(update={"evidence": evidence}) for one in hops)
        changed = item.model_copy(
            update={"answer": secret, "hops": hops, "votes": (Vote(model="prior", option="A", right=True),)}
        )
        assert render_blind(changed, hop) == shown
        plain = build_task(item, kind, hop)
        assert BLIND_HTML not in plain["data"]
        assert plain["data"]["item_hash"] != task["data"]["item_hash"], "answers to one are no answers to the other"


def test_corrections_are_filled_with_todays_text() -> None:
    item = chain_item()
    for hop in (None, 2):
        texts = item if hop is None else item.hops[1]
        task = build_task(item, ReviewTaskKind.MULTI_HOP if hop is None else ReviewTaskKind.SINGLE_HOP, hop)
        filled = {one["from_name"]: one["value"]["text"] for one in task["predictions"][0]["result"]}
        assert filled == {
            "fix_question": [texts.question],
            "fix_answer": [texts.answer],
            **{f"fix_option_{label.lower()}": [text] for label, text in texts.options.items()},
        }
        assert set(filled) == set(FIXES) == set(list_texts(item, hop))


def test_the_whole_is_shown_hop_by_hop() -> None:
    item = converging_item().model_copy(
        update={
            "checks": (
                CheckResult(name="leakage", outcome="pass"),
                CheckResult(name="repetition", outcome="pass", reason="warning: twice the same verb"),
                CheckResult(name="duplicates", outcome="skip", reason="one item only"),
            ),
            "votes": (Vote(model="prior", option="A", right=True), Vote(model="lexical", option="B", right=False)),
        }
    )
    words = read_pages(item)["whole"].words
    for part in (
        item.question,
        *item.options.values(),
        *(hop.question for hop in item.hops),
        "area of Vestmark = 385,000 square kilometres; area of Iria = 92,000 square kilometres; larger: Vestmark",
        "Vestmark — capital → Ostrava Bay",
        "✓ 1 machine check passed leakage",
        "✓ repetition: warning: twice the same verb",
        "– duplicates: one item only",
        "1 of 2 solvers right",
    ):
        assert part in words


def test_a_hop_is_shown_with_its_evidence_and_its_place() -> None:
    item = chain_item().model_copy(
        update={"checks": (CheckResult(name="form", outcome="fail", reason="hop 2: double space; hop 3: no question"),)}
    )
    pages = read_pages(item)
    assert "Ada Lindqvist country of citizenship Vestmark" in pages["hop 2"].words
    assert "hop 2 of 4" in pages["hop 2"].words
    assert item.question in pages["hop 2"].words
    assert "✗ form: hop 2: double space" in pages["hop 2"].words
    assert "hop 3: no question" not in pages["hop 2"].words
    assert "hop 3: no question" in pages["hop 3"].words
    assert "✗" not in pages["hop 1"].text
    assert "2000 − hop 3 = 2000 − 1905 = 95 years" in pages["hop 4"].words


def test_an_adjudicator_sees_the_reviews_side_by_side_and_where_they_differ() -> None:
    item = chain_item()
    scores = dict.fromkeys(CRITERIA[ReviewTaskKind.MULTI_HOP], 4)
    one = ShownReview(reviewer="annotator 1", verdict="Retain", scores=scores, comment="good")
    two = ShownReview(
        reviewer="annotator 2",
        verdict="Fix",
        scores={**scores, "obscurity": 2, "fluency": 5},
        errors=("Answer leaks",),
        fixes={"fix_question": "Another?"},
    )
    task = build_adjudication(item, ReviewTaskKind.MULTI_HOP, None, [one, two])
    check_task(task, parse_interface(load_interface(ReviewTaskKind.ADJUDICATION, ReviewTaskKind.MULTI_HOP)))
    assert task["data"]["kind"] == "adjudication"
    assert task["data"]["of"] == "multi_hop"
    bare = {"own_answer"}
    assert task["data"]["reviews"] == [review.model_dump(mode="json", exclude=bare) for review in (one, two)]
    page = Page(task["data"]["reviews_html"])
    for part in ("annotator 1 annotator 2", "verdict Retain Fix", "Obscurity, no leak 4 2", "errors – Answer leaks",
                 "question → as it is Another?", "comment good –"):  # fmt: skip
        assert part in page.words
    differing = [attributes for tag, attributes in page.elements if tag == "tr" and attributes.get("class")]
    assert len(differing) == 2, "the verdict and obscurity; a single star is no difference"
    assert "own answer" not in page.words
    blind = build_adjudication(
        item, ReviewTaskKind.MULTI_HOP, None, [one, show_review(make_review(own_answer="B"), item, None)]
    )
    assert "own answer, blind – B" in Page(blind["data"]["reviews_html"]).words
    assert blind["data"]["reviews"][1]["own_answer"] == "B"
    same = build_adjudication(item, ReviewTaskKind.MULTI_HOP, None, [one, one])
    assert same["data"]["item_hash"] != task["data"]["item_hash"]


def test_only_web_addresses_become_links() -> None:
    good = "https://en.wikipedia.org/wiki/Vestmark?a=1&b=2"
    assert set(find_links(good)) == {good}
    for bad in ("javascript:alert(1)", "data:text/html,x", "//host/x", "https:", "http://[", ""):
        assert find_links(bad) == []


def find_links(url: str) -> list[str]:
    """The links on all pages of an item whose evidence leads to `url`, but for those of its facts' own entities."""
    hop = chain_item().hops[0]
    evidence = hop.evidence.replace(wikipedia_url=url)
    hops = (hop.model_copy(update={"evidence": evidence}), *chain_item().hops[1:])
    pages = read_pages(chain_item().model_copy(update={"hops": hops}))
    return [link for page in pages.values() for link in page.links if not ARTICLE.fullmatch(link)]


def test_planted_markup_stays_text_on_every_page() -> None:
    clean = read_pages(plant(chain_item(), "plain"), "plain")
    for name, page in read_pages(plant(chain_item(), PLANTED), PLANTED).items():
        assert {tag for tag, _ in page.elements} <= {tag for tag, _ in clean[name].elements}
        assert not any(one.startswith("on") for _, attributes in page.elements for one in attributes)
        assert all(ARTICLE.fullmatch(link) for link in page.links)
        assert page.text.count("<script>alert(1)</script>") >= 8


@given(st.text(min_size=1, max_size=60))
def test_no_text_adds_an_element_or_an_attribute(text: str) -> None:
    plain = read_pages(plant(chain_item(), "plain"), "plain")
    for name, page in read_pages(plant(chain_item(), text), text).items():
        assert page.skeleton == plain[name].skeleton


def test_hash_follows_everything_that_is_shown() -> None:
    item = chain_item()
    first = build_task(item, ReviewTaskKind.MULTI_HOP)
    assert build_task(chain_item(), ReviewTaskKind.MULTI_HOP) == first
    checked = item.model_copy(update={"checks": (CheckResult(name="leakage", outcome="pass"),)})
    hops = (item.hops[0].model_copy(update={"options": {**item.hops[0].options, "A": "Nobody"}}), *item.hops[1:])
    others = [
        item.model_copy(update={"question": "Another?"}),
        checked,
        item.model_copy(update={"options": {"A": "x"}}),
    ]
    hashes = [build_task(other, ReviewTaskKind.MULTI_HOP)["data"]["item_hash"] for other in others]
    assert len({first["data"]["item_hash"], *hashes}) == 4
    reworded = item.model_copy(update={"hops": hops})
    assert (
        build_task(reworded, ReviewTaskKind.SINGLE_HOP, 1)["data"]["item_hash"]
        != build_task(item, ReviewTaskKind.SINGLE_HOP, 1)["data"]["item_hash"]
    )


@pytest.mark.parametrize("expression", ["argmax(P2046)", "no expression", "hop3", "count()"])
def test_a_computation_that_makes_no_sense_is_shown_all_the_same(expression: str) -> None:
    last = chain_item().hops[-1].model_copy(update={"derivation": Compute(expression=expression, kind="arithmetic")})
    pages = read_pages(chain_item().model_copy(update={"hops": (*chain_item().hops[:-1], last)}))
    assert all("95" in page.text for page in pages.values())


def test_a_hop_that_is_none_is_named() -> None:
    with pytest.raises(InputError, match="has no hop 9"):
        build_task(chain_item(), ReviewTaskKind.SINGLE_HOP, 9)
    with pytest.raises(InputError, match="which hop"):
        build_task(chain_item(), ReviewTaskKind.SINGLE_HOP)


def test_task_that_does_not_fit_the_interface_is_named() -> None:
    interface = parse_interface(load_interface(ReviewTaskKind.MULTI_HOP))
    task = build_task(chain_item(), ReviewTaskKind.MULTI_HOP)
    with pytest.raises(InputError, match=f"{chain_item().id} does not fit"):
        check_task({**task, "data": {"item_id": chain_item().id}}, interface)
    wrong = {**task["predictions"][0]["result"][0], "from_name": "no_such_control"}
    with pytest.raises(InputError, match="no_such_control"):
        check_task({**task, "predictions": [{"result": [wrong]}]}, interface)


@pytest.mark.parametrize("xml", ["<View>", "<View><Rating name='a' toName='b'/></View>", "not xml"])
def test_broken_interface_is_one_line(xml: str) -> None:
    with pytest.raises(InputError, match="not a labelling interface") as caught:
        parse_interface(xml)
    assert "\n" not in str(caught.value)


def test_a_computation_shows_every_fact_that_it_reads_with_its_article() -> None:
    shown = 0
    for item in all_items():
        whole = Page(build_task(item, ReviewTaskKind.MULTI_HOP)["data"]["item_html"])
        for hop in item.hops:
            page = Page(build_task(item, ReviewTaskKind.SINGLE_HOP, hop.index)["data"]["item_html"])
            read = list_facts(hop, item)
            if isinstance(hop.derivation, Compute):
                read += [fact for index in hop.depends_on for fact in find_read(item, index)]
                shown += bool(read)
            for fact in read:
                for text in (fact.subject, fact.property, fact.value):
                    assert text in page.words and text in whole.words
                assert fact.url in page.links and fact.url in whole.links
    assert shown > 1


def find_read(item: Item, index: int) -> list[FactView]:
    """The facts of an earlier hop whose number a computation goes on with."""
    hop = item.hops[index - 1]
    return [] if hop.answer_id else list_facts(hop, item)


def test_below_other_hops_a_hop_shows_what_it_adds() -> None:
    for item in (bridge_item(), converging_item()):
        views = [view_hop(hop, item) for hop in item.hops]
        facts = [fact for view in views for fact in view.facts]
        assert len(set(facts)) == len(facts)
        assert set(facts) == {fact for hop in item.hops for fact in list_facts(hop, item)}
    assert view_hop(bridge_item().hops[-1], bridge_item()).read == "facts of hops 2 and 3 above"
    assert view_hop(bridge_item().hops[-1], bridge_item(), alone=True).read == ""


def test_a_fact_that_is_read_again_is_named_by_its_hop() -> None:
    item = chain_item()
    again = item.hops[1].model_copy(update={"evidence": item.hops[0].evidence})
    item = item.model_copy(update={"hops": (item.hops[0], again, *item.hops[2:])})
    assert view_hop(again, item).facts == ()
    assert view_hop(again, item).read == "facts of hop 1 above"


def test_of_an_office_the_year_that_is_asked_about_is_shown() -> None:
    def hold(year: int) -> LiteralFact:
        return LiteralFact(
            subject="Q128956", subject_label="Harold Wilson", property="P990017", property_label="x",
            value=f"{year}-01-01", datatype="dateTime",
        )  # fmt: skip

    item = chain_item()
    evidence = Evidence().replace(literals=list(map(hold, (1964, 1965, 1966))))
    asked = ReverseLookup(property="P990017", value="1965")
    hop = item.hops[0].model_copy(update={"evidence": evidence, "derivation": asked})
    told = FactView("", "prime minister of the United Kingdom in 1965", "Harold Wilson", find_article("Q128956", ""))
    assert list_facts(hop, item) == [told]


def test_what_a_check_says_is_told_without_ids() -> None:
    item = converging_item()
    subject = item.hops[2].evidence.literals[0]
    said = f"hop 3: not in the graph: {subject.subject} P2046 5; hop 3: argmax of P2046 is a tie"
    item = item.model_copy(update={"checks": (CheckResult(name="facts", outcome="fail", reason=said),)})
    told = f"not in the graph: {subject.subject_label} “area” 5; hop 3: the largest “area” is a tie"
    for task in (build_task(item, ReviewTaskKind.MULTI_HOP), build_task(item, ReviewTaskKind.SINGLE_HOP, 3)):
        assert told in Page(task["data"]["item_html"]).words


def test_facts_are_told_in_the_order_of_the_working_and_as_the_question_says() -> None:
    item = converging_item()
    fiji, togo = (
        LiteralFact(
            subject=id, subject_label=name, property="P571", property_label="inception", value=f"{year}-01-01",
            datatype="dateTime",
        )
        for id, name, year in (("Q712", "Fiji", 1970), ("Q945", "Togo", 1960))
    )  # fmt: skip
    derivation = Compute(expression="argmax(P571, Q945, Q712)", kind="comparison")
    hop = item.hops[2].model_copy(
        update={"evidence": Evidence().replace(literals=[fiji, togo]), "derivation": derivation, "answer": "Fiji"}
    )
    item = item.model_copy(update={"hops": (*item.hops[:2], hop, *item.hops[3:])})
    assert [(fact.subject, fact.property) for fact in list_facts(hop, item)] == [
        ("Togo", "independence"), ("Fiji", "independence"),
    ]  # fmt: skip
    assert write_worked_steps(hop, item)[0] == "independence of Togo = 1960"


def test_only_an_entity_of_the_world_has_an_article() -> None:
    assert find_article("Q42", "Nobody").endswith("/enwiki/Q42")
    assert [find_article(id, "Nobody") for id in ("QX1", "Q0", "", "Q42/../x", "javascript:1")] == [""] * 5


def test_what_has_an_id_of_our_own_has_a_search_instead_of_an_article() -> None:
    search = "https://en.wikipedia.org/wiki/Special:Search?search=Gemini+8+%26+9"
    assert find_article("Q3449648901", "Gemini 8 & 9") == search
    item = chain_item()
    hop = item.hops[0]
    ours = {"subject": "Q3449648901", "subject_label": "Gemini 8 & 9"}
    own = [one.model_copy(update=ours) for one in hop.evidence.triplets]
    hop = hop.model_copy(update={"evidence": hop.evidence.replace(triplets=own, wikipedia_url="")})
    assert own and find_hop_article(hop) == search
    for page in read_pages(item.model_copy(update={"hops": (hop, *item.hops[1:])})).values():
        assert ("search Wikipedia ↗" in page.text) == (search in page.links)
        assert not any("Q3449648901" in link for link in page.links)

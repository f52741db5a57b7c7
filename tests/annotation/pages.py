"""Reading a task's page, and planting texts in every field that reaches it."""

from __future__ import annotations

from html.parser import HTMLParser

from annotation.export import build_adjudication, build_task
from annotation.schema import CRITERIA, FIXES, ReviewTaskKind, ShownReview
from hopwright.records import CheckResult, Item, Passage, Surrogate

PLANTED = "<script>alert(1)</script><img src=x onerror='alert(2)'>\"&\u202e"


class Page(HTMLParser):
    """Every element and every text of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.text += " "

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def words(self) -> str:
        """The text with single spaces."""
        return " ".join(self.text.split())

    @property
    def links(self) -> list[str]:
        """Where the page's links lead."""
        return [str(attributes["href"]) for tag, attributes in self.elements if tag == "a"]

    @property
    def skeleton(self) -> list[tuple[str, frozenset[str]]]:
        """Elements and the names of their attributes."""
        return [(tag, frozenset(attributes)) for tag, attributes in self.elements]


def read_pages(item: Item, review: str = "fine") -> dict[str, Page]:
    """All pages that show an item: its hops, the whole, as a twin, and under adjudication with that review text."""
    said = ShownReview(
        reviewer=review,
        verdict="Fix",
        scores=dict.fromkeys(CRITERIA[ReviewTaskKind.MULTI_HOP], 4),
        errors=(review,),
        fixes=dict.fromkeys(FIXES, review),
        computation=review,
        source_url=review,
        comment=review,
    )
    adjudication = build_adjudication(
        item, ReviewTaskKind.MULTI_HOP, None, [said, said.model_copy(update={"scores": {}})]
    )
    pages = {f"hop {hop.index}": build_task(item, ReviewTaskKind.SINGLE_HOP, hop.index) for hop in item.hops}
    pages |= {
        "whole": build_task(item, ReviewTaskKind.MULTI_HOP),
        "twin": build_task(item, ReviewTaskKind.TWIN),
        "settle": adjudication,
    }
    return {
        name: Page(task["data"]["item_html"] + task["data"].get("reviews_html", "")) for name, task in pages.items()
    }


def plant(item: Item, text: str) -> Item:
    """The item with `text` in every field that a graph or a model can fill."""
    evidence = item.hops[0].evidence
    hops = []
    for hop in item.hops:
        triplets = tuple(
            one.model_copy(update={"subject_label": text, "property_label": text, "object_label": text})
            for one in evidence.triplets
        )
        changes = {
            "question": text,
            "answer": text,
            "unit": text,
            "verify": text,
            "options": dict.fromkeys(hop.options, text),
            "distractors": tuple(one.model_copy(update={"text": text}) for one in hop.distractors),
            "evidence": evidence.replace(
                triplets=triplets, passages=(Passage(title=text, text=text),), wikipedia_url="javascript:" + text
            ),
        }
        hops.append(hop.model_copy(update=changes))
    return item.model_copy(
        update={
            "id": text,
            "question": text,
            "answer": text,
            "hops": tuple(hops),
            "options": dict.fromkeys(item.options, text),
            "world": (Surrogate(original=text, surrogate=text),),
            "checks": (CheckResult(name=text, outcome="fail", reason=text),),
        }
    )

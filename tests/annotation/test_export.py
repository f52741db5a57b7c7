import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.export import (
    build_task,
    check_task,
    load_instructions,
    load_interface,
    parse_interface,
    write_tasks,
)
from hopwright.errors import InputError, RunError
from hopwright.records import CheckResult, Item, Surrogate, Vote
from tests.builders import all_items, chain_item, converging_item

PLANTED = "<script>alert(1)</script><img src=x onerror='alert(2)'>\"&\u202e"


class _Tags(HTMLParser):
    """Every element and every text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def parse_view(item: Item) -> _Tags:
    parser = _Tags()
    parser.feed(build_task(item)["data"]["view"])
    parser.close()
    return parser


def plant(item: Item, text: str) -> Item:
    """The item with `text` in every field that a graph or a model can fill."""
    evidence = item.hops[0].evidence
    hops = []
    for hop in item.hops:
        triplets = tuple(
            one.model_copy(update={"subject_label": text, "property_label": text, "object_label": text})
            for one in evidence.triplets
        )
        hops.append(
            hop.model_copy(
                update={
                    "question": text,
                    "answer": text,
                    "distractors": tuple(one.model_copy(update={"text": text}) for one in hop.distractors),
                    "evidence": evidence.model_copy(
                        update={"triplets": triplets, "wikipedia_url": "javascript:" + text}
                    ),
                }
            )
        )
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


def test_files_are_valid_for_label_studio(tmp_path: Path) -> None:
    files = write_tasks(all_items(), tmp_path / "review")
    interface = parse_interface(files.interface.read_text("utf-8"))
    tasks = json.loads(files.tasks.read_text("utf-8"))
    assert files.count == len(tasks) == 3
    for task, item in zip(tasks, all_items(), strict=True):
        assert task["data"]["item_id"] == item.id
        assert interface.validate_task({"data": task["data"]})
        assert interface.validate_prediction(task["predictions"][0], return_errors=True) == []
    assert "<table>" in files.instructions.read_text("utf-8")


def test_interface_asks_for_everything_that_a_review_holds() -> None:
    controls = {control.name: control.tag for control in parse_interface(load_interface()).controls}
    ratings = {"logic", "consistency", "obscurity", "fluency", "complexity"}
    ratings |= {"hop_factuality", "hop_distractors", "hop_fluency"}
    assert {name for name, tag in controls.items() if tag == "Rating"} == ratings
    assert {name for name, tag in controls.items() if tag == "Choices"} == {"verdict", "errors"}
    assert {name for name, tag in controls.items() if tag == "TextArea"} == {
        "question_correction",
        "answer_correction",
        "source_url",
        "comments",
    }


def test_keys_of_the_interface_are_distinct() -> None:
    keys = re.findall(r'hotkey="(.)"', load_interface())
    assert len(keys) == 11
    assert len(set(keys)) == len(keys)


def test_corrections_are_filled_with_todays_text() -> None:
    item = chain_item()
    (prediction,) = build_task(item)["predictions"]
    filled = {one["from_name"]: one["value"]["text"] for one in prediction["result"]}
    assert filled == {"question_correction": [item.question], "answer_correction": [item.answer]}


def test_view_shows_the_item_hop_by_hop() -> None:
    item = converging_item().model_copy(
        update={
            "checks": (
                CheckResult(name="leakage", outcome="pass"),
                CheckResult(name="duplicates", outcome="skip", reason="one item only"),
            ),
            "votes": (Vote(model="prior", option="A", right=True), Vote(model="lexical", option="B", right=False)),
        }
    )
    text = " ".join(parse_view(item).text.split())
    for part in (
        item.question,
        *item.options.values(),
        *(hop.question for hop in item.hops),
        "Vestmark — area: 385,000",
        "argmax(area, Vestmark, Iria) = Vestmark",
        "Vestmark — capital → Ostrava Bay",
        "✓ 1 check passed: leakage",
        "– duplicates: one item only",
        "1 of 2 solvers right",
    ):
        assert part in text


def test_only_web_addresses_become_links() -> None:
    def links(url: str) -> list[str | None]:
        hop = chain_item().hops[0]
        evidence = hop.evidence.model_copy(update={"wikipedia_url": url})
        hops = (hop.model_copy(update={"evidence": evidence}), *chain_item().hops[1:])
        view = parse_view(chain_item().model_copy(update={"hops": hops}))
        return [attributes["href"] for tag, attributes in view.elements if tag == "a"]

    assert links("https://en.wikipedia.org/wiki/Vestmark?a=1&b=2") == ["https://en.wikipedia.org/wiki/Vestmark?a=1&b=2"]
    for bad in ("javascript:alert(1)", "data:text/html,x", "//host/x", "https:", "http://[", ""):
        assert links(bad) == []


def test_planted_markup_stays_text() -> None:
    view, clean = parse_view(plant(chain_item(), PLANTED)), parse_view(chain_item())
    allowed = {tag for tag, _ in clean.elements}
    assert {tag for tag, _ in view.elements} <= allowed
    assert not any(name.startswith("on") for _, attributes in view.elements for name in attributes)
    assert view.text.count("<script>alert(1)</script>") >= 15


@given(st.text(min_size=1, max_size=60))
def test_no_text_adds_an_element_or_an_attribute(text: str) -> None:
    def skeleton(filling: str) -> list[tuple[str, frozenset[str]]]:
        return [(tag, frozenset(attributes)) for tag, attributes in parse_view(plant(chain_item(), filling)).elements]

    assert skeleton(text) == skeleton("plain")


def test_content_hash_follows_everything_that_is_shown() -> None:
    item = chain_item()
    same, other = build_task(item), build_task(item.model_copy(update={"question": "Another?"}))
    assert build_task(chain_item()) == same
    assert same["data"]["content_hash"] != other["data"]["content_hash"]
    checked = item.model_copy(update={"checks": (CheckResult(name="leakage", outcome="pass"),)})
    assert build_task(checked)["data"]["content_hash"] != same["data"]["content_hash"]


def test_task_that_does_not_fit_the_interface_is_named() -> None:
    interface = parse_interface(load_interface())
    task = build_task(chain_item())
    check_task(task, interface)
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


def test_guidelines_cover_every_criterion_and_key() -> None:
    text = load_instructions()
    for title in re.findall(r'Header value="\d ([^"]+)"', load_interface()):
        assert title in text
    for verdict in ("Retain", "Fix", "Discard"):
        assert f"<strong>{verdict}</strong>" in text


def test_no_items_give_an_empty_list(tmp_path: Path) -> None:
    files = write_tasks([], tmp_path)
    assert json.loads(files.tasks.read_text("utf-8")) == []


def test_failure_leaves_no_half_written_tasks(tmp_path: Path) -> None:
    write_tasks([chain_item()], tmp_path)
    before = (tmp_path / "tasks.json").read_bytes()
    with pytest.raises(RunError):
        write_tasks((chain_item() if number < 2 else _fail() for number in range(3)), tmp_path)
    assert (tmp_path / "tasks.json").read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def _fail() -> Item:
    raise OSError(28, "No space left on device")

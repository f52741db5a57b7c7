"""Renew what the pages show of a real run: `docs/examples.md` and the picture of the domains.

    python docs/renew.py .hopwright/runs/sample/release/hopwright-sample

Items keep their ids as long as their plans stay the same; one that the release no longer holds is an error.
"""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from hopwright.knowledge.wikidata.properties import default_table

DOCS = Path(__file__).resolve().parent
CHOSEN = (
    "hw-7e1264931fa6f323",
    "hw-cd7008ef35f20cb0",
    "hw-8687403c7a851043",
    "hw-1211ec8e54439274",
    "hw-b2c7836425150e08",
    "hw-693ee28512842a2c",
    "hw-1822b14f5e83c822",
    "hw-2acb269bdba195dc",
    "hw-1fc9f8d3c6ddb106",
    "hw-d23dadc1dfe078cf",
    "hw-03f478525f6d457e",
    "hw-06576732e38e5e2b",
)
HEAD = """# Twelve items

From a real run of the preset `offline` on the shipped sample: four chains, four bridges and four converging ones. The
last column says which hops a hop needs. The facts are those of the sample, a snapshot that is some years old.
`python docs/renew.py RELEASE` renews this page.
"""


def main() -> None:
    """Write the page."""
    release = Path(sys.argv[1])
    items = read_items(release / "data.jsonl")
    twins = {twin["twin"]: twin for twin in read_items(release / "counterfactual.jsonl").values()}
    gone = [key for key in CHOSEN if key not in items]
    if gone:
        sys.exit(f"not in {release}: {', '.join(gone)}; choose others in {Path(__file__).name}")
    parts = [HEAD, *(render_item(number, items[key]) for number, key in enumerate(CHOSEN, start=1))]
    parts.append("## The first one's twin\n\n" + render_twin(twins[CHOSEN[0]]))
    (DOCS / "examples.md").write_text("\n".join(parts), "utf-8")
    shutil.copyfile(release / "plots" / "domains.png", DOCS / "images" / "domains.png")


def read_items(path: Path) -> dict[str, dict[str, Any]]:
    """The items of a JSONL file by id."""
    with path.open(encoding="utf-8") as lines:
        return {item["id"]: item for item in map(json.loads, lines)}


def render_item(number: int, item: dict[str, Any]) -> str:
    """One item as a heading, its question and a table of its hops."""
    return f"## {number}. {item['motif_type']} · `{item['id']}`\n\n{render_body(item)}"


def render_twin(twin: dict[str, Any]) -> str:
    """A twin, and what stands for what in its texts."""
    body = render_body(twin)
    named = [one for one in twin["world"] if one["original"] and one["surrogate"] in body]
    shown = ", ".join(f"{one['original']} → {one['surrogate']}" for one in named)
    return f"{body}\nWhat stands for what in it: {shown}.\n"


def render_body(item: dict[str, Any]) -> str:
    """The question, its options and its hops."""
    options = " · ".join(
        f"**{label} {text}**" if label == item["correct_answer_label"] else f"{label} {text}"
        for label, text in item["multiple_choice_options"].items()
    )
    rows = [
        f"| {hop['index']} | {hop['question']} | {hop['answer']} | {hop['domain']} | {describe(hop['derivation'])} "
        f"| {', '.join(map(str, hop['depends_on'])) or '–'} |"
        for hop in item["single_hop"]
    ]
    table = ["| hop | sub-question | answer | domain | derivation | needs |", "|---|---|---|---|---|---|", *rows]
    return f"> {item['multi_hop_question']}\n>\n> {options}\n\n" + "\n".join(table) + "\n"


def describe(derivation: dict[str, Any]) -> str:
    """A derivation in a few words, with properties by their labels; the ids of entities are Wikidata's."""
    if derivation["op"] == "compute":
        return f"`{name_properties(derivation['expression'])}`"
    if derivation["op"] == "lookup":
        return name_properties(f"{derivation['property']} of {derivation['subject']}")
    pairs = [derivation, *derivation["constraints"]]
    return name_properties("whose " + " and ".join(f"{pair['property']} is {pair['value']}" for pair in pairs))


def name_properties(text: str) -> str:
    """Properties by their labels."""
    table = default_table()
    return re.sub(r"\bP\d+\b", lambda found: table.label(found[0]), text)


if __name__ == "__main__":
    main()

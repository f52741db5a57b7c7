"""Renew what the pages show of a real run: `docs/examples.md`, the picture of the domains, the output of a first run.

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
from hopwright.reporting.run_summary import summary_lines

DOCS = Path(__file__).resolve().parent
CHOSEN = (
    "hw-a3f9262781ca8615",
    "hw-9a65aeb637b7a5dc",
    "hw-9c1fc8eee8dfdb09",
    "hw-57e30396b4901cc9",
    "hw-e15f615bc34c7dd2",
    "hw-9fba4699bd96960a",
    "hw-84834315962342e0",
    "hw-b7e3e1570b4886c1",
    "hw-f1e5a61940948543",
    "hw-1c0f91a121e29780",
    "hw-e8397398ae98a8bc",
    "hw-75853897657b3a2e",
)
FIRST_RUN = "Then the pipeline runs stage by stage and ends like this:\n\n```\n"
"""What stands on the page before the output of a run."""
SHOWN = (
    "released items", "topologies", "failed checks", "targets missed", "right letters", "dropped as too easy", "twins",
    "back-translation", "items for review", "audit", "scorecard", "release", "run folder",
)  # fmt: skip
"""The lines of a summary that the page shows."""
WIDTH = 100
HEAD = """# Twelve items

From a real run of the preset `offline` on the shipped sample: chains, bridges, and questions whose branches converge.
The last column says which hops a hop needs. The facts are those of the sample, a snapshot that is some years old.
`python docs/renew.py RELEASE` renews this page.
"""


def main() -> None:
    """Write the page."""
    release = Path(sys.argv[1])
    run = release.parents[1]
    page = DOCS / "first-run.md"
    summary = json.loads((run / "manifest.json").read_text("utf-8"))["summary"]
    page.write_text(renew_output(page.read_text("utf-8"), summary), "utf-8")
    items = read_items(release / "data.jsonl")
    twins = {twin["twin"]: twin for twin in read_items(release / "counterfactual.jsonl").values()}
    gone = [key for key in CHOSEN if key not in items]
    if gone:
        sys.exit(f"not in {release}: {', '.join(gone)}; choose others in {Path(__file__).name}")
    parts = [HEAD, *(render_item(number, items[key]) for number, key in enumerate(CHOSEN, start=1))]
    parts.append("## The first one's twin\n\n" + render_twin(twins[CHOSEN[0]]))
    (DOCS / "examples.md").write_text("\n".join(parts), "utf-8")
    shutil.copyfile(release / "plots" / "domains.png", DOCS / "images" / "domains.png")


def renew_output(page: str, summary: dict[str, Any]) -> str:
    """The page with some lines of a run's summary, cut where they are long; its home is the reader's own."""
    before, start, rest = page.partition(FIRST_RUN)
    assert start, "the page no longer says how a run ends"
    lines = []
    for name, text in summary_lines(summary):
        if name not in SHOWN:
            continue
        if name in ("release", "run folder"):
            text = re.sub(r"^.*(?=/runs/)", "…/.hopwright", text)
        parts = text.split("; ")
        kept = parts[:1]
        while len(kept) < len(parts) and len("; ".join([*kept, parts[len(kept)]])) <= WIDTH:
            kept.append(parts[len(kept)])
        lines.append(f"{name:24} {'; '.join(kept)}{'; …' if len(kept) < len(parts) else ''}")
    lines.insert(2, "…")
    return before + start + "\n".join(lines) + "\n" + rest[rest.index("```") :]


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

"""`hopwright export`."""

from pathlib import Path

from flows.console.options import pick_run
from flows.console.output import out, print_json
from hopwright.errors import InputError
from hopwright.evaluation.items import TO_TEST_ON, TO_TRAIN_ON, read_items
from hopwright.exports import TRAINING, export_items
from hopwright.llm.prompts import load_prompts
from hopwright.runs import RunFolder, Stage
from hopwright.settings import home


def export_to(
    data: str | None, tool: str, folder: Path | None, variant: str, run: str | None, seed: int, *, as_json: bool
) -> None:
    """Write the folder and say what is in it."""
    source = Path(data) if data else _find_release(run)
    file = read_items(source, sets=TO_TRAIN_ON if tool in TRAINING else TO_TEST_ON)
    items = [item for item in file.items if variant in ("both", item.variant)]
    if not items:
        raise InputError(f"{source}: no {variant} item in it")
    target = folder or Path(f"hopwright-{tool}")
    written = export_items(items, tool, load_prompts(), target, seed)
    if as_json:
        print_json({"folder": str(target), "items": len(items), "files": [path.name for path in written]})
        return
    out.print(f"{len(items):,} items for {tool} in {target}: {', '.join(path.name for path in written)}")
    if file.rejected:
        out.print(f"{len(file.rejected)} rows are not in the release format and were left out")


def _find_release(run: str | None) -> Path:
    name = pick_run(run, "release")
    return home() / str(Stage(RunFolder(home(), name), "release").read().notes["folder"])

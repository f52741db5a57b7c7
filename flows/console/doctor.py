"""`hopwright doctor`: what is here, what is missing, what to do about it."""

import importlib.metadata
import os
import platform
import re
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from flows.console.output import out, print_json
from flows.console.services import Finding, check_services
from hopwright.errors import HopwrightError, InputError
from hopwright.foreign import escape_controls
from hopwright.settings import VllmParameters, checkout, home, read_presets, sample_folder

_STYLE = {"ok": "green", "missing": "yellow", "bad": "red"}


def examine(*, as_json: bool, sparql: str | None = None) -> None:
    """Look at everything and print it; exits with 1 when something needed is not in order."""
    findings = [
        *check_python(),
        *check_packages(),
        *check_machine(),
        *check_stores(home()),
        *check_gpus(),
        *check_services(sparql),
    ]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for one in findings:
            state = (f"{one.state:8}", _STYLE[one.state])
            out.print(Text.assemble(state, f" {one.what:14} {escape_controls(one.detail)}"))
            if one.advice:
                out.print(f"{'':8} {'':14} → {one.advice}")
    if any(finding.state == "bad" for finding in findings):
        sys.exit(1)


def check_python() -> list[Finding]:
    """The interpreter."""
    right = (3, 11) <= sys.version_info[:2] <= (3, 12)
    advice = "" if right else "Hopwright runs on Python 3.11 and 3.12: `make clean`, then `make run` with one of them"
    return [Finding("python", "ok" if right else "bad", f"{platform.python_version()}, {sys.executable}", advice)]


def check_packages() -> list[Finding]:
    """Whether the packages that Hopwright names are installed, at the versions of the constraints file."""
    pins = _read_pins(checkout() / "constraints.txt")
    wrong = []
    try:
        requirements = importlib.metadata.requires("hopwright") or []
    except importlib.metadata.PackageNotFoundError:
        return [Finding("packages", "bad", "hopwright itself is not installed here", "`make run` installs it")]
    for requirement in requirements:
        if "extra ==" in requirement:
            continue
        name = re.split(r"[\s\[<>=!;~]", requirement, maxsplit=1)[0]
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{name} is not installed")
            continue
        pin = pins.get(_canonical(name))
        if pin not in (None, version):
            wrong.append(f"{name} is {version}, not {pin}")
    if wrong:
        return [Finding("packages", "bad", "; ".join(wrong), "`make clean`, then `make run` installs them")]
    return [Finding("packages", "ok", f"hopwright {importlib.metadata.version('hopwright')} and what it needs")]


def check_machine() -> list[Finding]:
    """Programs, data, disk."""
    from hopwright.counterfactual.apertium import ApertiumBackTranslator

    obstacle = ApertiumBackTranslator().find_obstacle()
    findings = [
        Finding("apertium", "missing", f"{obstacle}: back-translation will be skipped", "docs/twins.md has other ways")
        if obstacle
        else Finding("apertium", "ok", str(shutil.which("apertium")))
    ]
    sample = sample_folder()
    if sample.is_dir():
        findings.append(Finding("sample", "ok", str(sample)))
    else:
        findings.append(Finding("sample", "bad", f"{sample} is not there", "run from a whole checkout"))
    folder = home()
    place = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(place, os.W_OK):
        findings.append(
            Finding("home", "bad", f"{folder} cannot be written", "set HOPWRIGHT_HOME to a folder that can")
        )
        return findings
    free = shutil.disk_usage(place).free / 2**30
    low = free < 1
    findings.append(
        Finding("disk", "bad" if low else "ok", f"{free:.1f} GiB free for {folder}", "free some space" if low else "")
    )
    return findings


def check_stores(folder: Path) -> list[Finding]:
    """The graph stores and the cache of models' answers: there, and of this version."""
    from hopwright.knowledge.wikidata.store import GraphStore
    from hopwright.llm.store import Store

    findings = []
    stores = sorted(path.parent for path in (folder / "stores").glob("*/*") if path.is_file())
    for store in dict.fromkeys(stores):
        try:
            GraphStore.open(store)
            findings.append(Finding("graph store", "ok", str(store)))
        except HopwrightError as error:
            findings.append(Finding("graph store", "bad", str(error), f"remove {store}; the next run makes it anew"))
    if not findings:
        findings.append(Finding("graph store", "missing", "none yet", "`hopwright build` makes the sample's"))
    answers = folder / "llm.sqlite"
    if answers.exists():
        try:
            with Store(answers) as cache:
                findings.append(Finding("answers", "ok", f"{cache.stats().answers:,} of models kept in {answers}"))
        except HopwrightError as error:
            findings.append(Finding("answers", "bad", str(error), "update Hopwright, or put the file aside"))
    return findings


def check_gpus() -> list[Finding]:
    """GPUs, vLLM, and the weights of the preset `gpu`: needed for models as difficulty filter only."""
    from hopwright.difficulty.machine import find_engine, list_gpus
    from hopwright.difficulty.weights import find_weights

    gpus = list_gpus()
    findings = [Finding("gpu", "ok", f"{gpu.name}, {gpu.free / 2**30:.0f} GiB free") for gpu in gpus]
    if not gpus:
        findings.append(Finding("gpu", "missing", "none: the offline solvers judge difficulty", "docs/gpu.md"))
    try:
        engine = find_engine(VllmParameters().interpreter())
        findings.append(Finding("vllm", "ok", f"{engine.version} in {engine.python}"))
    except InputError as error:
        findings.append(Finding("vllm", "missing", str(error), "docs/gpu.md"))
    models = [name.removeprefix("vllm:") for name in read_presets()["gpu"]["filter"]["voters"]]
    lacking = []
    for model in models:
        try:
            find_weights(model)
        except InputError:
            lacking.append(model)
    if lacking:
        found = f"{len(models) - len(lacking)} of the {len(models)} models of the preset gpu"
        findings.append(Finding("weights", "missing", found, f"`hf download {lacking[0]}`, …; licences are yours"))
    else:
        findings.append(Finding("weights", "ok", f"all {len(models)} models of the preset gpu"))
    return findings


def _read_pins(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    pairs = (line.split("==", 1) for line in path.read_text("utf-8").splitlines() if "==" in line)
    return {_canonical(name): version.strip() for name, version in pairs}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

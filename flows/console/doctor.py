"""`hopwright doctor`: what is here, what is missing, what to do about it."""

import importlib.metadata
import os
import platform
import re
import shutil
import sys
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from flows.console.output import out, print_json
from hopwright.settings import home, sample_folder

_STYLE = {"ok": "green", "missing": "yellow", "bad": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `missing` is something that Hopwright can do without; `bad` is not."""

    what: str
    state: Literal["ok", "missing", "bad"]
    detail: str
    advice: str = ""


def examine(*, as_json: bool) -> None:
    """Look at everything and print it; exits with 1 when something needed is not in order."""
    findings = [*look_at_python(), *look_at_packages(), *look_at_machine(), *look_at_services()]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for one in findings:
            out.print(f"[{_STYLE[one.state]}]{one.state:8}[/] {one.what:14} {one.detail}")
            if one.advice:
                out.print(f"{'':8} {'':14} → {one.advice}", markup=False)
    if any(finding.state == "bad" for finding in findings):
        sys.exit(1)


def look_at_python() -> list[Finding]:
    """The interpreter."""
    right = (3, 11) <= sys.version_info[:2] <= (3, 12)
    advice = "" if right else "Hopwright runs on Python 3.11 and 3.12: `make clean`, then `make run` with one of them"
    return [Finding("python", "ok" if right else "bad", f"{platform.python_version()}, {sys.executable}", advice)]


def look_at_packages() -> list[Finding]:
    """Whether the packages that Hopwright names are installed, at the versions of the constraints file."""
    pins = _read_pins(sample_folder().parents[1] / "constraints.txt")
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


def look_at_machine() -> list[Finding]:
    """Programs, data, disk."""
    apertium = shutil.which("apertium")
    findings = [
        Finding("apertium", "ok", apertium)
        if apertium
        else Finding(
            "apertium",
            "missing",
            "back-translation will be skipped",
            "`apt-get install apertium apertium-eng-spa` (Debian, Ubuntu)",
        )
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


def look_at_services() -> list[Finding]:
    """Prefect and Label Studio, where they are named; never the value of a key."""
    findings = [Finding("prefect", "ok", "no server named: runs start their own, for their own length")]
    url = os.environ.get("PREFECT_API_URL", "")
    if url:
        findings = [_ask("prefect", f"{url.rstrip('/')}/health", "start it (`make serve`), or unset PREFECT_API_URL")]
    url = os.environ.get("LABEL_STUDIO_URL", "")
    if url:
        findings.append(_ask("label studio", f"{url.rstrip('/')}/health", "start it, or unset LABEL_STUDIO_URL"))
        held = bool(os.environ.get("LABEL_STUDIO_API_KEY"))
        findings.append(
            Finding("label studio", "ok" if held else "bad", "LABEL_STUDIO_API_KEY is set" if held else "no key",
                    "" if held else "set LABEL_STUDIO_API_KEY")
        )  # fmt: skip
    return findings


def _ask(what: str, url: str, advice: str) -> Finding:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return Finding(what, "ok", url)
    except (urllib.error.URLError, OSError, ValueError) as error:
        return Finding(what, "bad", f"{url}: {getattr(error, 'reason', error)}", advice)


def _read_pins(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    pairs = (line.split("==", 1) for line in path.read_text("utf-8").splitlines() if "==" in line)
    return {_canonical(name): version.strip() for name, version in pairs}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()

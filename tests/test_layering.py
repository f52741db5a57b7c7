from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_every_layering_contract_holds() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(contracts)} kept, 0 broken" in done.stdout


def test_the_table_of_packages_names_all_of_them() -> None:
    packages = {f"hopwright.{path.parent.name}" for path in (ROOT / "hopwright").glob("*/__init__.py")}
    table = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    assert [name for name in sorted(packages | {"flows", "tasks", "annotation"}) if f"`{name}`" not in table] == []


def test_flow_files_keep_their_annotations() -> None:
    """Deferred annotations break the parameter model that Prefect serves."""
    deferred = [
        path.name
        for path in sorted((ROOT / "flows").rglob("*.py"))
        if any(
            isinstance(node, ast.ImportFrom) and node.module == "__future__"
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
        )
    ]
    assert deferred == []


def test_workers_do_without_prefect() -> None:
    modules = sorted(f"hopwright.stages.{path.stem}" for path in (ROOT / "hopwright" / "stages").glob("[a-z]*.py"))
    assert len(modules) > 5
    heavy = "('prefect', 'matplotlib', 'scipy', 'label_studio_sdk')"
    code = f"import sys, {', '.join(modules)}; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")

"""The form of a whole run: a dozen parameters, the rest folded; the parameters' own names stay valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel

from hopwright.settings import BuildParameters, identify, list_form_titles, load_parameters, spell_titles
from hopwright.stages.release import name_dataset

MOST = 12


def schema() -> dict[str, Any]:
    return BuildParameters.model_json_schema()


def sent_along() -> int:
    """The drafts of a form that nobody touched: it sends them all the same, and they say nothing."""
    return int(schema()["properties"]["drafts"]["default"])


def list_groups(form: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The parts of the form that are folded until they are opened."""
    return {name: one["anyOf"][1] for name, one in form["properties"].items() if one.get("default", "") is None}


def list_defaults(part: dict[str, Any]) -> dict[str, Any]:
    return {name: one["default"] for name, one in part["properties"].items() if "default" in one}


def list_leaves(values: dict[str, Any], model: BaseModel, path: str = "") -> Iterator[str]:
    for name, value in values.items():
        group = getattr(model, name, None)
        if isinstance(group, BaseModel):
            yield from list_leaves(value, group, f"{path}{name}.")
        else:
            yield path + name


def test_a_dozen_parameters_are_open_and_each_folded_group_says_what_it_holds() -> None:
    form = schema()
    groups = list_groups(form)
    assert len(form["properties"]) - len(groups) <= MOST
    assert {"synthesize", "filter", "rewrite", "review", "release", "execution"} <= set(groups)
    for name in groups:
        shown = form["properties"][name]
        assert shown["anyOf"][0]["type"] == "null"
        assert shown["title"] and len(shown["description"]) > 15


def test_the_form_shows_every_parameter_once() -> None:
    form, defaults = schema(), BuildParameters()
    sent = {name: value for name, value in list_defaults(form).items() if value is not None}
    for name, group in list_groups(form).items():
        sent[name] = list_defaults(group)
    read = load_parameters({**sent, "run": "r"}, BuildParameters)
    assert identify(read) == identify(defaults)
    groups = list_groups(form)
    shown = [*form["properties"], *(f"{name}.{field}" for name, one in groups.items() for field in one["properties"])]
    assert len(shown) == len(set(shown))
    own = set(list_leaves(defaults.model_dump(), defaults))
    found = {path for path in own if _is_shown(path, form)}
    assert found == own


def _is_shown(path: str, form: dict[str, Any]) -> bool:
    """Whether the form has the parameter at the top, in its own group, or among those of the execution."""
    top, _, field = path.partition(".")
    groups = list_groups(form)
    titles = {one["title"] for name, one in form["properties"].items() if name not in groups}
    moved = list_form_titles(BuildParameters).get(path, "")
    if " › " in moved:
        return top in groups["execution"]["properties"] and top not in form["properties"]
    if moved:
        return moved in titles and field not in groups[top]["properties"]
    return field.split(".")[0] in groups[top]["properties"] if field else top in form["properties"]


@pytest.mark.parametrize(
    "values",
    [
        {"run": "r", "seed": 3, "dated": True, "synthesize": {"drafts": 5, "model": ""}},
        {"run": "r", "drafts": 5, "execution": {"seed": 3, "dated": True}, "synthesize": None, "models": None},
        {"run": "r", "drafts": 5, "execution": {"seed": 3, "dated": True}, "synthesize": {"rounds": 3}},
        {"run": "r", "drafts": sent_along(), "seed": 3, "execution": {"dated": True}, "synthesize": {"drafts": 5}},
    ],
)
def test_both_names_of_a_parameter_are_taken_by_form_and_by_program(values: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema()).validate(values)
    read = load_parameters(values, BuildParameters)
    assert (read.seed, read.dated, read.synthesize.drafts) == (3, True, 5)


def test_a_preset_fills_what_the_form_left_alone_and_nothing_else() -> None:
    form = schema()
    sent = {name: value for name, value in list_defaults(form).items() if value is not None}
    read = load_parameters({**sent, "preset": "api", "drafts": 40}, BuildParameters)
    assert (read.synthesize.writer, read.synthesize.drafts) == ("anthropic", 40)
    assert read.models.budget_usd == 50


@pytest.mark.parametrize(
    "values", [{"seed": -1}, {"drafts": 0}, {"synthesize": {"drafts": 0}}, {"execution": {"seed": -1}}, {"sede": 1}]
)
def test_what_is_out_of_bounds_is_refused_by_the_schema_under_either_name(values: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema()).validate(values)


def test_two_runs_have_two_datasets_unless_they_are_named_alike() -> None:
    one, other = (load_parameters({"run": name}, BuildParameters) for name in ("sample", "other"))
    assert name_dataset(one.run, one) == "hopwright-sample"
    assert name_dataset(other.run, other) == "hopwright-other"
    assert name_dataset("other", load_parameters({"release_name": "mine"}, BuildParameters)) == "mine"


def test_a_message_calls_a_parameter_by_its_title_in_the_form() -> None:
    spell = spell_titles(BuildParameters, list_form_titles(BuildParameters))
    assert spell("synthesize.model") == "Model"
    assert spell("seed") == "Execution › Seed"
    assert spell("rewrite.judge_model") == "Twins › Judge of the meaning"
    assert spell("nowhere.known") == "nowhere.known"

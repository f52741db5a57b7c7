from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from hopwright.errors import InputError
from hopwright.settings import (
    BuildParameters,
    CorpusAddParameters,
    CorpusIndexParameters,
    CorpusServeParameters,
    DocumentBuildParameters,
    EnvironmentServeParameters,
    ExportParameters,
    FilterRun,
    ReleaseRun,
    RetrieveRun,
    ReviewRun,
    RewriteRun,
    SynthesizeRun,
    home,
    identify,
    list_changes,
    load_parameters,
    merge_values,
    narrow,
    read_presets,
    sample_folder,
)
from hopwright.stages.registry import list_line

STAGE_MODELS = (RetrieveRun, SynthesizeRun, FilterRun, RewriteRun, ReviewRun, ReleaseRun)
CORPUS_MODELS = (
    CorpusAddParameters, CorpusIndexParameters, CorpusServeParameters, DocumentBuildParameters,
    EnvironmentServeParameters, ExportParameters,
)  # fmt: skip


def test_every_field_explains_and_bounds_itself() -> None:
    seen = 0
    for model in (BuildParameters, *STAGE_MODELS, *CORPUS_MODELS):
        for name, schema in _leaves(model.model_json_schema()):
            assert schema.get("title"), name
            assert len(schema.get("description", "")) > 15, name
            assert _is_bounded(schema), f"{name} has no bounds: {schema}"
            seen += 1
    assert seen > 40


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"seed": -1}, "seed: at least 0 is wanted, not -1"),
        ({"run": "../x"}, "run: "),
        ({"shard_size": 49}, "shard_size: "),
        ({"shard_size": 501}, "shard_size: "),
        ({"synthesize": {"drafts": 0}}, r"synthesize\.drafts: "),
        ({"synthesize": {"topologies": ["chain", "chain"]}}, "each topology may be named once"),
        ({"synthesize": {"topologies": ["ring"]}}, r"synthesize\.topologies\.0: "),
        ({"filter": {"max_right": 4}}, r"filter\.max_right: should be less than the number of voters, 4, not 4"),
        ({"filter": {"voters": ["gpt"]}}, r"filter\.voters\.0: "),
        ({"filter": {"voters": ["a/b"], "max_right": 1}}, r"filter\.max_right: .* the number of voters, 1, not 1"),
        ({"filter": {"votes_required": 5}}, r"filter\.votes_required: should be at most the number of voters, 4"),
        ({"filter": {"accuracies": [0.5]}}, r"filter\.accuracies: should have one accuracy for each of the 4 voters"),
        ({"vllm": {"memory_share": 1.5}}, r"vllm\.memory_share: "),
        ({"rewrite": {"back_translation": "google"}}, r"rewrite\.back_translation: "),
        ({"review": {"url": "ftp://x"}}, r"review\.url: "),
        ({"release": {"version": "one"}}, r"release\.version: "),
        ({"preset": "cloud"}, "preset: "),
        ({"synthesize": {"writer": "openai"}}, "the writer openai needs a model: give synthesize.model as "),
        ({"synthesize": {"model": "a/b"}}, "the writer rules asks no model: set synthesize.writer to "),
        ({"synthesize": {"writer": "openai", "model": "gpt"}}, r"synthesize\.model: 'gpt' does not fit"),
        ({"synthesize": {"items": -1}}, r"synthesize\.items: "),
        ({"synthesize": {"rounds": 4}}, r"synthesize\.rounds: "),
        ({"sede": 1}, "sede: there is no such parameter; is seed meant\\?$"),
        (
            {"synthesize": {"draft": 1}},
            r"synthesize\.draft: there is no such parameter; is synthesize\.drafts meant\?$",
        ),
        ({"filter": 3}, "filter: "),
        ({"release": {"name": "a/b"}}, r"release\.name: 'a/b' does not fit \(a name has 1 to 64 letters, digits"),
        ({"seed": -1, "shard_size": 1}, r"\(and 1 more\)$"),
    ],
)
def test_a_wrong_parameter_is_one_line_that_names_it(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load_parameters(values, BuildParameters)
    assert "\n" not in str(caught.value)


def test_only_what_shapes_the_output_identifies_a_run() -> None:
    one = BuildParameters(run="a", workers=1)
    other = load_parameters({"run": "b", "workers": 7, "fresh": True, "review": {"url": "http://x"}}, BuildParameters)
    assert identify(one) == identify(other)
    assert identify(one) != identify(BuildParameters(seed=1))


def test_the_preset_for_a_gpu_seats_omanics_four_voters_unless_others_are_named() -> None:
    assert BuildParameters().filter.voters == ["shortcuts"]
    seated = load_parameters({"preset": "gpu", "filter": {"max_right": 2}}, BuildParameters)
    assert seated.filter.voters == read_presets()["gpu"]["filter"]["voters"]
    assert len(seated.filter.voters) == 4
    assert seated.filter.max_right == 2
    named = load_parameters({"preset": "gpu", "filter": {"voters": ["shortcuts", "a/b"]}}, BuildParameters)
    assert named.filter.voters == ["shortcuts", "a/b"]
    assert narrow(seated, FilterRun).filter == seated.filter


@pytest.mark.parametrize(("profile", "preset"), [("gpu", "gpu"), ("api", "none"), ("offline", "none")])
def test_a_profile_of_former_parameters_is_read_and_said_in_one_line(
    profile: str, preset: str, caplog: pytest.LogCaptureFixture
) -> None:
    former = {"profile": profile, "synthesize": {"writer": "openai", "model": "a/b"}}
    made = load_parameters(former, BuildParameters)
    assert (made.preset, made.synthesize.model) == (preset, "a/b")
    assert len(made.filter.voters) == (4 if profile == "gpu" else 1)
    assert len(caplog.messages) == 1 and "profile" in caplog.messages[0]


def test_how_vllm_is_run_is_no_part_of_a_runs_identity() -> None:
    assert identify(BuildParameters(vllm={"gpus": 4, "port": 8000})) == identify(BuildParameters())  # type: ignore[arg-type]
    assert identify(BuildParameters(filter={"dtype": "float16"})) != identify(BuildParameters())  # type: ignore[arg-type]


def test_a_stage_gets_its_part_of_the_parameters() -> None:
    whole = load_parameters({"run": "r", "seed": 3, "filter": {"max_right": 2}}, BuildParameters)
    part = narrow(whole, FilterRun)
    assert (part.run, part.seed, part.filter.max_right) == ("r", 3, 2)
    assert tuple(spec.parameters for spec in list_line()) == tuple(STAGE_MODELS)
    covered = {name for model in STAGE_MODELS for name in model.model_fields}
    assert covered == set(BuildParameters.model_fields) - {"preset", "dated"}


def test_home_and_sample_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOPWRIGHT_HOME", str(tmp_path))
    assert home() == tmp_path
    monkeypatch.delenv("HOPWRIGHT_HOME")
    assert home().name == ".hopwright"
    assert RetrieveRun().corpus_folder() == sample_folder()
    assert RetrieveRun(corpus="/x").anchors_file() == Path("/x/anchors.jsonl")


def _leaves(schema: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    definitions = schema.get("$defs", {})
    found = []
    hidden = {name.strip("^$"): field for name, field in schema.get("patternProperties", {}).items()}
    for name, field in (*schema["properties"].items(), *hidden.items()):
        # A group that a form folds is one of two: nothing, or the group.
        group = next((one for one in field.get("anyOf", [field]) if "properties" in one), None)
        if group is not None:
            assert field.get("title") and field.get("description"), name
            found += _leaves({"$defs": definitions, **group})
            continue
        target = field.get("$ref", "").rsplit("/", 1)[-1]
        if target:
            assert field.get("title"), name
            # A description equal to that of the group's own model is left to the model.
            assert field.get("description") or definitions[target].get("description"), name
            found += _leaves({"$defs": definitions, **definitions[target]})
        else:
            found.append((name, field))
    return found


def _is_bounded(schema: dict[str, Any]) -> bool:
    if schema.get("type") == "boolean" or "enum" in schema or "const" in schema:
        return True
    if schema.get("type") == "array":
        return "maxItems" in schema and _is_bounded(schema["items"])
    if schema.get("type") == "object":  # shares by name: the names are listed, the shares bounded
        return "enum" in schema.get("propertyNames", {}) and _is_bounded(schema["additionalProperties"])
    if schema.get("type") == "string":
        return "pattern" in schema or "maxLength" in schema
    lower, upper = {"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"}
    return bool(lower & schema.keys()) and bool(upper & schema.keys())


def test_models_refuse_what_they_do_not_know() -> None:
    assert issubclass(BuildParameters, BaseModel)
    assert BuildParameters.model_config["extra"] == "forbid"


def test_a_preset_fills_in_what_a_form_left_at_its_default() -> None:
    # A form sends every parameter, chosen or not.
    form = BuildParameters().model_dump(mode="json")
    form |= {"preset": "paper", "corpus": "/wikidata5m", "synthesize": form["synthesize"] | {"items": 50}}
    paper = load_parameters(form, BuildParameters)
    assert (paper.synthesize.model, paper.review.items) == ("anthropic/claude-sonnet-4-5", 1172)
    assert paper.filter.voters == read_presets()["gpu"]["filter"]["voters"]
    assert paper.synthesize.items == 50, "chosen"
    assert load_parameters(paper.model_dump(mode="json"), BuildParameters) == paper, "the same when it is read again"
    spelt = paper.model_dump(mode="json") | {"preset": "none"}
    assert identify(load_parameters(spelt, BuildParameters)) == identify(paper)


def test_every_preset_is_fit_to_run_and_lacks_nothing_but_the_corpus() -> None:
    for name in read_presets():
        made = load_parameters({"preset": name, "corpus": "/wikidata5m"}, BuildParameters)
        assert made.preset == name
        assert made.filter.voters[0].startswith("vllm:" if name in ("gpu", "paper") else "shortcuts")
    with pytest.raises(InputError, match=r"the preset paper needs more than the sample: .*own-corpus\.md\)$"):
        load_parameters({"preset": "paper"}, BuildParameters)


def test_a_table_that_is_chosen_replaces_the_table_below_it() -> None:
    defaults = BuildParameters()
    below = {"synthesize": {"drafts": 60, "targets": {"kinds": {"temporal": 1}, "theme_share": 0.5}}}
    above = {"synthesize": {"targets": {"kinds": {"counting": 1}}}}
    merged = merge_values(below, above, defaults)
    assert merged == {"synthesize": {"drafts": 60, "targets": {"kinds": {"counting": 1}, "theme_share": 0.5}}}
    assert list_changes(merged, defaults) == merged
    assert list_changes(defaults.model_dump(mode="json"), defaults) == {}

"""Options of the command line: those of the parameters, made from `hopwright.settings`, and what verbs do alike.

A verb says which parameters it takes, and every field in them becomes an option: its name, its choices and bounds and
its description are the field's. A field whose own name would not do says so itself, by `Cli`.
"""

import functools
import inspect
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import annotated_types
import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hopwright.settings import Parameters, call_parameters, spell_options
from hopwright.settings.base import Cli
from hopwright.settings.runs import order_fields

Options = dict[str, Any]
"""What was given on the command line, by field and group; None where nothing was."""

Run = Annotated[str | None, typer.Option("--run", help="Name of the run. Without it, the latest run is taken.")]
BuildRun = Annotated[str | None, typer.Option("--run", help="Name of the run. Without it: sample.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Remove what was made and start over, instead of continuing.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Store = Annotated[
    Path | None, typer.Option("--store", help="Folder of a graph store. Without it, the newest store is taken.")
]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="Replace what this command wrote to the folder earlier, unless that was changed."),
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Print what models would be asked and what it would cost, and do nothing else."),
]
OWN_OPTIONS = {"run": "--run", "fresh": "--fresh"}
"""How verbs spell the parameters that they declare themselves."""
_DECLARED = frozenset({"run", "fresh", "dated", "notify"})
"""Parameters that verbs declare themselves, or that only schedules need."""


def takes(
    model: type[Parameters], *, leaving_out: Container[str] = (), hiding: Container[str] = (), prefix: str = ""
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb an option for each field of `model` and of its groups; the verb gets them as `options`.

    `leaving_out` names fields, as `seed` or `review.url`. Groups in `hiding` are taken, but of them only `main` fields
    are listed by --help. Options of the group `prefix` carry its name, and so do those whose name another one has.
    """

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        listed = list(_make_options(model, leaving_out, hiding, prefix))
        made = {key: annotation for key, _, annotation, _ in listed}
        choices = {key for key, _, _, of_choices in listed if of_choices}
        names = {key.replace("__", "."): spelt.partition("/")[0] for key, spelt, _, _ in listed}
        own = inspect.signature(verb).parameters
        hints = get_type_hints(verb, include_extras=True)

        @functools.wraps(verb)
        def run(**given: Any) -> None:
            call_parameters(spell_options({**OWN_OPTIONS, **names}))
            options: Options = {}
            for key in made:
                value = given.pop(key)
                if key in choices and value is not None:
                    value = [one.strip() for text in value for one in text.split(",")]
                group, _, field = key.rpartition("__")
                (options.setdefault(group, {}) if group else options)[field] = None if value == [] else value
            verb(options=options, **given)

        parameters = []
        for name, parameter in own.items():
            if name == "options":
                parameters += [_keyword(key, annotation) for key, annotation in made.items()]
            else:
                parameters.append(_keyword(name, hints[name], parameter.default))
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def run_stage(
    stage: str, run: str | None, options: Options, fresh: bool, as_json: bool, *, dry_run: bool = False
) -> None:
    """Run a stage of a run, or say what it would cost."""
    if dry_run:
        from flows.console.estimate import estimate_one_stage

        estimate_one_stage(stage, run, options, as_json=as_json)
        return
    from flows.console.stage import run_one_stage

    run_one_stage(stage, run, options, fresh=fresh, as_json=as_json)


def _make_options(
    model: type[Parameters], leaving_out: Container[str], hiding: Container[str], prefix: str
) -> Iterator[tuple[str, str, Any, bool]]:
    """Keys (`group__field`, or a field of the run), names, and the annotations from which Typer makes options.

    Last whether the option is a list of fixed choices, which may be given with commas between them.
    """
    taken: set[str] = set()
    for place in order_fields(model.model_fields):
        found = model.model_fields[place]
        group, fields = "", {place: found}
        if isinstance(found.annotation, type) and issubclass(found.annotation, BaseModel):
            group, fields = place, found.annotation.model_fields
        for name, field in fields.items():
            dotted = f"{group}.{name}" if group else name
            kind = _find_kind(field.annotation)
            if kind is None or dotted in _DECLARED or dotted in leaving_out:
                continue
            spelling = next((one for one in field.metadata if isinstance(one, Cli)), Cli())
            names = spelling.names or (_spell(name, kind),)
            if group == prefix != "" or taken & set(names):
                names = (_spell(f"{group}-{name}", kind),)
            taken |= set(names)
            option = typer.Option(
                *names,
                help=field.description,
                metavar=spelling.metavar or _show_bounds(field, kind),
                hidden=group in hiding and not spelling.main,
            )
            key, of_choices = f"{group}__{name}" if group else name, bool(_list_choices(field, kind))
            yield key, names[0], Annotated[kind | None, option], of_choices


def _find_kind(annotation: Any) -> Any:
    """The type that Typer reads; None for tables and groups, which a parameter file gives.

    Choices of a list stay texts: the parameters say what is wrong with one, by its name.
    """
    if get_origin(annotation) is Annotated:
        return _find_kind(get_args(annotation)[0])
    if get_origin(annotation) is list:
        return list[float] if _find_kind(get_args(annotation)[0]) is float else list[str]
    if get_origin(annotation) is Literal or annotation in (bool, int, float, str):
        return annotation
    return None


def _spell(name: str, kind: Any) -> str:
    """`max_right` → `--max-right`; a list is given one an option, so `forms` → `--form`."""
    spelt = f"--{name.replace('_', '-')}"
    if kind is bool:
        return f"{spelt}/--no-{spelt[2:]}"
    return spelt.removesuffix("s") if get_origin(kind) is list else spelt


def _show_bounds(field: FieldInfo, kind: Any) -> str | None:
    """`1..12` for a number with bounds, the choices of a list; None for what Typer shows by itself."""
    if get_origin(kind) is list:
        return "|".join(_list_choices(field, kind)) or None
    low = next((one for one in field.metadata if isinstance(one, annotated_types.Ge | annotated_types.Gt)), None)
    high = next((one for one in field.metadata if isinstance(one, annotated_types.Le | annotated_types.Lt)), None)
    if kind not in (int, float) or low is None or high is None:
        return None
    return f"{getattr(low, 'ge', None) or getattr(low, 'gt', 0)}..{getattr(high, 'le', None) or getattr(high, 'lt', 0)}"


def _list_choices(field: FieldInfo, kind: Any) -> list[str]:
    """The fixed choices of which an option is a list; empty for another option."""
    inner = get_args(field.annotation)[0] if get_origin(kind) is list else None
    return list(map(str, get_args(inner))) if get_origin(inner) is Literal else []


def _keyword(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

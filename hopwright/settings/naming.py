"""What a parameter is called where its user meets it: an option of the command line, a field of a form, a dotted name.

A message that tells a user to change a parameter names it by `name_parameter`; whoever runs the program for that user
says once, by `call_parameters`, how parameters are called there.
"""

from collections.abc import Callable, Mapping

from pydantic import BaseModel

_speller: Callable[[str], str] | None = None


def call_parameters(speller: Callable[[str], str] | None) -> None:
    """From now on messages call parameters by what `speller` makes of a dotted name; None: by the dotted name."""
    global _speller
    _speller = speller


def name_parameter(dotted: str) -> str:
    """What a parameter such as `synthesize.model` is called here."""
    return dotted if _speller is None else _speller(dotted)


def names_by_path() -> bool:
    """Whether parameters are called by their dotted names: a file of parameters has nothing else."""
    return _speller is None


def spell_options(options: Mapping[str, str]) -> Callable[[str], str]:
    """The speller of the command line: `options` maps dotted names to options; tables keep their dotted names."""
    return lambda dotted: options.get(dotted, dotted)


def spell_titles(model: type[BaseModel], moved: Mapping[str, str] | None = None) -> Callable[[str], str]:
    """The speller of the form of a flow with these parameters: `Twins › Judge of the meaning`.

    `moved` gives the titles of parameters that the form shows elsewhere.
    """
    titles = {**dict(_list_titles(model)), **(moved or {})}
    return lambda dotted: titles.get(dotted, dotted)


def _list_titles(model: type[BaseModel], path: str = "", above: str = "") -> list[tuple[str, str]]:
    found = []
    for name, field in model.model_fields.items():
        title = f"{above}{field.title or name}"
        found.append((path + name, title))
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found += _list_titles(field.annotation, f"{path}{name}.", f"{title} › ")
    return found

"""The one Jinja environment of this package: everything put into a template is escaped."""

from __future__ import annotations

import functools

import jinja2


@functools.cache
def load_template(name: str) -> jinja2.Template:
    """A template of `annotation/templates`; an undefined name in it is an error."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("annotation", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)

"""The one Jinja environment of this package: everything put into a page is escaped."""

from __future__ import annotations

import functools

import jinja2


@functools.cache
def load_template(name: str, folder: str = "templates") -> jinja2.Template:
    """A template of `annotation/<folder>`; an undefined name in it is an error.

    Guidelines are our own Markdown and include one another; nothing of an item gets into them.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("annotation", folder),
        autoescape=folder != "guidelines",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)

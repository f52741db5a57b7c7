"""What the worker processes of a build have in common: imported once, in the process that they are forked from.

Each worker would import it by itself otherwise, and mostly at a moment at which the others wait for it. polars is not
among it: it starts threads as it is imported, which a fork does not have.
"""

import contextlib
import gc
import importlib

from hopwright.knowledge.wikidata.properties import default_table

_NAMES = (
    "hopwright.stages.retrieve",
    "hopwright.stages.drafting",
    "hopwright.stages.selection",
    "hopwright.stages.synthesize",
    "hopwright.stages.filter",
    "hopwright.stages.rewrite",
    "hopwright.stages.rewrite_report",
    "hopwright.stages.release",
    "hopwright.stages.funnel",
    "hopwright.release.dataset",
    "hopwright.release.audit",
    "annotation.files",
    "annotation.gold",
    "annotation.stages.review",
    "datasketch",
    "label_studio_sdk.label_interface.interface",
    "matplotlib.backends.backend_agg",
    "pandas",
)

for _name in _NAMES:
    # What cannot be imported here is told by the worker that needs it.
    with contextlib.suppress(ImportError):
        importlib.import_module(_name)
default_table()
# Nothing of it is garbage: workers that look for some leave it alone, and go on sharing its memory.
gc.freeze()

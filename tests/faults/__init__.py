"""Planting faults in good items: each kind is a function from an item to its faulty release rows, and who must notice.

Faults are planted in release rows, where an auditor meets them. A fault that an item has no place for gives nothing.
"""

# In the order in which they are planted.
from tests.faults import answers, plans, choices, wording, shortcuts, twins, claims  # noqa: F401, I001
from tests.faults.planting import Fault, kinds, plant_faults

__all__ = ["Fault", "kinds", "plant_faults"]

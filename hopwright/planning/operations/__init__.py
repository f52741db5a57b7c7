"""The operations that a plan is made of: what each takes, what it gives, and how it adds its step to a sketch.

A look-up goes from entity to entity or to a literal; a computation joins, measures, counts or chooses. Any graph of
hops is planned by choosing operations whose types fit together (see `programs`).
"""

from __future__ import annotations

from hopwright.planning.operations.arithmetic import add, choose_of, committees, product, rate, total
from hopwright.planning.operations.base import Operation
from hopwright.planning.operations.counting import ahead, compare, later, members
from hopwright.planning.operations.lookups import (
    date,
    dated,
    dated_among,
    dated_by_amount,
    dated_by_both,
    dated_stated,
    extend,
    lead,
    named_number,
    named_year,
    number,
    year,
)
from hopwright.planning.operations.temporal import age_named, apart, apart_named, between, shift

OPERATIONS: tuple[Operation, ...] = (
    Operation("lead", (), "entity", "", 8.0, lead, final=0),
    Operation("named-year", (), "year", "", 1.6, named_year, final=0),
    Operation("named-number", (), "number", "", 1.2, named_number, final=0),
    Operation("committees", (), "amount", "combinatorics", 1.0, committees, final=0),
    Operation("extend", ("entity",), "entity", "", 5.0, extend),
    Operation("year", ("entity",), "year", "", 1.5, year),
    Operation("date", ("entity",), "date", "", 1.0, date, inner=False),
    Operation("number", ("entity",), "number", "", 1.2, number),
    Operation("dated", ("year",), "entity", "", 0.5, dated),
    Operation("dated-by-amount", ("amount",), "entity", "", 0.6, dated_by_amount),
    Operation("dated-stated", ("entity",), "entity", "", 0.15, dated_stated),
    Operation("dated-among", ("entity", "amount"), "entity", "", 0.6, dated_among),
    Operation("dated-among", ("entity", "year"), "entity", "", 0.4, dated_among),
    Operation("dated-by-both", ("year", "amount"), "entity", "", 0.5, dated_by_both),
    Operation("compare", ("entity", "entity"), "entity", "comparison", 0.7, compare),
    Operation("compare-three", ("entity", "entity", "entity"), "entity", "comparison", 0.7, compare),
    Operation("ahead", ("entity",), "amount", "counting", 1.6, ahead, final=0.04),
    Operation("later", ("year",), "amount", "counting", 1.0, later, final=0.04),
    Operation("members", ("entity",), "amount", "counting", 2.6, members, final=0.04),
    Operation("between", ("entity",), "amount", "temporal", 0.6, between),
    Operation("between-two", ("entity", "entity"), "amount", "temporal", 0.6, between),
    Operation("apart", ("year", "year"), "amount", "temporal", 1.0, apart),
    Operation("apart-three", ("year", "year", "year"), "amount", "temporal", 1.0, apart),
    Operation("apart-named", ("year",), "amount", "temporal", 0.8, apart_named),
    Operation("age", ("year",), "amount", "temporal", 1.0, age_named),
    Operation("shift", ("year",), "year", "temporal", 0.6, shift, final=0.3),
    Operation("shift-both", ("year", "amount"), "year", "temporal", 0.8, shift, final=0.5),
    Operation("total", ("entity",), "number", "arithmetic", 1.2, total, inner=False),
    Operation("total-two", ("entity", "entity"), "number", "arithmetic", 1.0, total, inner=False),
    Operation("rate", ("entity",), "number", "arithmetic", 1.0, rate, inner=False),
    Operation("add", ("number", "number"), "number", "arithmetic", 1.0, add, inner=False),
    Operation("product", ("amount", "amount"), "amount", "arithmetic", 0.8, product),
    Operation("choose", ("amount",), "ways", "combinatorics", 1.0, choose_of, inner=False),
)

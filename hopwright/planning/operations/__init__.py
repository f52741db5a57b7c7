"""The operations that a plan is made of: what each takes, what it gives, and how it adds its step to a sketch.

A look-up goes from entity to entity or to a literal; a computation joins, measures, counts or chooses. Any graph of
hops is planned by choosing operations whose types fit together (see `programs`). Only what people compute is here: who
came first, how old somebody was, how many years lie between two events that belong together.
"""

from __future__ import annotations

from hopwright.planning.operations.arithmetic import choose_of, rate, total
from hopwright.planning.operations.base import Operation
from hopwright.planning.operations.comparing import compare, first_after, first_by, first_by_after, first_of
from hopwright.planning.operations.counting import count_by
from hopwright.planning.operations.lookups import date, extend, lead, named_year, number, year
from hopwright.planning.operations.temporal import age, age_of_named, apart, apart_named, between, turned

OPERATIONS: tuple[Operation, ...] = (
    Operation("lead", (), "entity", "", 8.0, lead, final=0),
    Operation("named-year", (), "year", "", 4.0, named_year, final=0),
    Operation("first-of", (), "entity", "comparison", 4.0, first_of, final=0),
    Operation("extend", ("entity",), "entity", "", 5.0, extend),
    Operation("year", ("entity",), "year", "", 1.2, year, final=0.4),
    Operation("date", ("entity",), "date", "", 1.2, date, final=0.3),
    Operation("number", ("entity",), "number", "", 0.15, number, inner=False),
    Operation("compare", ("entity", "entity"), "entity", "comparison", 1.0, compare, final=0),
    Operation("compare-three", ("entity", "entity", "entity"), "entity", "comparison", 0.7, compare),
    Operation("first-by", ("entity",), "entity", "comparison", 0.45, first_by),
    Operation("first-after", ("year",), "entity", "comparison", 0.9, first_after, inner=False),
    Operation("first-by-after", ("year", "entity"), "entity", "comparison", 1.5, first_by_after, inner=False),
    Operation("count-by", ("entity",), "amount", "counting", 0.15, count_by),
    Operation("between-two", ("entity", "entity"), "amount", "temporal", 0.1, between, inner=False),
    Operation("apart", ("year", "year"), "amount", "temporal", 2.5, apart, inner=False),
    Operation("apart-three", ("year", "year", "year"), "amount", "temporal", 2.5, apart, inner=False),
    Operation("apart-named", ("year",), "amount", "temporal", 0.4, apart_named, inner=False),
    Operation("age", ("date", "entity"), "amount", "temporal", 2.5, age, inner=False),
    Operation("age-named", ("date",), "amount", "temporal", 2.5, age_of_named, inner=False),
    Operation("turned", ("year", "entity"), "amount", "temporal", 0.4, turned, inner=False),
    Operation("total-two", ("entity", "entity"), "number", "arithmetic", 0.05, total, inner=False),
    Operation("rate", ("entity",), "number", "arithmetic", 0.03, rate, inner=False),
    Operation("choose", ("amount",), "ways", "combinatorics", 0.15, choose_of, inner=False),
)

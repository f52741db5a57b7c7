"""The operations that a plan is made of: what each takes, what it gives, and how it adds its step to a sketch.

A look-up goes from entity to entity or to a literal; a computation joins, measures, counts or chooses. Any graph of
hops is planned by choosing operations whose types fit together (see `programs`). Only what people compute is here: who
came first, how old somebody was, how many years lie between two events that belong together.
"""

from __future__ import annotations

from hopwright.planning.operations.arithmetic import choose_of, difference, rate
from hopwright.planning.operations.base import Operation
from hopwright.planning.operations.comparing import compare, first_of, most_of_all
from hopwright.planning.operations.counting import count_all
from hopwright.planning.operations.joint_works import (
    count_joint_of_both,
    count_joint_with_named,
    joint_of_both,
    joint_of_named,
    joint_with_named,
    next_after_joint,
)
from hopwright.planning.operations.lookups import (
    date,
    extend,
    lead,
    named_birth,
    named_date,
    named_year,
    neighbour_of_both,
    number,
    year,
)
from hopwright.planning.operations.series import end_member, named_member
from hopwright.planning.operations.temporal import (
    age_at_death,
    age_found,
    age_in_year,
    age_of,
    age_of_named,
    apart,
)
from hopwright.planning.operations.timelines import holder, named_event, named_holder
from hopwright.planning.operations.whole_lists import (
    count_of_its,
    count_of_named,
    end_beside_work,
    end_of_its,
    end_of_named,
    next_of_its,
    next_of_owner,
)

OPERATIONS: tuple[Operation, ...] = (
    Operation("lead", (), "entity", "", 8.0, lead, final=0),
    Operation("named-holder", (), "entity", "", 0.8, named_holder, final=0),
    Operation("named-event", (), "year", "", 2.0, named_event, final=0),
    Operation("named-year", (), "year", "", 4.0, named_year, final=0),
    Operation("named-birth", (), "date", "", 4.0, named_birth, final=0),
    Operation("named-date", (), "date", "", 6.0, named_date, final=0),
    Operation("first-of", (), "entity", "comparison", 0.5, first_of, final=0),
    Operation("most-of-all", (), "entity", "comparison", 2.0, most_of_all, final=0),
    Operation("most-of-its", ("entity",), "entity", "comparison", 0.03, most_of_all),
    Operation("extend", ("entity",), "entity", "", 5.0, extend),
    Operation("neighbour-of-both", ("entity", "entity"), "entity", "", 0.3, neighbour_of_both, final=0),
    Operation("year", ("entity",), "year", "", 1.2, year, final=0.2),
    Operation("date", ("entity",), "date", "", 1.2, date, final=0.2),
    Operation("number", ("entity",), "number", "", 0.3, number, inner=False),
    Operation("holder", ("year",), "entity", "", 0.15, holder),
    Operation("named-member", (), "entity", "", 2.0, named_member, final=0),
    Operation("end-member", ("entity",), "entity", "comparison", 1.0, end_member, final=0),
    Operation("compare", ("entity", "entity"), "entity", "comparison", 0.1, compare, final=0),
    Operation("compare-three", ("entity", "entity", "entity"), "entity", "comparison", 0.1, compare),
    Operation("next-of-its", ("entity", "date"), "entity", "comparison", 15.0, next_of_its),
    Operation("next-of-its-in-year", ("entity", "year"), "entity", "comparison", 4.0, next_of_its),
    Operation("next-of-named", ("date",), "entity", "comparison", 15.0, next_of_owner),
    Operation("end-of-its", ("entity",), "entity", "comparison", 0.1, end_of_its, final=0),
    Operation("end-of-named", (), "entity", "comparison", 30.0, end_of_named, final=0),
    Operation("end-beside-work", (), "entity", "comparison", 14.0, end_beside_work, final=0),
    Operation("joint-of-both", ("entity", "entity"), "entity", "comparison", 300.0, joint_of_both),
    Operation("joint-with-named", ("entity",), "entity", "comparison", 120.0, joint_with_named),
    Operation("joint-of-named", (), "entity", "comparison", 80.0, joint_of_named, final=0),
    Operation("next-after-joint", ("entity",), "entity", "comparison", 50.0, next_after_joint),
    Operation("count-joint", ("entity", "entity"), "amount", "counting", 150.0, count_joint_of_both, inner=False),
    Operation("count-joint-with-named", ("entity",), "amount", "counting", 60.0, count_joint_with_named, inner=False),
    Operation("count-of-its", ("entity", "date"), "amount", "counting", 20.0, count_of_its, inner=False),
    Operation("count-of-named", ("date",), "amount", "counting", 20.0, count_of_named, inner=False),
    Operation("count-all", ("entity",), "amount", "counting", 0.02, count_all),
    Operation("apart", ("year", "year"), "amount", "temporal", 0.02, apart, inner=False),
    Operation("age", ("date", "date"), "amount", "temporal", 0.3, age_of, inner=False),
    Operation("age-in-year", ("entity", "year"), "amount", "temporal", 0.01, age_in_year, inner=False),
    Operation("age-found", ("entity", "date"), "amount", "temporal", 3.0, age_found, inner=False),
    Operation("age-at-death", ("entity",), "amount", "temporal", 1.5, age_at_death, inner=False),
    Operation("difference", ("entity", "entity"), "number", "arithmetic", 2.0, difference, inner=False),
    Operation("age-named", ("date",), "amount", "temporal", 1.5, age_of_named, inner=False),
    Operation("rate", ("entity",), "number", "arithmetic", 0.03, rate, inner=False),
    Operation("choose", ("amount",), "ways", "combinatorics", 0.03, choose_of, inner=False),
)

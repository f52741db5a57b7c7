"""Why a plan under construction cannot be completed: codes that are counted, and what they tell a user."""

from __future__ import annotations

from enum import StrEnum


class DeadEnd(StrEnum):
    """One cause. Manifests count causes by these codes, with a detail after a colon for some."""

    ANCHOR_HOP_DOES_NOT_FOLLOW = "anchor_hop_does_not_follow"
    ANOTHER_VALUE = "another_value"
    ANSWER_STATED = "answer_stated"
    ASKED_OF_WINNER_ALONE = "asked_of_winner_alone"
    CLAIM_WANTED = "claim_wanted"
    COMPARED_IS_ASKED = "compared_is_asked"
    DATE_NOT_WORDED = "date_not_worded"
    DOUBTFUL_IN_WORLD = "doubtful_in_world"
    ENTITY_REPEATS = "entity_repeats"
    HOLDERS_COMPARED_AS_THEY_ARE = "holders_compared_as_they_are"
    IDLE_CHOICE = "idle_choice"
    NAMED_HAS_IT = "named_has_it"
    IMPOSSIBLE_AGE = "impossible_age"
    KNOWN_TO_THE_DAY = "known_to_the_day"
    LACKS_PROPERTY = "lacks_property"
    NAMES_SHARE_WORD = "names_share_word"
    NOBODY_CLOSE = "nobody_close"
    NOTHING_TOGETHER = "nothing_together"
    NOTHING_OF_TOPIC = "nothing_of_topic"
    NOTHING_TO_ASK = "nothing_to_ask"
    NOTHING_TO_COMPARE_BY = "nothing_to_compare_by"
    NOTHING_WITH_ANCHOR = "nothing_with_anchor"
    NOT_ALIVE_THEN = "not_alive_then"
    KNOWN_DEATH = "known_death"
    NOT_COMPUTED = "not_computed"
    NOT_PROVEN = "not_proven"
    NO_CLOSED_SET = "no_closed_set"
    NOTHING_IN_COMMON = "nothing_in_common"
    NO_SERIES = "no_series"
    NO_CLOSED_SET_START = "no_closed_set_start"
    NO_CLOSED_SET_TO_COMPARE = "no_closed_set_to_compare"
    NO_DATED_START = "no_dated_start"
    NO_FITTING_CLAIM = "no_fitting_claim"
    NO_FITTING_COMPUTATION = "no_fitting_computation"
    NO_FITTING_EVENT = "no_fitting_event"
    NO_FITTING_NUMBER = "no_fitting_number"
    NO_FULL_DATE = "no_full_date"
    NO_GROUP_START = "no_group_start"
    NO_GROUP_TO_CHOOSE_FROM = "no_group_to_choose_from"
    NO_HOLDER = "no_holder"
    NO_HOLDER_OF_YEAR = "no_holder_of_year"
    NO_LIFE_DATES = "no_life_dates"
    NO_OPERATION_GOES_ON = "no_operation_goes_on"
    NO_PROGRAM = "no_program"
    NO_QUESTION_LEADS_THERE = "no_question_leads_there"
    NO_RATE = "no_rate"
    NO_START = "no_start"
    NO_WHOLE_LIST = "no_whole_list"
    NO_TIMELINE_START = "no_timeline_start"
    NUMBER_NOT_WORDED = "number_not_worded"
    NUMBER_REPEATS = "number_repeats"
    NUMBER_UNFIT_FOR_CHOICE = "number_unfit_for_choice"
    OTHER_DEPENDENCIES = "other_dependencies"
    SHORTCUT = "shortcut"
    START_IN_USE = "start_in_use"
    START_IN_USE_OR_ALONE = "start_in_use_or_alone"
    THEME_OVER_SHARE = "theme_over_share"
    TOO_FEW_DOMAINS = "too_few_domains"
    TOO_WELL_KNOWN = "too_well_known"
    TOPIC_WITHOUT_BIRTHDAY = "topic_without_birthday"
    TOPIC_WITHOUT_EVENT = "topic_without_event"
    TRIVIAL_PRODUCT = "trivial_product"
    UNFIT_YEAR_DISTANCE = "unfit_year_distance"
    UNNATURAL_AGE = "unnatural_age"
    UNRELATED_BIRTH = "unrelated_birth"
    UNRELATED_EVENTS = "unrelated_events"


_TEXTS: dict[DeadEnd, str] = {
    DeadEnd.ANCHOR_HOP_DOES_NOT_FOLLOW: "the anchor's second hop does not follow",
    DeadEnd.ANOTHER_VALUE: "the source gives another value",
    DeadEnd.ANSWER_STATED: "the question states an answer",
    DeadEnd.ASKED_OF_WINNER_ALONE: "what is asked of the winner cannot be asked of the others",
    DeadEnd.CLAIM_WANTED: "the slot was to rest on a claim",
    DeadEnd.COMPARED_IS_ASKED: "what was compared is asked for",
    DeadEnd.DATE_NOT_WORDED: "the date cannot be worded",
    DeadEnd.DOUBTFUL_IN_WORLD: "the answer may not be the only one in the world",
    DeadEnd.ENTITY_REPEATS: "an entity repeats",
    DeadEnd.HOLDERS_COMPARED_AS_THEY_ARE: "two holders are compared as they are",
    DeadEnd.NAMED_HAS_IT: "what the plan names has the answer as well",
    DeadEnd.IDLE_CHOICE: "another of the list leads to the same answer, or none to another",
    DeadEnd.IMPOSSIBLE_AGE: "nobody grows so old",
    DeadEnd.KNOWN_TO_THE_DAY: "both dates are known to the day, not only to the year",
    DeadEnd.LACKS_PROPERTY: "the entity lacks the property",
    DeadEnd.NAMES_SHARE_WORD: "two names share a word",
    DeadEnd.NOBODY_CLOSE: "nobody whom the plan names was close to that one",
    DeadEnd.NOTHING_TOGETHER: "no first or last work that two people made together is known for certain",
    DeadEnd.NOTHING_OF_TOPIC: "nothing else about the plan's topic fits it",
    DeadEnd.NOTHING_TO_ASK: "nothing to ask about the entity",
    DeadEnd.NOTHING_TO_COMPARE_BY: "the entities have nothing to compare them by",
    DeadEnd.NOTHING_WITH_ANCHOR: "no computation that may follow goes with the anchor",
    DeadEnd.NOT_ALIVE_THEN: "the person did not live then",
    DeadEnd.KNOWN_DEATH: "many know when somebody so well known died",
    DeadEnd.NOT_COMPUTED: "the computation fails",
    DeadEnd.NOT_PROVEN: "the source does not prove it",
    DeadEnd.NOTHING_IN_COMMON: "the two have no one thing in common, or several",
    DeadEnd.NO_CLOSED_SET: "nothing that the entity has is known completely",
    DeadEnd.NO_CLOSED_SET_START: "the graph has no complete set in that domain to begin such a plan from",
    DeadEnd.NO_CLOSED_SET_TO_COMPARE: "no complete set can be compared",
    DeadEnd.NO_DATED_START: "nothing of the domain has a date that leads into a timeline",
    DeadEnd.NO_FITTING_CLAIM: "no claim suits the number",
    DeadEnd.NO_FITTING_COMPUTATION: "no computation that may follow suits the facts found",
    DeadEnd.NO_FITTING_EVENT: "the entity has no dated event that suits",
    DeadEnd.NO_FITTING_NUMBER: "the entity has no number that suits",
    DeadEnd.NO_FULL_DATE: "the entity has no full date",
    DeadEnd.NO_GROUP_START: "no group in that domain to begin such a plan from",
    DeadEnd.NO_GROUP_TO_CHOOSE_FROM: "no group of like things to choose from",
    DeadEnd.NO_HOLDER: "no timeline has a holder from whom to go on",
    DeadEnd.NO_HOLDER_OF_YEAR: "no timeline has a holder of that year from whom to go on",
    DeadEnd.NO_LIFE_DATES: "the days of birth and death are not known",
    DeadEnd.NO_OPERATION_GOES_ON: "no further step can follow from the facts found",
    DeadEnd.NO_PROGRAM: "no sequence of operations gives that in this topology",
    DeadEnd.NO_QUESTION_LEADS_THERE: "no question leads to the entity",
    DeadEnd.NO_RATE: "the entity has no rate",
    DeadEnd.NO_WHOLE_LIST: "no complete list has something on either side of the moment",
    DeadEnd.NO_SERIES: "no series has members that go on so",
    DeadEnd.NO_START: "nothing in that domain to begin such a plan from, or too little",
    DeadEnd.NO_TIMELINE_START: "no timeline in that domain to begin such a plan from",
    DeadEnd.NUMBER_NOT_WORDED: "the number cannot be worded",
    DeadEnd.NUMBER_REPEATS: "a number repeats",
    DeadEnd.NUMBER_UNFIT_FOR_CHOICE: "the number does not suit a choice",
    DeadEnd.OTHER_DEPENDENCIES: "the dependencies are not the topology's",
    DeadEnd.SHORTCUT: "a shortcut skips a hop",
    DeadEnd.START_IN_USE: "what begins such a plan is in use",
    DeadEnd.START_IN_USE_OR_ALONE: "what begins such a plan is in use, or goes with nothing",
    DeadEnd.THEME_OVER_SHARE: "its theme is over its share",
    DeadEnd.TOO_FEW_DOMAINS: "too few domains",
    DeadEnd.TOO_WELL_KNOWN: "something in it is better known than wished",
    DeadEnd.TOPIC_WITHOUT_BIRTHDAY: "what the plan is about was not born on a known day",
    DeadEnd.TOPIC_WITHOUT_EVENT: "what the plan is about has no dated event",
    DeadEnd.TRIVIAL_PRODUCT: "the product says nothing",
    DeadEnd.UNFIT_YEAR_DISTANCE: "the years are too close, or too far apart",
    DeadEnd.UNNATURAL_AGE: "nobody asks how old one was then",
    DeadEnd.UNRELATED_BIRTH: "nobody asks how old one was when a stranger was born",
    DeadEnd.UNRELATED_EVENTS: "the two events have nothing to do with each other",
}


class PlanningDeadEnd(Exception):  # noqa: N818  (not an error: the planner tries again)
    """This plan cannot be completed. `detail`: what of several the code leaves open, such as the kind of a shortcut."""

    def __init__(self, code: DeadEnd, detail: str = "") -> None:
        self.code = code
        self.reason = f"{code}:{detail}" if detail else str(code)
        super().__init__(self.reason)

    def __str__(self) -> str:  # in words only where somebody reads it: the planner counts hundreds an item
        return describe_dead_end(self.reason)


class NothingBegins(PlanningDeadEnd):
    """Nothing in the source begins a plan with these operations; trying again does not help."""


def describe_dead_end(reason: str) -> str:
    """Return the words for a counted cause; manifests of earlier versions hold the words themselves."""
    code, _, detail = reason.partition(":")
    if code not in DeadEnd.__members__.values():
        return reason
    text = _TEXTS[DeadEnd(code)]
    return f"{text} ({detail.strip()})" if detail else text

"""Guessers: at chance on options that tell nothing, above it on options that do, and the same in any order."""

from __future__ import annotations

import random

import pytest

from hopwright.checks.guessing import (
    SOLVERS,
    Guess,
    GuessTally,
    OptionView,
    chance_bound,
    count_digit_edits,
    kinship,
    overlap,
    share_form,
)


def make_guesses(make, count: int = 600, answer_type: str = "entity") -> list[Guess]:
    """Questions whose answer `make` gives first, shuffled evenly."""
    rng = random.Random(7)
    guesses = []
    for number in range(count):
        texts = make(rng)
        place = number % 4
        wrong = texts[1:]
        rng.shuffle(wrong)
        options = [*wrong[:place], texts[0], *wrong[place:]]
        guesses.append(Guess("Which one?", tuple(options), answer_type, place))  # type: ignore[arg-type]
    return guesses


def rate(guesses: list[Guess]) -> dict[str, object]:
    tally = GuessTally()
    for guess in guesses:
        tally.add(guess)
    return {score.solver: score for score in tally.scores()}


def draw_word(rng: random.Random, length: int) -> str:
    return "".join(rng.choice("bcdfghklmnprst") for _ in range(length)).capitalize()


def test_on_options_that_tell_nothing_no_solver_is_above_chance():
    scores = rate(make_guesses(lambda rng: [draw_word(rng, rng.randrange(4, 12)) for _ in range(4)]))
    assert "trained on form" in scores and "longest" in scores
    assert [name for name, score in scores.items() if score.guessable] == []


def test_numbers_drawn_alike_tell_nothing():
    guesses = make_guesses(lambda rng: [str(number) for number in rng.sample(range(100, 999), 4)], answer_type="number")
    assert [name for name, score in rate(guesses).items() if score.guessable] == []


@pytest.mark.parametrize(
    ("solver", "make", "answer_type"),
    [
        ("longest", lambda rng: [draw_word(rng, 12), *(draw_word(rng, 5) for _ in range(3))], "entity"),
        ("shortest", lambda rng: [draw_word(rng, 4), *(draw_word(rng, 9) for _ in range(3))], "entity"),
        ("odd one out", lambda rng: [f"{draw_word(rng, 4)}, X", *(draw_word(rng, 7) for _ in range(3))], "entity"),
        ("middle number", lambda rng: ["500", str(rng.randrange(600, 900)), str(rng.randrange(100, 400)), "950"],
         "number"),
        ("roundest number", lambda rng: ["500", "613", "727", "391"], "number"),
        ("number the others are made from", lambda rng: ["437", "438", "436", "447"], "number"),
        ("name most like the others", lambda rng: ["Larnaca FC", "Larnaca Town", "Nicosia FC", "Paphos"], "entity"),
        ("trained on form", lambda rng: [draw_word(rng, 8), *(draw_word(rng, rng.choice((5, 7))) for _ in range(3))],
         "entity"),
    ],
)  # fmt: skip
def test_what_gives_the_answer_away_is_seen_by_its_solver(solver, make, answer_type):
    score = rate(make_guesses(make, answer_type=answer_type))[solver]
    assert score.guessable and score.accuracy > 0.4


def test_ties_share_the_guess_and_a_full_tie_is_no_try():
    tally = GuessTally()
    for _ in range(10):
        tally.add(Guess("?", ("Aa", "Bb", "Cc", "Dddd"), "entity", 0))
        tally.add(Guess("?", ("Aa", "Bb", "Cc", "Dd"), "entity", 0))
    scores = {score.solver: score for score in tally.scores()}
    assert scores["shortest"].tried == 10 and scores["shortest"].accuracy == pytest.approx(1 / 3)
    assert scores["longest"].accuracy == 0


def test_an_option_that_the_question_states_is_seen():
    tally = GuessTally()
    for _ in range(20):
        tally.add(Guess("Is Oslo larger than Bern?", ("Oslo", "Rome", "Riga", "Kyiv"), "entity", 0))
    scores = {score.solver: score for score in tally.scores()}
    assert scores["stated in the question"].accuracy == 1


def test_the_order_of_the_questions_plays_no_part():
    guesses = make_guesses(lambda rng: [draw_word(rng, rng.randrange(4, 12)) for _ in range(4)])
    assert rate(guesses) == rate(guesses[::-1])


def test_no_questions_no_scores():
    assert GuessTally().scores() == ()
    assert chance_bound(10_000) == 0.3
    assert chance_bound(100) == pytest.approx(0.380, abs=0.001)


def test_every_rule_of_thumb_has_its_contrary():
    guess = Guess("How far?", ("120", "1,300", "95", "87"), "number", 1)
    names = list(SOLVERS)
    for plain, contrary in zip(names[::2], names[1::2], strict=True):
        assert list(SOLVERS[plain](guess)) == [-score for score in SOLVERS[contrary](guess)]


def test_digit_edits():
    assert count_digit_edits(("637,757", "637,657", "637,557", "412,110")) == 3
    assert count_digit_edits(("12,000", "13,000", "1912", "1922")) == 0


def test_likeness():
    assert overlap("Zagreb", "Zagreb") == 1 and overlap("Zagreb", "Oslo") == 0
    assert 0 < overlap("Larnaca FC", "Larnaca Town") < 1
    assert kinship(437, 447) > kinship(437, 448) > kinship(437, 900)
    assert share_form("Washington, D.C.", "Rome") < share_form("Rome", "Oslo") == 10


SEEN = [
    ("meets the open conditions", OptionView(conditions=((True, False, False, False),)), ("a", "b", "c", "d"), ""),
    ("of the others' era", OptionView(years=(1900, 1890, 1910, 1901)), ("a", "b", "c", "d"), ""),
    ("best known", OptionView(links=(90, 4, 7, 8)), ("a", "b", "c", "d"), ""),
    ("one of those compared", OptionView(compared=(True, False, False, False)), ("a", "b", "c", "d"), ""),
    ("named in other hops", OptionView(elsewhere=(1, 0, 0, 0)), ("a", "b", "c", "d"), ""),
    ("a number of choices", OptionView(), ("126", "125", "130", "118"), "How many committees of 4 out of 9?"),
    ("made of two stated numbers", OptionView(), ("28", "29", "31", "35"), "What lies between 12 and 40?"),
    ("on a stated step", OptionView(), ("1927", "1930", "1924", "1933"), "Which year, nine times as many after 1900?"),
    ("divided by a stated number", OptionView(), ("49", "50", "51", "53"), "How many, seven to each?"),
    ("one digit from others", OptionView(), ("637,657", "637,757", "637,557", "633,657"), ""),
]  # fmt: skip


@pytest.mark.parametrize(("solver", "view", "options", "question"), SEEN)
def test_what_a_solver_goes_by_is_seen(solver, view, options, question):
    kind = "number" if options[0][0].isdigit() else "entity"
    scores = SOLVERS[solver](Guess(question, options, kind, 0, view))
    assert scores[0] == max(scores) and list(scores).count(max(scores)) == 1


def test_a_sub_question_that_states_its_inputs_is_computed_not_guessed():
    guess = Guess("How many pairs out of 9?", ("36", "35", "40", "41"), "number", 0)
    assert len(set(SOLVERS["a number of choices"](guess))) == 2
    told = guess.add(OptionView(inputs_stated=True))
    assert len(set(SOLVERS["a number of choices"](told))) == 1


def test_pointing_away_from_the_answer_is_as_bad_as_pointing_to_it():
    tally = GuessTally()
    for number in range(400):
        longest = (number + 1) % 4
        options = tuple("abcdefgh" if place == longest else "abcd"[place] * 4 for place in range(4))
        tally.add(Guess("?", options, "entity", number % 4))  # type: ignore[arg-type]
    score = {one.solver: one for one in tally.scores()}["longest"]
    assert score.accuracy == 0 and score.struck == pytest.approx(1 / 3) and score.guessable


def test_a_solver_that_seldom_speaks_is_only_reported():
    tally = GuessTally()
    for number in range(400):
        options = ("abcdefgh" if number < 12 else "abcd", "bcda", "cdab", "dabc")
        tally.add(Guess("?", options, "entity", 0))
    score = {one.solver: one for one in tally.scores()}["longest"]
    assert score.accuracy == 1 and score.coverage == pytest.approx(0.03) and not score.guessable

import shutil
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.counterfactual.back_translation import (
    ApertiumBackTranslator,
    apply_back_translation,
    back_translate,
    list_questions,
    reword,
)
from hopwright.counterfactual.rewording_checks import (
    accept_known_paraphrases,
    count_masks,
    find_pivot_word,
    has_paraphrase,
    mask,
    measure_overlap,
)
from hopwright.counterfactual.translating import RoundTripResult
from hopwright.errors import ServiceError
from hopwright.records import CheckResult, Item, Surrogate
from tests.builders import all_items
from tests.counterfactual.conftest import make_maker

INSTALLED = ApertiumBackTranslator().find_obstacle()
needs_apertium = pytest.mark.skipif(bool(INSTALLED), reason=INSTALLED or "installed")
NAMES = ["Night Harbour", "Ada Lindqvist", "Vestmark"]


class Echo:
    """A pivot that gives back what `change` makes of each text."""

    name = "echo"
    pivots = ("Spanish",)
    style = "words"
    tries = 1

    def __init__(self, change: Callable[[str], str], obstacle: str = "", *, whole: bool = False) -> None:
        self.whole = whole
        self._change = change
        self._obstacle = obstacle
        self.sent: list[str] = []

    def find_obstacle(self) -> str:
        return self._obstacle

    def translate(self, texts: Sequence[str], attempt: int = 0) -> list[RoundTripResult]:
        self.sent += texts
        return [RoundTripResult(self._change(text)) for text in texts]


def twins() -> list[Item]:
    return [twin for item in all_items() if isinstance(twin := make_maker(3).make_twin(item), Item)]


def check_of(item: Item) -> CheckResult:
    (check,) = [check for check in item.checks if check.name == "back_translation"]
    return check


def run(translator: Echo | ApertiumBackTranslator) -> list[tuple[Item, Item]]:
    before = twins()
    after = [
        apply_back_translation(one, back) for one, back in zip(before, back_translate(before, translator), strict=True)
    ]
    return list(zip(before, after, strict=True))


@given(st.permutations([*NAMES, '"Glass Meridian"', "1,905", "1951", "what", "year", "before", "larger"]))
def test_masks_hide_every_name_and_number_and_are_put_back_exactly(words: list[str]) -> None:
    text = "In what year did " + " ".join(words) + "?"
    masked = mask(text, NAMES)
    assert not any(name in masked.text for name in NAMES)
    assert not any(letter.isdigit() or letter == '"' for letter in masked.text)
    assert len(set(masked.masks)) == len(masked.masks)
    assert accept_known_paraphrases(masked, masked.text).text == text
    assert accept_known_paraphrases(masked, masked.text.replace("In what year", "In which year")).text == text.replace(
        "In what year", "In which year"
    )


def test_an_article_goes_under_the_mask_with_its_name() -> None:
    masked = mask("Is the Vestmark the capital of the Iria?", ["Vestmark", "Iria"])
    assert sorted(masked.masks.values()) == ["the Iria", "the Vestmark"]


def test_the_alphabet_of_masks_is_never_in_the_text_and_may_run_out() -> None:
    with pytest.raises(ValueError, match="holds a mask"):
        mask("Who is Xqaba?", [])
    with pytest.raises(ValueError, match="too many names"):
        mask(" ".join(str(number) for number in range(200)), [])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: " ".join(text.split()[:-1]) + " ?", "came back 0 times"),
        (lambda text: text + " " + text, "came back 2 times"),
        (lambda text: text.replace("How", "*How"), "mark '*'"),
        (lambda text: text.replace("Xq", "Xk"), "came back 0 times"),
        (lambda text: text + " Xqzze Xqoze", "unknown mask"),
        (lambda text: text, "came back unchanged"),
        (lambda text: text.replace("country", "país"), "none of 1 changes"),
    ],
)
def test_what_comes_back_damaged_or_useless_changes_nothing(change: Callable[[str], str], reason: str) -> None:
    masked = mask("How large is the country of Vestmark before 1951 and Ada Lindqvist?", NAMES)
    done = accept_known_paraphrases(masked, change(masked.text))
    assert done.text == masked.original and done.kept == 0 and reason in done.reason


def test_known_paraphrases_are_kept_and_the_rest_is_put_back() -> None:
    masked = mask("In what year did the reign of Ada Lindqvist begin, and where?", NAMES)
    word = next(iter(masked.masks))
    done = accept_known_paraphrases(masked, f"In which year the rule of {word} starts, and wherever?")
    assert done.text == "In which year did the reign of Ada Lindqvist begin, and where?"
    assert (done.kept, done.refused) == (1, 4)
    assert 0 < done.overlap < 1


@given(st.lists(st.sampled_from(["In", "what", "year", "did", "the", "larger", "Ada Lindqvist", "begin", "1951", "?"])))
def test_what_has_no_known_paraphrase_can_keep_no_edit(words: list[str]) -> None:
    masked = mask(" ".join(words), NAMES)
    after = {"what": "which", "larger": "bigger", "begin": "start"}
    returned = " ".join(after.get(word, word) for word in masked.text.split())
    assert has_paraphrase(masked.original) >= (accept_known_paraphrases(masked, returned).kept > 0)


def test_of_a_weak_translator_only_texts_with_a_known_paraphrase_are_sent() -> None:
    texts = ["Where was it built?", "Who wrote it?"]
    weak, strong = Echo(str.upper), Echo(str.upper, whole=True)
    done = reword(texts, [[], []], [weak])
    assert weak.sent == texts[:1] and not isinstance(done, str)
    assert [(one.tries, one.by, one.result.text) for one, _ in done] == [(1, "", texts[0]), (0, "", texts[1])]
    assert "no word of it has a known paraphrase" in done[1][0].result.reason
    reword(texts, [[], []], [strong])
    assert strong.sent == texts
    assert reword(texts[1:], [[]], [weak]) == [done[1]]


def test_a_question_without_known_paraphrase_is_skipped_and_a_refused_rewording_fails() -> None:
    """Whether a text without one is sent or not."""
    changes: list[Callable[[str], str]] = [lambda text: "Nothing is left of it", lambda text: f"{text} indeed"]
    for change, sent in zip(changes, ("fail", "skip"), strict=True):
        known = {check_of(after).outcome for before, after in run(Echo(change)) if has_paraphrase(before.question)}
        others = {check_of(after).outcome for before, after in run(Echo(change)) if not has_paraphrase(before.question)}
        assert (known, others) == ({sent}, {"skip"})
    assert {check_of(after).outcome for _, after in run(Echo(changes[0], whole=True))} == {"fail"}


def test_overlap_and_pivot_words() -> None:
    assert measure_overlap("a b c", "a b c") == 1
    assert measure_overlap("a b c", "c b a") == 0
    assert find_pivot_word("Which is el país?", "Which is it?") == "el"
    assert find_pivot_word("Which is El Paso?", "Which is El Paso?") == ""


def test_reworded_texts_keep_answers_options_and_names() -> None:
    echo = Echo(lambda text: text.replace("larger", "bigger").replace("what year", "which year"))
    pairs = run(echo)
    assert any(before.question != after.question for before, after in pairs)
    for before, after in pairs:
        assert before.question.replace("larger", "bigger") == after.question
        assert after.options == before.options and after.id == before.id
        changed = list_questions(before) != list_questions(after)
        assert after.provenance.back_translation == ("echo" if changed else "")
        tried = "fail" if has_paraphrase(before.question) else "skip"
        assert check_of(after).outcome == ("pass" if before.question != after.question else tried)
    assert not any(one.surrogate in text for before, _ in pairs for one in before.world for text in echo.sent)


def test_an_obstacle_skips_every_item_with_its_reason() -> None:
    for before, after in run(Echo(str, obstacle="not installed")):
        assert check_of(after) == CheckResult(name="back_translation", outcome="skip", reason="not installed")
        assert list_questions(after) == list_questions(before) and after.provenance.back_translation == ""


def test_a_failing_service_is_a_skip_and_never_an_error() -> None:
    def fail(_: str) -> str:
        raise ServiceError("the pivot is down")

    assert {check_of(after).reason for _, after in run(Echo(fail))} == {"the pivot is down"}


def write_command(folder: Path, body: str) -> str:
    path = folder / "fake-apertium"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("exit 0", "lacks eng-spa and spa-eng"),
        ('[ "$1" = -l ] && echo eng-spa && exit 0', "lacks spa-eng"),
        ('[ "$1" = -l ] && echo eng-spa spa-eng && exit 0; cat >/dev/null; echo broken >&2; exit 3', "code 3: broken"),
        ('[ "$1" = -l ] && echo eng-spa spa-eng && exit 0; cat >/dev/null; echo one', "1 sentences back for 5"),
        ('[ "$1" = -l ] && echo eng-spa spa-eng && exit 0; sleep 5', "took longer than 0.5 s"),
    ],
)
def test_a_command_that_misbehaves_is_a_skip(tmp_path: Path, body: str, reason: str) -> None:
    translator = ApertiumBackTranslator(command=write_command(tmp_path, body), timeout=0.5)
    for before, after in run(translator):
        assert check_of(after).outcome == "skip" and reason in check_of(after).reason
        assert list_questions(before) == list_questions(after)


def test_without_the_command_it_says_how_to_get_it() -> None:
    assert "apt-get install" in ApertiumBackTranslator(command="no-such-apertium").find_obstacle()


@needs_apertium
def test_apertium_gives_every_mask_back_and_sentences_do_not_touch_each_other() -> None:
    assert shutil.which("apertium")
    texts = [text for twin in twins() for text in list_questions(twin)]
    masked = [mask(text, [one.surrogate for twin in twins() for one in twin.world]) for text in texts]
    sent = [one.text for one in masked]
    translator = ApertiumBackTranslator()
    back = [one.text for one in translator.translate(sent)]
    assert len(back) == len(sent) and back != sent
    assert [one.text for one in translator.translate(sent[::-1])] == back[::-1]
    for one, returned in zip(masked, back, strict=True):
        assert all(returned.count(word) == 1 for word in one.masks)


@needs_apertium
def test_apertium_rewords_and_leaves_nothing_of_the_pivot() -> None:
    pairs = run(ApertiumBackTranslator())
    changed = [
        (a, b)
        for one, other in pairs
        for a, b in zip(list_questions(one), list_questions(other), strict=True)
        if a != b
    ]
    assert changed
    for before, after in changed:
        assert after.endswith("?") and not find_pivot_word(after, before)
    for _, after in pairs:
        assert "overlap" in check_of(after).reason
        assert all(one.surrogate in str(after) for one in after.world if isinstance(one, Surrogate))


def test_a_mask_that_touches_a_word_is_parted_from_it_and_joined_again() -> None:
    text = 'the book" Night Harbour" and the film"Glass Meridian"s end of Vestmark?'
    for style in ("words", "brackets"):
        masked = mask(text, NAMES, style)
        assert count_masks(masked.text).keys() == masked.masks.keys()
        assert masked.restore(masked.text) == text

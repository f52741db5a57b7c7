"""The loop that asks until answers are accepted, over a sender that answers when it is told to."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from hopwright.errors import BudgetError
from hopwright.llm.asking import ask_in_rounds, ask_until_accepted, send_back
from hopwright.llm.types import Failure, Message, Outcome, Request, Response, TokenUsage, key_of


def request(text: str) -> Request:
    return Request((Message("user", text),), "local", "tiny")


class Sender:
    """Answers with what it was asked; what is asked for in `broken` gets no answer, in `fatal` ends the run."""

    def __init__(self, *, broken: tuple[str, ...] = (), fatal: tuple[str, ...] = (), threads: int = 0) -> None:
        self.broken, self.fatal = broken, fatal
        self.sent: list[str] = []
        self._threads = ThreadPoolExecutor(threads) if threads else None

    def submit(self, request: Request) -> Future[Outcome]:
        text = request.messages[-1].content
        self.sent.append(text)
        if self._threads is not None:
            return self._threads.submit(self._answer, request, text)
        future: Future[Outcome] = Future()
        try:
            future.set_result(self._answer(request, text))
        except BudgetError as error:
            future.set_exception(error)
        return future

    def _answer(self, request: Request, text: str) -> Outcome:
        if text in self.fatal:
            raise BudgetError("stopped")
        key = key_of(request)
        if text in self.broken:
            return Failure(key=key, provider="local", model="tiny", kind="refusal", reason="no")
        usage = TokenUsage(input=3, output=2)
        return Response(key, "local", "tiny", "tiny-1", text, "stop", usage, 0.5)


@pytest.mark.parametrize("in_rounds", [False, True])
@pytest.mark.parametrize("threads", [0, 4])
def test_each_question_is_asked_until_its_judge_has_no_more_to_ask(in_rounds: bool, threads: int) -> None:
    heard: dict[int, list[str]] = {number: [] for number in range(6)}

    def judge_of(number: int):  # type: ignore[no-untyped-def]
        def judge(outcome: Outcome) -> Request | None:
            assert outcome.ok
            heard[number].append(outcome.text)
            return request(f"{number}.{len(heard[number])}") if len(heard[number]) <= number else None

        return judge

    sender = Sender(threads=threads)
    ask_until_accepted(sender, [(request(f"{n}.0"), judge_of(n)) for n in heard], in_rounds=in_rounds)
    assert heard == {n: [f"{n}.{turn}" for turn in range(n + 1)] for n in heard}
    assert len(sender.sent) == len(set(sender.sent))


def test_in_rounds_judges_are_heard_in_the_order_of_the_questions() -> None:
    heard: list[str] = []

    def judge(outcome: Outcome) -> Request | None:
        assert outcome.ok
        heard.append(outcome.text)
        return request(f"again {outcome.text}") if outcome.text in ("a", "c") else None

    ask_until_accepted(Sender(threads=3), [(request(text), judge) for text in "abc"], in_rounds=True)
    assert heard == ["a", "b", "c", "again a", "again c"]


@pytest.mark.parametrize("in_rounds", [False, True])
def test_what_ends_the_run_is_raised_when_everything_in_flight_was_judged(in_rounds: bool) -> None:
    heard: list[str] = []

    def judge(outcome: Outcome) -> Request | None:
        assert outcome.ok
        heard.append(outcome.text)
        return request(f"{outcome.text}, again")

    sender = Sender(fatal=("b",))
    with pytest.raises(BudgetError):
        ask_until_accepted(sender, [(request(text), judge) for text in "bac"], in_rounds=in_rounds)
    assert heard == ["a", "c"]
    assert sender.sent == ["b", "a", "c"], "nothing more is asked"


def test_rows_are_asked_again_as_other_attempts_and_all_that_is_paid_counts() -> None:
    def judge(row: str, text: str) -> tuple[str | None, str]:
        return (text, "") if row == "good" or text.endswith("2") else (None, f"{text} will not do")

    sender = Sender(broken=("lost 0", "lost 1", "lost 2"))
    rows = ["good", "late", "lost", "bad"]
    results = ask_in_rounds(
        sender, rows, lambda row, attempt: request(f"{row} {attempt if row != 'bad' else 'x'}"), judge, tries=3
    )
    good, late, lost, bad = results
    assert (good.value, good.tries, late.value, late.tries) == ("good 0", 1, "late 2", 3)
    assert (len(late.spent.keys), late.spent.cost_usd, late.spent.input_tokens) == (3, 1.5, 9)
    assert (lost.value, lost.problem, lost.refused, lost.spent.keys) == (None, "refusal: no", False, ())
    assert (bad.value, bad.problem, bad.refused) == (None, "bad x will not do", True)


def test_an_answer_goes_back_with_what_is_said_about_it() -> None:
    first = request("a question")
    again = send_back(first, "an answer", "not so", repairs=1)
    assert [(one.role, one.content) for one in again.messages] == [
        ("user", "a question"), ("assistant", "an answer"), ("user", "not so"),
    ]  # fmt: skip
    assert (again.repairs, again.provider, again.model) == (1, "local", "tiny")

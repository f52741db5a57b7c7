"""Answers as servers really write them, against the schema that asked."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from hopwright.llm import answers
from hopwright.llm.schemas import describe_error, read_answer, strict_schema
from tests.llm.builders import Answer


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "x", "number": 3}',
        '  {"answer": "x", "number": 3}\n',
        '```json\n{"answer": "x", "number": 3}\n```',
        '```\n{"answer": "x", "number": 3}\n```\n',
    ],
)
def test_plain_and_fenced_answers_are_read(text: str) -> None:
    assert read_answer(text, Answer) == Answer(answer="x", number=3)


def test_raw_control_characters_inside_strings_are_accepted() -> None:
    assert read_answer('{"answer": "two\nlines\t\x01", "number": 3}', Answer) == Answer(
        answer="two\nlines\t\x01", number=3
    )


@pytest.mark.parametrize("text", ["", "x", '{"answer": "x"', '{"answer": 4, "number": "many"}', "[]", '{"number": 3}'])
def test_anything_else_is_refused_with_what_is_wrong(text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        read_answer(text, Answer)
    described = describe_error(caught.value)
    assert described
    assert "\n" not in described


def test_a_long_list_of_errors_is_cut_short() -> None:
    class Many(BaseModel):
        parts: list[int]

    with pytest.raises(ValidationError) as caught:
        read_answer('{"parts": ["a", "b", "c", "d", "e", "f", "g"]}', Many)
    assert describe_error(caught.value).endswith("and 2 more")


@pytest.mark.parametrize(
    "model",
    [answers.WordedItem, answers.Translation, answers.JudgedEntailment],
)
def test_every_object_of_a_strict_schema_is_closed_and_complete(model: type[BaseModel]) -> None:
    def check(part: object) -> None:
        if isinstance(part, dict):
            if part.get("type") == "object" and "properties" in part:
                assert part["additionalProperties"] is False
                assert part["required"] == list(part["properties"])
            assert "maxLength" not in part
            for value in part.values():
                check(value)
        elif isinstance(part, list):
            for value in part:
                check(value)

    check(strict_schema(model.model_json_schema(), frozenset({"maxLength", "minLength"})))

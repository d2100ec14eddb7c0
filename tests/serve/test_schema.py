"""Arguments: what is taken, what is refused, and how the refusal reads."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultmind.errors import BadArgument
from vaultmind.serve.calls.requests import (
    FetchArgs,
    IndexArgs,
    NoArgs,
    SearchArgs,
    SearchManyArgs,
    UpdateArgs,
)
from vaultmind.serve.calls.schema import arguments, json_schema, parse, to_json
from vaultmind.serve.sessions.sessions import LogArgs
from vaultmind.types import Hit, IndexState, SearchResponse

REQUESTS = (SearchArgs, FetchArgs, UpdateArgs, NoArgs, SearchManyArgs, IndexArgs)


def refused(request: type[Any], values: object) -> BadArgument:
    with pytest.raises(BadArgument) as caught:
        parse(request, values)
    return caught.value


def test_what_is_left_out_gets_its_default() -> None:
    args = parse(SearchArgs, {"query": "oven"})
    assert args == SearchArgs(query="oven")
    assert args.limit is None


def test_null_counts_as_not_given() -> None:
    assert parse(SearchArgs, {"query": "oven", "limit": None}).limit is None
    assert refused(SearchArgs, {"query": None}).field == "query"


def test_lists_become_tuples() -> None:
    assert parse(SearchArgs, {"query": "a", "kinds": ["note", "fact"]}).kinds == ("note", "fact")


def test_a_whole_number_may_be_written_as_a_float() -> None:
    limit = parse(SearchArgs, {"query": "a", "limit": 5.0}).limit
    assert limit == 5
    assert isinstance(limit, int)


@pytest.mark.parametrize(
    ("values", "field", "allowed"),
    [
        ({}, "query", "text"),
        ({"query": 5}, "query", "text"),
        ({"query": "x" * 200_001}, "query", "at most 200000 characters"),
        ({"query": "a", "limit": 0}, "limit", "1 to 100"),
        ({"query": "a", "limit": 101}, "limit", "1 to 100"),
        ({"query": "a", "limit": "five"}, "limit", "a whole number"),
        ({"query": "a", "limit": 5.5}, "limit", "a whole number"),
        ({"query": "a", "limit": float("inf")}, "limit", "a whole number"),
        ({"query": "a", "limit": 10**400}, "limit", "1 to 100"),
        ({"query": "a", "limit": True}, "limit", "a whole number"),
        ({"query": "a", "kinds": ["cat"]}, "kinds[0]", "note, fact, message, summary"),
        ({"query": "a", "kinds": {"note": 1}}, "kinds", "a list of"),
        ({"query": "a", "after": 2026}, "after", "text"),
        ({"query": "a", "offset": -1}, "offset", "0 to 10000"),
        ({"query": "a", "explain": "maybe"}, "explain", "true or false"),
        ({"query": "a", "folder": "a\ud800"}, "folder", "text"),
        ({"query": "a", "folder": "a\x00"}, "folder", "text"),
        ([], "arguments", "query"),
        ("oven", "arguments", "query"),
    ],
)
def test_a_bad_value_is_refused_naming_field_value_and_what_is_allowed(
    values: object, field: str, allowed: str
) -> None:
    error = refused(SearchArgs, values)
    assert error.field == field
    assert allowed in error.allowed
    assert f"'{field}'" in error.message
    assert allowed in str(error)


@pytest.mark.parametrize("time", ["yesterday", "2026-13-40", "2026-02-20 noon"])
def test_a_date_that_is_none_is_refused(time: str) -> None:
    error = refused(LogArgs, {"messages": [{"text": "a", "time": time}]})
    assert (error.field, error.allowed) == ("messages[0].time", "a date such as 2026-02-20")


def test_a_missing_argument_is_called_missing() -> None:
    assert refused(SearchArgs, {}).message.startswith("'query' is missing; it takes text")
    assert "'queries[0].id' is missing" in str(
        refused(SearchManyArgs, {"queries": [{"query": "a"}]})
    )


@pytest.mark.parametrize("kinds", ["note", ["note"], '["note"]'])
def test_a_list_of_one_a_number_and_a_flag_may_be_written_as_text(kinds: object) -> None:
    args = parse(SearchArgs, {"query": "5", "limit": "3", "kinds": kinds})
    assert (args.query, args.limit, args.kinds) == ("5", 3, ("note",))
    for flag, meant in (("true", True), ("False", False)):
        assert parse(SearchArgs, {"query": "5", "explain": flag}).explain is meant
    assert refused(SearchArgs, {"query": "a", "limit": "300"}).field == "limit"
    assert refused(SearchArgs, {"query": "a", "kinds": "cat"}).field == "kinds[0]"


def test_an_unknown_argument_is_refused_and_a_near_one_named() -> None:
    error = refused(SearchArgs, {"query": "a", "limt": 3})
    assert error.field == "limt"
    assert "query, limit" in error.allowed
    assert error.hint == "Did you mean 'limit'?"


def test_a_choice_is_refused_with_the_choices() -> None:
    error = refused(UpdateArgs, {"op": "erase", "text": "x"})
    assert error.field == "op"
    assert error.allowed == "remember, forget, replace"


def test_blank_text_is_refused_where_text_is_needed() -> None:
    assert refused(FetchArgs, {"id": "   "}).field == "id"


def test_a_fault_inside_a_list_names_its_place() -> None:
    error = refused(SearchManyArgs, {"queries": [{"id": "1", "query": "a"}, {"id": "2"}]})
    assert error.field == "queries[1].query"
    assert refused(SearchManyArgs, {"queries": [{"id": "1", "q": "a"}]}).field == "queries[0].q"
    assert refused(SearchManyArgs, {"queries": "all"}).field == "queries"


@pytest.mark.parametrize("request_type", REQUESTS)
def test_every_schema_refuses_unknown_arguments_and_describes_the_known(
    request_type: type[Any],
) -> None:
    schema = json_schema(request_type)
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == {item.name for item in arguments(request_type)}
    assert all(one["description"] for one in schema["properties"].values())
    json.dumps(schema)


def test_schema_shows_bounds_choices_and_what_is_required() -> None:
    schema = json_schema(SearchArgs)
    assert schema["required"] == ["query"]
    assert schema["properties"]["limit"]["minimum"] == 1
    assert schema["properties"]["limit"]["maximum"] == 100
    assert schema["properties"]["kinds"]["items"]["enum"][0] == "note"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(REQUESTS), st.data())
def test_any_json_is_taken_or_refused_in_words(request_type: type[Any], data: Any) -> None:
    names = st.sampled_from([item.name for item in arguments(request_type)] or ["x"]) | st.text()
    values = data.draw(VALUES | st.dictionaries(names, VALUES, max_size=5))
    try:
        assert isinstance(parse(request_type, values), request_type)
    except BadArgument as error:
        assert error.allowed
        assert error.field in error.message


def test_results_become_json_with_their_field_names() -> None:
    hit = Hit("i", "a.md", "#x", "note", "", "T", "text", 0.5, parts={"text": 0.1})
    body = to_json(SearchResponse((hit,), "found", IndexState("ready")))
    assert body["hits"][0]["parts"] == {"text": 0.1}
    assert body["state"]["faults"] == []
    assert json.loads(json.dumps(body)) == body
    assert to_json(PurePosixPath("a/b")) == "a/b"


def test_what_is_only_looked_for_may_hold_what_no_file_does() -> None:
    many = {"queries": [{"id": "a", "query": "oven\0door\ud800"}]}
    assert parse(SearchManyArgs, many).queries[0].query == "oven door "
    assert parse(SearchArgs, {"query": "oven\0door"}).query == "oven door"

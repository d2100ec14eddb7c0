"""The context at session start keeps to its budget, and says what it left out."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vaultmind.errors import BadArgument
from vaultmind.memory.rights.identity import default_identity
from vaultmind.serve.surfaces.mcp import INSTRUCTIONS
from vaultmind.session.context.start import Beginning, StartContext, start_context
from vaultmind.session.records.reading import plain_text
from vaultmind.tokens import count
from vaultmind.types import Caller
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

MAIN = Caller("agent", "main")
SOURCE = "[[VaultMind/agents/main/memory/sessions/2026-02-20_001#^m7|source]]"
BRAIN = f"""---
mood: fine
---
# Main - Brain

## User

- Lives in Kraków %%2026-01-12 said {SOURCE}%% ^u7d2
- Has a cat called Bułka

%% only for
my eyes %%

## Preferences

## Decisions

- The oven gets a brick dome %%2026-02-08 said {SOURCE}%% ^br66

## Current

- Salt and Ash is due on 30 April %%2026-01-12 said {SOURCE}%% ^sa30
- First bread on 2 May %%2026-03-22 said {SOURCE}%% ^fb02
- Halina answers by post
"""
IDENTITY = "---\nautonomy: 2\n---\n# main\n\nA calm colleague. %%draft%%\n"
ACTIVE = "---\ndate: 2026-03-22\n---\n\nTwo courses of the plinth are up. " + "Rye again. " * 60


def _write(paths: VaultPaths, identity: str = "", brain: str = "", active: str = "") -> None:
    named = (
        (paths.identity("main"), identity),
        (paths.brain("main"), brain),
        (paths.active_context("main"), active),
    )
    for path, text in named:
        file = paths.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "replace"))


def _start(reader: VaultReader, max_tokens: int = 800) -> StartContext:
    begins = Beginning("main", MAIN, max_tokens)
    return start_context(reader, begins, shows=lambda p, c: True, hides=lambda *part: False)


def _texts(context: StartContext) -> dict[str, str]:
    return {part.name: part.text for part in context.parts}


def test_a_model_sees_no_comment_block_id_front_matter_or_empty_heading(
    paths: VaultPaths, reader: VaultReader
) -> None:
    _write(paths, IDENTITY, BRAIN, ACTIVE)
    context = _start(reader)
    assert context.left_out == ()
    assert _texts(context)["identity"] == "# main\n\nA calm colleague."
    assert _texts(context)["brain"] == (
        "# Main - Brain\n\n## User\n\n- Lives in Kraków (said 2026-01-12)\n- Has a cat called Bułka"
        "\n\n## Decisions\n\n- The oven gets a brick dome (said 2026-02-08)\n\n## Current\n\n"
        "- Salt and Ash is due on 30 April (said 2026-01-12)\n"
        "- First bread on 2 May (said 2026-03-22)\n- Halina answers by post"
    )
    assert [part.name for part in context.parts] == ["identity", "brain", "active context"]
    assert context.parts[1].path == paths.brain("main")


def test_over_budget_the_active_context_is_trimmed_first(
    paths: VaultPaths, reader: VaultReader
) -> None:
    _write(paths, IDENTITY, BRAIN, ACTIVE)
    context = _start(reader, 200)
    assert context.tokens <= 200
    assert context.left_out == ("part of the active context",)
    assert "Halina" in _texts(context)["brain"]
    assert _texts(context)["active context"].endswith("…")


def test_then_the_least_important_facts_go_and_the_answer_says_so(
    paths: VaultPaths, reader: VaultReader
) -> None:
    _write(paths, IDENTITY, BRAIN, ACTIVE)
    context = _start(reader, 100)
    assert context.tokens <= 100
    assert "least important facts" in context.left_out[0]
    brain = _texts(context)["brain"]
    assert "Salt and Ash" not in brain  # current, and the oldest of what we wrote
    assert "Bułka" in brain


def test_where_the_last_conversation_stopped_always_has_its_place(
    paths: VaultPaths, reader: VaultReader
) -> None:
    identity = "Be kind to everybody, always. " * 40
    facts = "".join(f"- Fact number {at} about bread and salt\n" for at in range(60))
    lines = [f"- Step {at} of the plinth is done and dry" for at in range(40)]
    _write(paths, identity, f"# Main\n\n## User\n\n{facts}", "## Next\n\n" + "\n".join(lines))
    context = _start(reader)
    sizes = {part.name: part.tokens for part in context.parts}
    assert 800 - 20 <= context.tokens <= 800
    assert sizes["identity"] == count(identity.strip())
    assert sizes["active context"] >= 100
    assert _texts(context)["active context"].splitlines()[-1] in lines


@pytest.mark.parametrize("budget", [300, 800, 2000])
def test_nothing_is_left_out_while_there_is_room(
    paths: VaultPaths, reader: VaultReader, budget: int
) -> None:
    facts = "".join(f"- Fact number {at} about bread and salt\n" for at in range(60))
    active = "## Next\n\n" + "\n".join(f"- Step {at} of the plinth is done" for at in range(40))
    _write(paths, "Be kind to everybody. " * 60, f"# Main\n\n## User\n\n{facts}", active)
    context = _start(reader, budget)
    assert bool(context.left_out) == (budget < 2000)
    assert not context.left_out or context.tokens >= budget - 20


def test_of_two_facts_that_exclude_each_other_the_newer_is_told(
    paths: VaultPaths, reader: VaultReader
) -> None:
    brain = f"""## Current

- Basia mieszka teraz w Hamburgu %%2026-03-02 said {SOURCE}%% ^hh12

## User

- Basia lives in Berlin %%2026-02-20 said {SOURCE}%% ^ba11
- Basia has a dog
"""
    _write(paths, brain=brain)
    context = _start(reader)
    told = _texts(context)["brain"]
    assert "Hamburgu (said 2026-03-02)" in told
    assert "dog" in told
    assert "Berlin" not in told
    assert context.left_out == ("a fact of 2026-02-20 (a newer fact says otherwise)",)


@pytest.mark.parametrize("language", ["en", "pl", "ru"])
def test_the_default_identity_is_short_and_says_nothing_that_the_server_says(language: str) -> None:
    text = plain_text(default_identity("main", language))
    assert count(text) <= 120
    said = " ".join(INSTRUCTIONS.split())
    words = text.split()
    assert not [run for at in range(len(words)) if (run := " ".join(words[at : at + 4])) in said
                and len(run.split()) == 4]  # fmt: skip
    assert "memory_" not in text and "session_log" not in text


def test_an_identity_larger_than_the_budget_is_cut_with_a_mark(
    paths: VaultPaths, reader: VaultReader
) -> None:
    _write(paths, "Be kind. " * 500, BRAIN, ACTIVE)
    context = _start(reader, 100)
    assert context.tokens <= 100
    assert _texts(context)["identity"].endswith("…")
    assert "part of the identity" in context.left_out
    assert "active context" in _texts(context)


def test_a_vault_without_memory_gives_an_empty_context(reader: VaultReader) -> None:
    assert _start(reader) == StartContext("main", (), 0)


def test_a_damaged_or_unreadable_file_is_named_and_the_rest_is_there(
    paths: VaultPaths, reader: VaultReader
) -> None:
    damaged = "- Likes tea\n<<<<<<< ours\n- a\n=======\n>>>>>>> theirs\n"
    _write(paths, IDENTITY, damaged, ACTIVE)
    (paths.root / paths.active_context("main")).write_bytes(b"\xff\xfe\xff")
    context = _start(reader)
    assert list(_texts(context)) == ["identity", "brain"]
    assert _texts(context)["brain"] == "- Likes tea"
    assert "merge markers" in context.left_out[0] and "mend it" in context.left_out[0]
    assert "not UTF-8" in context.left_out[1]


def test_what_the_caller_may_not_see_is_not_read(paths: VaultPaths, reader: VaultReader) -> None:
    _write(paths, IDENTITY, BRAIN, ACTIVE)
    asked: list[tuple[str, Caller]] = []

    def shows(path: str, caller: Caller) -> bool:
        asked.append((path, caller))
        return path.endswith("identity.md")

    context = start_context(reader, Beginning("main", MAIN), shows=shows, hides=lambda *part: False)
    assert list(_texts(context)) == ["identity"]
    assert {caller for _, caller in asked} == {MAIN}
    assert len(asked) == 3


def test_a_budget_of_nothing_is_refused(reader: VaultReader) -> None:
    with pytest.raises(BadArgument, match="max_tokens"):
        _start(reader, 0)


def test_a_stray_comment_mark_in_one_fact_hides_no_other() -> None:
    text = f"- 100 %% sure\n- Has a cat %%2026-01-12 said {SOURCE}%% ^a1b2\n"
    assert plain_text(text) == "- 100 %% sure\n- Has a cat"


_lines = st.lists(
    st.sampled_from(["- a fact of bread", "- zażółć gęślą jaźń", "  - nested", "## User", "# X"])
    | st.sampled_from(["## Bieżące", "%%", "%% x %%", "```", "", "prose", "- x %%y%% ^ab12", "---"])
    | st.text(max_size=30),
    max_size=25,
).map("\n".join)


@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(_lines, _lines, _lines, st.integers(1, 200))
def test_the_budget_is_never_exceeded(
    paths: VaultPaths, reader: VaultReader, texts: str, brain: str, active: str, budget: int
) -> None:
    _write(paths, texts, brain, active)
    context = _start(reader, budget)
    assert context.tokens == sum(count(part.text) for part in context.parts) <= budget
    whole = [plain_text(text.replace("\x00", "")) for text in (texts, brain, active)]
    if sum(map(count, whole)) > budget:
        assert context.left_out


def test_a_forgotten_paragraph_of_the_active_context_is_left_out(
    paths: VaultPaths, reader: VaultReader
) -> None:
    _write(
        paths, IDENTITY, BRAIN, "The oven is ready.\n\nAllergic to nuts. ^hz11\n\nShawls. ^sh22\n"
    )
    record = paths.active_context("main").removesuffix(".md")

    def hides(*part: str) -> bool:
        return part == ("main", record, "hz11")

    begins = Beginning("main", MAIN)
    context = start_context(reader, begins, shows=lambda p, c: True, hides=hides)
    assert _texts(context)["active context"] == "The oven is ready.\n\nShawls."

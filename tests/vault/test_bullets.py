"""vault/bullets: every bullet as a reader sees it, with its place in the text."""

from hypothesis import given
from hypothesis import strategies as st

from vaultmind.vault.bullets import bullets

BRAIN = (
    "---\nagent: main\nlist:\n- no\n---\n# Brain\n\n## Preferences\n"
    "- Prefers short answers %%2026-02-20 said [[a#^m7|source]]%% ^k3f9\n"
    "* Typed by hand\n  and continued\n"
    "%% hidden\n- not a fact\n%%\n"
    "```\n- code\n```\n"
    "- [x] A task ^ab\n\n---\n- \n1. Numbered 100% sure\n"
)


def test_a_fact_loses_its_comment_and_keeps_its_block_id() -> None:
    first = bullets(BRAIN)[0]
    assert (first.text, first.block, first.heading) == (
        "Prefers short answers",
        "k3f9",
        "Preferences",
    )


def test_hand_typed_bullets_count_and_code_comments_and_front_matter_do_not() -> None:
    assert [bullet.text for bullet in bullets(BRAIN)] == [
        "Prefers short answers",
        "Typed by hand and continued",
        "A task",
        "Numbered 100% sure",
    ]


def test_windows_newlines_read_the_same() -> None:
    unix = [(b.text, b.block, b.heading) for b in bullets(BRAIN)]
    assert [(b.text, b.block, b.heading) for b in bullets(BRAIN.replace("\n", "\r\n"))] == unix


@given(st.text(alphabet="-*# \t\n\r%^ab`~1.", max_size=200))
def test_offsets_cut_the_raw_text_in_order(text: str) -> None:
    end = 0
    for bullet in bullets(text):
        assert text[bullet.start : bullet.end] == bullet.raw
        assert bullet.start >= end
        assert "\n" not in bullet.text
        end = bullet.end

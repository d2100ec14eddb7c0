"""`gain`: the table, the JSON, and the page, which needs nothing but itself."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.serve.worked import OFFER, leave
from tests.told import Own, opened
from vaultmind.app import App, local_now
from vaultmind.cli.episodes import gain as command
from vaultmind.cli.episodes.gain import show_gain
from vaultmind.cli.options import Settings
from vaultmind.cli.output.figures import short
from vaultmind.cli.output.page import page_of
from vaultmind.cli.output.pagestyle import STYLE
from vaultmind.cli.output.plots import Plot, Series, ceiling, lines, stacked, step_of
from vaultmind.cli.output.tables import gain_words, plan_words
from vaultmind.config import Config
from vaultmind.episodes.gains import Figures, Work, gain_of
from vaultmind.planner.figures import PlanFigures
from vaultmind.serve.calls.schema import to_json
from vaultmind.serve.episodes.gaining import Gained, as_json

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SHAPES = ("one", "good", "part", "bad", "none")
"""Colours of what is drawn; `two` has the outline of `one`."""
NOW = datetime(2026, 11, 18, 12, 0, tzinfo=timezone(timedelta(hours=1)))
EVIL = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
SOUGHT = re.compile(r"""(?:src|href|url|@import|xlink)\s*[=(:"']""", re.IGNORECASE)


class Tags(HTMLParser):
    """Collects the elements of a page, and complains of what is not closed."""

    VOID = frozenset({"meta", "rect", "line", "circle", "path"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with opened(tmp_path_factory.mktemp("gain"), local_now) as person:
        leave(person.app, "the token is not refreshed", "success")
        leave(person.app, "the cart is empty", "failed", ("src/cart.py",))
        yield person.app


def run(app: App, *arguments: str, config: Config | None = None) -> Result:
    settings = Settings()
    settings._config, settings._backend = config or app.config, Own(app)
    return CliRunner().invoke(command.gain, arguments, obj=settings, standalone_mode=False)


def answer_of(weeks: int = 3, source: str = "shop") -> dict[str, Any]:
    """Return what the operation answers of an episode a week, the newest without a plan."""
    made = []
    for week in range(weeks):
        began = NOW - timedelta(weeks=week)
        offers = (replace(OFFER, time=began.isoformat()),) * (week % 3 + 1 if week else 0)
        used = {"src/auth.py": int(began.timestamp()) + 9}
        outcome = ("success", "partial", "failed", "unknown")[week % 4]
        made.append(Work(source, began, "ended", outcome, used=used, offers=offers))
    gain = gain_of(made, NOW - timedelta(weeks=weeks), NOW)
    answer: dict[str, Any] = json.loads(json.dumps(as_json(Gained(gain, 90))))
    return answer


def test_the_table_tells_of_each_source_and_week(app: App) -> None:
    shown = run(app).output
    assert "2 plans in 2 episodes" in shown and "1,800 tokens" in shown and "80% less" in shown
    assert re.search(r"^shop +2 +1.8k +9k +80% +50% +100% +100%$", shown, re.M), shown
    assert "1 success, 1 failed" in shown and "--html" in shown


def test_json_holds_every_figure_by_name(app: App) -> None:
    answer = json.loads(run(app, "--json").output)
    names = {"since", "until", "total", "sources", "weeks", "parts", "kept_days", "notes"}
    assert set(answer) == names and set(answer["total"]) == set(to_json(Figures()))
    assert answer["total"]["saved_share"] == 0.8
    assert answer["total"]["first_pass_success_rate"] == 1


def test_a_time_without_episodes_says_how_there_come_to_be_some(app: App) -> None:
    far = "2030-01-01"
    assert "No episode began" in run(app, "--since", far).output


def test_after_a_purge_it_says_that_there_may_have_been_plans(tmp_path: Path) -> None:
    with opened(tmp_path, local_now) as person:
        leave(person.app, "the token is not refreshed", "success")
        leave(person.app, "the cart is empty", "failed", ("src/cart.py",))
        assert "shrunk" not in run(person.app).output
        assert Own(person.app).call("purge", {"days": 0})["count"] == 2
        shown = run(person.app).output
    assert "0 plans in 2 episodes" in shown and "2 episodes of this time are shrunk" in shown
    assert "No plan" not in shown


def test_a_time_that_is_none_is_refused_by_its_name(app: App) -> None:
    assert "since" in str(run(app, "--since", "the blue one").exception)


def test_the_page_is_written_beside_the_vault_and_again_over_itself(
    app: App, tmp_path: Path
) -> None:
    page = tmp_path / "gain.html"
    for _ in range(2):
        around = tmp_path / ".." / tmp_path.name / "gain.html"
        assert f"{page}\n" in run(app, "--html", str(around)).output
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert [one.name for one in tmp_path.iterdir()] == ["gain.html"]
    assert run(app, "--html", "-").output.startswith("<!DOCTYPE html>")


def test_no_other_file_is_overwritten_and_nothing_is_written_in_the_vault(
    app: App, tmp_path: Path
) -> None:
    own = tmp_path / "diary.html"
    own.write_text("<p>mine</p>", "utf-8")
    assert "a page that" in str(run(app, "--html", str(own)).exception)
    assert own.read_text("utf-8") == "<p>mine</p>"
    inside = app.config.vault / "gain.html"
    link = tmp_path / "link"
    link.symlink_to(app.config.vault)
    for path in (inside, link / "gain.html"):
        assert "outside the vault" in str(run(app, "--html", str(path)).exception)
    assert not inside.exists()


def test_the_page_needs_nothing_else_and_runs_nothing() -> None:
    page = page_of(answer_of(source=EVIL))
    tags = Tags(page)
    assert tags.open == []
    names = {tag for tag, _ in tags.found}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    assert not any(name.startswith("on") or name in ("src", "href", "style")
                   for _, attrs in tags.found for name in attrs)  # fmt: skip
    assert EVIL in "".join(tags.words), "a name is shown as it is, and is no markup"
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert not SOUGHT.search(style) and "://" not in page
    assert "default-src 'none'" in page


def test_the_page_can_be_read_without_seeing_it() -> None:
    tags = Tags(page_of(answer_of()))
    plots = [attrs for tag, attrs in tags.found if attrs.get("role") == "img"]
    ids = [attrs["id"] for _, attrs in tags.found if "id" in attrs]
    assert len(plots) == 4 and len(ids) == len(set(ids))
    for plot in plots:
        assert set((plot["aria-labelledby"] or "").split()) <= set(ids)
    assert sum(tag == "details" for tag, _ in tags.found) == len(plots), "numbers for each plot"
    assert ("html", {"lang": "en"}) in tags.found
    assert all(attrs.get("scope") for tag, attrs in tags.found if tag == "th")


def test_the_page_is_light_dark_and_printable() -> None:
    page = page_of(answer_of())
    assert "@media (prefers-color-scheme: dark)" in page and "@media print" in page
    drawn = set(re.findall(r'class="(one|two|good|part|bad|none)"', page))
    assert drawn and all(f".{name} {{ fill: var(--{name})" in page for name in drawn)
    assert not re.search(r'(?:fill|stroke)="#', page), "colours are the page's, not the plots'"


def test_colours_stand_out_from_what_is_behind_them() -> None:
    themes = re.findall(r":root {(.*?)}", STYLE, re.DOTALL)
    assert len(themes) == 3, "light, dark, paper"
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]+);", theme))
        for name, least in {"ink": 7, "dim": 4.5, **dict.fromkeys(SHAPES, 3)}.items():
            assert contrast(colours[name], colours["card"]) >= least, (name, theme)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, as WCAG has it: 1 to 21."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(one * 2 for one in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(share * one for share, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("weeks", [0, 1, 2, 13, 60])
def test_a_page_of_few_or_many_weeks_is_whole(weeks: int) -> None:
    page = page_of(answer_of(weeks))
    assert Tags(page).open == [] and "nan" not in page and "None" not in page
    widths = [float(x) for x in re.findall(r' x="(-?[\d.]+)"', page)]
    assert all(0 <= x <= 520 for x in widths)


def test_a_scale_has_few_round_lines_and_nothing_above_them() -> None:
    for most in (0.0, 0.3, 1, 4, 5, 6, 23, 99, 101, 812_345):
        for whole in (False, True):
            plot = Plot("p", "P", "", ["a"], [], str, whole=whole)
            top = ceiling(plot, most)
            assert top >= most and 1 <= round(top / step_of(plot, top)) <= 5
            assert not whole or step_of(plot, top) == int(step_of(plot, top))


def test_a_line_has_a_gap_where_nothing_was_measured() -> None:
    series = [Series("x", "one", [1.0, None, 2.0, 3.0])]
    drawn = lines(Plot("p", "P", "", list("abcd"), series, str))
    (path,) = re.findall(r'<path class="line" d="([^"]+)"', drawn)
    assert path.count("M") == 2 and path.count("L") == 1
    assert stacked(Plot("p", "P", "", [], [], str)).startswith("<svg")


def test_large_numbers_are_said_in_few_letters() -> None:
    said = [short(number) for number in (0, 999, 1000, 45_678, 123_456, 1_000_000, 2_340_000)]
    assert said == ["0", "999", "1k", "45.7k", "123k", "1M", "2.3M"]


def test_a_status_says_the_gain_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no episode" in gain_words(to_json(Figures()))
    words = gain_words(answer_of()["total"])
    assert words.startswith("3 episodes") and "80% fewer tokens" in words
    never = to_json(PlanFigures())
    assert "since the daemon started" in plan_words(never)
    assert "before that 5 made · 31 ms, p95 31 ms" in plan_words(never, answer_of()["total"])
    show_gain(answer_of(0))
    assert "0 plans in 0 episodes" in capsys.readouterr().out


@pytest.mark.skipif(CHROMIUM is None, reason="no browser is installed")
def test_a_browser_draws_the_page_without_a_complaint(tmp_path: Path) -> None:
    page, shot = tmp_path / "gain.html", tmp_path / "gain.png"
    page.write_text(page_of(answer_of(9, EVIL)), "utf-8")
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
             f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1200,1600",
             f"--screenshot={shot}", page.as_uri()]  # fmt: skip
    done = subprocess.run([str(CHROMIUM), *words], capture_output=True, text=True, timeout=60,
                          check=True)  # fmt: skip
    assert "CONSOLE" not in done.stderr, "no script was tried, nothing was refused"
    assert shot.read_bytes().startswith(b"\x89PNG") and shot.stat().st_size > 20_000

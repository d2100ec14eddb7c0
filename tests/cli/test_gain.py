"""`gain`: the table and the JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.serve.worked import OFFER, leave
from tests.told import Own, opened
from vaultmind.app import App, local_now
from vaultmind.cli.episodes import gain as command
from vaultmind.cli.episodes.gain import short, show_gain
from vaultmind.cli.options import Settings
from vaultmind.cli.output.tables import gain_words, plan_words
from vaultmind.config import Config
from vaultmind.episodes.gains import Figures, Work, gain_of
from vaultmind.planner.figures import PlanFigures
from vaultmind.serve.calls.schema import to_json
from vaultmind.serve.episodes.gaining import Gained, as_json

NOW = datetime(2026, 11, 18, 12, 0, tzinfo=timezone(timedelta(hours=1)))


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
    assert "1 success, 1 failed" in shown


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

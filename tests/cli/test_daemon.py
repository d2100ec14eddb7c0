"""`daemon start|status|stop|run`, and what others say while one runs."""

from __future__ import annotations

import signal
import subprocess
import sys

from tests.cli.program import environment, on_terminal, run
from tests.machine import Machine
from tests.waiting import until

STATUS = {"running", "pid", "started", "clients", "http_port"}


def test_it_starts_tells_of_itself_and_stops(machine: Machine) -> None:
    started = machine.run("daemon", "start")
    assert set(started) == STATUS
    assert machine.run("daemon", "start")["pid"] == started["pid"], "one daemon a vault"
    words = run(machine, "daemon", "status").out
    assert f"pid {started['pid']}" in words and "client" in words
    assert machine.run("daemon", "stop") == {"running": False, "stopped": True}
    assert machine.run("daemon", "status", ok=(1,)) == {"running": False}
    assert machine.run("daemon", "stop") == {"running": False, "stopped": False}


def test_in_the_foreground_it_ends_with_ctrl_c(machine: Machine) -> None:
    machine.stop()
    command = [sys.executable, "-m", "vaultmind", "daemon", "run"]
    child = subprocess.Popen(
        command, env=environment(machine), cwd=machine.vault, stderr=subprocess.PIPE, text=True
    )
    until(lambda: machine.pid() == child.pid, seconds=30)
    child.send_signal(signal.SIGINT)
    _, words = child.communicate(timeout=40)
    assert child.returncode == 0
    assert words.startswith("● Serving") and len(words.splitlines()) == 1


def test_who_waits_for_it_to_start_is_told_so_and_a_script_is_not(machine: Machine) -> None:
    machine.stop()
    code, shown = on_terminal(machine, "", "status")
    assert code == 0 and ("starting VaultMind…" in shown or "opening the vault…" in shown)
    machine.stop()
    assert run(machine, "status").err == ""

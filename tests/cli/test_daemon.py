"""`daemon start|status|stop|run`, and what others say while one runs."""

from __future__ import annotations

import signal
import subprocess
import sys

from tests.cli.program import environment, run
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

"""Reaches the vault's daemon, and starts one when none answers. Standard library only."""

from __future__ import annotations

import os
import sys
import time

from vaultmind import __version__
from vaultmind.client import wire
from vaultmind.client.wire import Wire
from vaultmind.errors import DaemonUnavailable, VaultNotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from typing import Any

    from vaultmind.config import Config
    from vaultmind.locate import Where

START_SECONDS = 30.0
"""How long a daemon may take to answer its first greeting."""
HELLO_SECONDS = 15.0
LOG = "daemon.log"
BEGUN = "daemon.begun"
"""Its time is when a daemon was last begun by somebody who did not wait for it."""
BEGIN_AGAIN_SECONDS = 10.0
POLL_SECONDS = 0.005
_LOG_TAIL_BYTES = 1500
_started: list[subprocess.Popen[bytes]] = []
"""Daemons this process started: kept, so that they are reaped and not warned about."""


def hello(mode: str, **said: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the client's first line; `mode` is `mcp` or `ops`, `kind` agent or person."""
    usual = {"agent": "", "client": ""}
    return {"vaultmind": wire.PROTOCOL, "version": __version__, "mode": mode, **usual, **said}


PASSER_BY = hello("ops", kind="person", client="status")
"""The first line of who asks for the daemon's state, or tells it to leave."""


def connect(where: Config | Where, greeting: dict[str, Any]) -> Wire:
    """Return a greeted connection to the vault's daemon.

    A daemon older than this code is replaced. Raises DaemonUnavailable, in words, when none
    answers and none can be started, or when it refuses the greeting.
    """
    reached = greet(where, greeting)
    if reached is not None and _older(str(reached.peer.get("version", ""))):
        reached.close()
        stop(where)
        reached = None
    return reached or _start(where, greeting)


def greet(where: Config | Where, greeting: dict[str, Any]) -> Wire | None:
    """Return a greeted connection, or None when no daemon answers at all."""
    state_dir = os.fspath(where.state_dir)
    try:
        reached = Wire(wire.dial(state_dir))
    except (OSError, ValueError):
        return None
    try:
        reached.sock.settimeout(HELLO_SECONDS)
        reached.send(greeting)
        reached.peer = reached.receive()
        reached.sock.settimeout(None)
    except TimeoutError:
        reached.close()
        raise DaemonUnavailable(
            f"The daemon of {where.vault} does not answer (no greeting in {HELLO_SECONDS:.0f} s).",
            hint=f"Stop it and try again; its log is {os.path.join(state_dir, LOG)}.",
        ) from None
    except OSError:
        reached.peer = {}
    refusal = reached.peer.get("error")
    if refusal or not reached.peer:
        reached.close()
    if refusal:
        raise DaemonUnavailable(str(refusal["message"]), hint=str(refusal.get("hint", "")))
    return reached if reached.peer else None


def greet_quickly(where: Config | Where, greeting: dict[str, Any]) -> Wire | None:
    """Return what `greet` does, for one who waits for no start: an older daemon counts as none.

    It is told to leave: after an upgrade it would load pieces of the new code beside the old.
    """
    reached = greet(where, greeting)
    if reached is not None and _older(str(reached.peer.get("version", ""))):
        try:
            reached.send({"id": 1, "op": "daemon_stop", "args": {}})
        except OSError:
            pass  # it left by itself
        reached.close()
        return None
    return reached


def status(where: Config | Where) -> dict[str, Any]:
    """Return what the daemon says of itself, or {"running": False}; never starts one."""
    reached, found = greet(where, PASSER_BY), None
    if reached is not None:
        try:
            found = reached.ask("daemon_status", {}).get("ok")
        except OSError:
            pass  # it left meanwhile
        reached.close()
    return found or {"running": False}


def stop(where: Config | Where, wait_seconds: float = 20.0) -> bool:
    """Ask the daemon to finish and stop; tell whether there was one.

    Returns once it is gone. Raises DaemonUnavailable when it does not go in time.
    """
    reached = greet(where, PASSER_BY)
    if reached is None:
        return False
    try:
        reached.sock.settimeout(wait_seconds)
        reached.ask("daemon_stop", {})
        while reached.receive():
            pass  # nothing more comes: the daemon hangs up as it leaves
    except TimeoutError:
        pid = reached.peer.get("pid", "unknown")
        raise DaemonUnavailable(
            f"The daemon (pid {pid}) does not stop.", hint=f"End it with: kill {pid}"
        ) from None
    except OSError:
        pass  # it hung up
    finally:
        reached.close()
    return True


def begin(where: Config | Where) -> None:
    """Start a daemon without waiting for it, unless one was begun a moment ago.

    Raises VaultNotFound, DaemonUnavailable.
    """
    stamp = os.path.join(os.fspath(where.state_dir), BEGUN)
    try:
        if 0 <= time.time() - os.stat(stamp).st_mtime < BEGIN_AGAIN_SECONDS:
            return
    except OSError:
        pass  # none was begun yet
    _spawn(where, "ops")
    with open(stamp, "wb"):
        os.utime(stamp)


def _start(where: Config | Where, greeting: dict[str, Any]) -> Wire:
    """Start a daemon and return a greeted connection to it, or to another's that was first."""
    child = _spawn(where, str(greeting["mode"]))
    why, until = f"did not answer within {START_SECONDS:.0f} s.", time.monotonic() + START_SECONDS
    log = os.path.join(os.fspath(where.state_dir), LOG)
    while time.monotonic() < until:
        reached = greet(where, greeting)
        if reached is not None:
            if reached.peer.get("pid") != child.pid:
                child.terminate()  # ours must not outlive the other
            return reached
        if child.poll():
            why = f"could not start: {_last_words(log)}"
            break
        time.sleep(POLL_SECONDS)
    raise DaemonUnavailable(f"The daemon of {where.vault} {why}", hint=f"Its log is {log}.")


def _spawn(where: Config | Where, mode: str) -> subprocess.Popen[bytes]:
    """Start a daemon that outlives this process; what it says on stderr goes to its log."""
    import subprocess

    if not os.path.isdir(where.vault):
        raise VaultNotFound(f"The vault {str(where.vault)!r} is not a folder (any more).")
    state_dir = os.fspath(where.state_dir)
    _started[:] = [child for child in _started if child.poll() is None]
    command = [sys.executable, "-m", "vaultmind.serve.daemon", "--first", mode]
    command += ["--vault", os.fspath(where.vault), "--state-dir", os.path.dirname(state_dir)]
    log = _open_log(state_dir)
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=_environment(),
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise DaemonUnavailable(f"{sys.executable} could not be run: {error}.") from error
    finally:
        os.close(log)
    _started.append(child)
    return child


def _open_log(state_dir: str) -> int:
    """Return the log opened for appending."""
    try:
        wire.make_private(state_dir)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        return os.open(os.path.join(state_dir, LOG), flags, 0o600)
    except OSError as error:
        raise DaemonUnavailable(
            f"The state folder {state_dir} cannot be used: {error.strerror}.",
            hint="Name another with --state-dir or VAULTMIND_STATE_DIR.",
        ) from error


def _environment() -> dict[str, str]:
    """Return the daemon's environment, in which this same package is found from anywhere."""
    environment = {"MALLOC_ARENA_MAX": "2", **os.environ}  # a heap a thread costs 40 MB more
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if os.path.basename(root) not in ("site-packages", "dist-packages"):
        known = environment.get("PYTHONPATH", "")
        environment["PYTHONPATH"] = f"{root}{os.pathsep}{known}" if known else root
    return environment


def _last_words(log: str) -> str:
    """Return the last line of the daemon's log."""
    try:
        with open(log, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LOG_TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError as error:
        return f"and its log cannot be read ({error.strerror})."
    return lines[-1].strip() if lines else "it left no word in its log."


def _older(version: str) -> bool:
    """Tell whether a daemon's version is below this code's.

    A newer one is used as it is: after an upgrade a pipe that still runs the old code meets
    the new daemon, and must not fight it. One we started ourselves is never replaced.
    """
    theirs, ours = (
        tuple(int(part) if part.isdigit() else 0 for part in one.split(".")[:3])
        for one in (version, __version__)
    )
    return theirs < ours

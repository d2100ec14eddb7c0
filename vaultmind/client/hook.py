"""`vaultmind hook claude-code EVENT`: tells the daemon what happened in a host's conversation.

Claude Code runs this at certain moments and waits for it: JSON on stdin, JSON on stdout. Standard
library only; an inner deadline; and whatever goes wrong, it is silent and the exit code is 0: a
memory that fails must not keep anybody from working. What could not be told is left as an errand
for the daemon, whatever the reason; where none runs, or only one from before an upgrade, one is
started. What the daemon answers counts as given only once it is told that the host has it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

from vaultmind.client import launch
from vaultmind.locate import Where, locate
from vaultmind.session import spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from vaultmind.client.wire import Wire

CLIENT = "claude-code"
CAPTURED = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
"""Events at which a conversation is taken down."""
BEFORE_TASK = "PreToolUse"
"""Before a sub-agent starts: the one event that takes nothing down."""
AFTER_TOOL = "PostToolUse"
"""After a tool went well: what it was used on belongs to the episode."""
AFTER_FAILURE = "PostToolUseFailure"
"""After one failed. Claude Code knows the event since its version 2.1, and an older one would skip
the whole settings file for it."""
EVENTS = (*CAPTURED, BEFORE_TASK, AFTER_TOOL, AFTER_FAILURE)
TASK_TOOLS = ("Task", "Agent")
"""What Claude Code calls the tool that starts a sub-agent, by its older and its newer name."""
TELL_ONLY = ("PreCompact", "Stop", "SessionEnd")
"""Events that ask nothing: once they are told, it does not matter how long the daemon takes."""
INPUT_SECONDS = 5.0
"""For reading stdin, which a host writes at once: one that never closes it has said nothing."""
LIMIT_SECONDS = 0.1
"""From there to the daemon's greeting, and for events that only tell to the end: a daemon that
hangs costs no more. Python's own start and end come to it; `benchmarks/hook.py` measures all."""
ANSWER_SECONDS = 0.2
"""From the greeting of a daemon that is alive to what the host is told, on a machine that is busy:
otherwise it takes a few hundredths."""
PLAN_SECONDS = 0.1
"""For a plan, from stdin to the answer, greeting included: with Python's start and end it stays
within 150 ms. What comes later is not waited for: the sub-agent starts without it."""
LIMIT_VARIABLE = "VAULTMIND_HOOK_SECONDS"
"""Another limit for any of them, for a slow machine."""
PLAN_VARIABLE, EPISODES_VARIABLE = "VAULTMIND_PLAN_HOOK", "VAULTMIND_EPISODES_HOOK"
"""The keys `plan.hook` and `episodes.hook`: off here, no daemon is asked; off in a configuration,
it says nothing."""
OFF = ("0", "false", "no")
MAX_INPUT_BYTES = 64 * 1024 * 1024
MAX_PROMPT_CHARS = 20_000
"""Of what the person typed; more says no better what is to be recalled."""
MAX_ID = 200
LOG = "hooks.log"
LOG_MAX_BYTES = 100_000
_FIELDS = ("session_id", "transcript_path", "source", "reason", "cwd")


class TooLate(Exception):
    """The host has waited long enough, or ended this. No OSError, as of a daemon that is gone."""


def knows(client: str, event: str) -> bool:
    """Tell whether this is a client and an event that can be told of."""
    return client == CLIENT and event in EVENTS


def main(event: str, vault: str = "", agent: str = "", state_dir: str = "") -> int:
    """Tell the daemon of one event and print what the host should know; return 0, always."""
    errand: dict[str, Any] = {}
    where: Where | None = None
    try:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
            signal.signal(number, _stop)
        where = locate(vault, agent, state_dir, light=True)
        signal.setitimer(signal.ITIMER_REAL, INPUT_SECONDS)
        given = json.loads(sys.stdin.buffer.read(MAX_INPUT_BYTES))
        if not isinstance(given, dict):
            raise ValueError("stdin holds no JSON object")
        given["transcript_path"] = os.path.expanduser(str(given.get("transcript_path") or ""))
        if event == BEFORE_TASK:
            _plan(where, given)
        elif event in (AFTER_TOOL, AFTER_FAILURE):
            _used(where, event, given)
        else:
            errand = _errand(where, event, given)
            _tell(where, event, given, errand)
    except (Exception, KeyboardInterrupt) as error:  # the host must never see a memory fail
        _unlimit()
        if not isinstance(error, TooLate):  # what is late is left as an errand
            _note(where, event, error)
        _leave(where, errand)
    finally:
        _unlimit()
    return 0


def _errand(where: Where, event: str, given: dict[str, Any]) -> dict[str, Any]:
    start = str(given.get("source") or "startup") if event == "SessionStart" else ""
    return {
        "agent": where.agent,
        "session_id": str(given.get("session_id") or ""),
        "transcript_path": str(given.get("transcript_path") or ""),
        "source": start,
        "end": event == "SessionEnd",
    }


def _tell(where: Where, event: str, given: dict[str, Any], errand: dict[str, Any]) -> None:
    """Tell the daemon, and the host what it answers; where none runs, leave an errand."""
    _limit(LIMIT_SECONDS)
    reached = _reached(where, errand)
    if reached is None:
        return
    if event not in TELL_ONLY:
        _limit(ANSWER_SECONDS)
    args: dict[str, Any] = {name: str(given[name]) for name in _FIELDS if given.get(name)}
    args |= {"event": event, "at": time.time()}
    prompt = str(given.get("prompt") or "")[:MAX_PROMPT_CHARS]
    try:
        answer = _asked(reached, "hook", {**args, "prompt": prompt})
        _unlimit()
        if context := str(answer.get("context") or ""):
            _print(event, additionalContext=context)
            # The daemon is told that the host has its answer; else it is given again.
            given_now = {**args, "delivered": str(answer.get("given") or "")}
            reached.send({"id": 2, "op": "hook", "args": given_now})
    finally:
        reached.close()


def _reached(where: Where, errand: dict[str, Any]) -> Wire | None:
    """Return a connection to the daemon; where none runs, leave an errand and start one."""
    greeting = launch.hello("ops", kind="agent", agent=where.agent, client=CLIENT)
    reached = launch.greet_quickly(where, greeting)
    if reached is None:
        _leave(where, errand)
        launch.begin(where)
    return reached


def _plan(where: Where, given: dict[str, Any]) -> None:
    """Print a sub-agent's input with what it should read first before its prompt, or nothing."""
    task = given.get("tool_input")
    prompt = str(task.get("prompt") or "") if isinstance(task, dict) else ""
    off = os.environ.get(PLAN_VARIABLE, "").lower() in OFF
    if off or given.get("tool_name") not in TASK_TOOLS or not prompt.strip():
        return
    _limit(PLAN_SECONDS)
    reached = _reached(where, {})
    if reached is None:
        return
    try:
        args = {
            "prompt": prompt[:MAX_PROMPT_CHARS],
            "cwd": str(given.get("cwd") or os.getcwd()),
            "session_id": str(given.get("session_id") or "")[:MAX_ID],
        }
        text = str(_asked(reached, "before_task", args).get("text") or "")
        _unlimit()
        if text:
            # Without "allow" Claude Code leaves the input as it was. Starting a sub-agent needs
            # no permission anyway, and rules that deny or ask hold whatever a hook says.
            changed = {**given["tool_input"], "prompt": text + prompt}
            _print(BEFORE_TASK, permissionDecision="allow", updatedInput=changed)
    finally:
        reached.close()


def _used(where: Where, event: str, given: dict[str, Any]) -> None:
    """Tell the daemon what a tool was used on, or leave it as an errand. Prints nothing."""
    from vaultmind.session import uses

    use = uses.reduced(given, event)
    if use is None or os.environ.get(EPISODES_VARIABLE, "").lower() in OFF:
        return
    use["session_id"] = str(given.get("session_id") or "")[:MAX_ID]
    use["transcript_path"] = str(given.get("transcript_path") or "")
    waits = True
    try:
        _limit(LIMIT_SECONDS)
        reached = _reached(where, {})
        if reached is not None:
            waits = bool(_asked(reached, "after_tool", use).get("waits"))
            reached.close()
    finally:  # what the daemon has by now it knows by the use's id
        _unlimit()
        if waits and (os.path.isdir(where.state_dir) or os.path.isdir(where.vault)):
            spool.leave(where.state_dir, {"agent": where.agent, **uses.without_texts(use)})


def _asked(reached: Wire, op: str, args: dict[str, Any]) -> dict[str, Any]:
    """Return what the daemon answers to an operation; raise in its words where it refuses.

    Not in those that repeat a value: it is what the host told, and the log is no place for it.
    """
    reached.send({"id": 1, "op": op, "args": args})
    while answer := reached.receive():
        if "error" in answer:
            refused = answer["error"]
            bad = f"bad value for {refused.get('field')}; it takes {refused.get('allowed')}"
            raise ValueError(bad if refused.get("field") else str(refused.get("message", "")))
        if "ok" in answer:
            return dict(answer["ok"])
    raise ConnectionError("the daemon stopped over it")


def _print(event: str, **said: object) -> None:
    """Print what the host is to do or to know, in the form that it reads."""
    output = {"hookEventName": event, **said}
    sys.stdout.write(json.dumps({"hookSpecificOutput": output}) + "\n")
    sys.stdout.flush()


def _limit(seconds: float) -> None:
    """Raise TooLate in this thread when the time is up; the environment may set another."""
    try:
        seconds = float(os.environ.get(LIMIT_VARIABLE) or seconds)
    except ValueError:
        pass  # what is no number sets no other limit
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))


def _unlimit() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)


def _stop(number: int, frame: object) -> None:
    raise TooLate(f"it took too long, or the host ended it (signal {number})")


def _leave(where: Where | None, errand: dict[str, Any]) -> None:
    """Leave an errand; for a vault that never was there is nobody who would run it."""
    if where is None or not errand:
        return
    if os.path.isdir(where.state_dir) or os.path.isdir(where.vault):
        try:
            spool.leave(where.state_dir, errand)
        except OSError as error:
            _note(where, "an errand", error)


def _note(where: Where | None, event: str, error: BaseException) -> None:
    """Write a line about what went wrong to the state folder's log, if there is one."""
    if where is None or not os.path.isdir(where.state_dir):
        return
    path = os.path.join(where.state_dir, LOG)
    field = getattr(error, "field", "")  # its value is not repeated
    said = f"bad value for {field}" if field else error
    words = " ".join(f"{type(error).__name__}: {said}".split())[:300]
    try:
        if os.path.exists(path) and os.path.getsize(path) > LOG_MAX_BYTES:
            os.replace(path, f"{path}.1")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {event} of {where.agent}: {words}\n")
    except OSError:
        return  # nobody can be told

"""`vaultmind hook claude-code EVENT`: tells the daemon what happened in a host's conversation.

Claude Code runs this at certain moments and waits for it: JSON on stdin, JSON on stdout. Standard
library only; an inner deadline; and whatever goes wrong, it is silent and the exit code is 0: a
memory that fails must not keep anybody from working. What could not be told is left as an errand
for the daemon, whatever the reason; where none runs, or only one from before an upgrade, one is
started. What a tool was used on is always left so: nobody waits for it.
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
INPUT_SECONDS = 5.0
"""For reading stdin, which a host writes at once: one that never closes it has said nothing."""
LIMIT_SECONDS = 0.1
"""From there to the end, for events that only tell and for a plan: a daemon that hangs costs no
more. Python's own start and end come to it; `benchmarks/hook.py` measures all."""
PATIENCE = {"SessionStart": 5.0, "UserPromptSubmit": 3.0}
"""The same for events that the host is told something at: as long as a daemon may need that is
only just starting on a busy machine. Otherwise it takes a few hundredths."""
LIMIT_VARIABLE = "VAULTMIND_HOOK_SECONDS"
"""Another limit for any of them, for a slow machine."""
PLAN_VARIABLE, EPISODES_VARIABLE = "VAULTMIND_PLAN_HOOK", "VAULTMIND_EPISODES_HOOK"
"""The keys `plan.hook` and `episodes.hook`: off here, no daemon is asked; off in a configuration,
it says nothing."""
MAX_INPUT_BYTES = 64 * 1024 * 1024
MAX_PROMPT_CHARS = 20_000
"""Of what the person typed; more says no better what is to be recalled."""
MAX_ID = 200
LOG = "hooks.log"
LOG_MAX_BYTES = 100_000


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
        told = {one: str(given.get(one) or "") for one in ("session_id", "cwd", "source", "prompt")}
        told["transcript_path"] = os.path.expanduser(str(given.get("transcript_path") or ""))
        told["prompt"] = told["prompt"][:MAX_PROMPT_CHARS]
        if event == BEFORE_TASK:
            _plan(where, given, told)
        elif event in (AFTER_TOOL, AFTER_FAILURE):
            errand |= _use(event, given, told)
        else:
            # what comes too late for one prompt is given with the next
            start = (told["source"] or "startup") if event in PATIENCE else ""
            errand |= {name: told[name] for name in ("session_id", "transcript_path", "cwd")}
            errand |= {"source": start, "end": event == "SessionEnd"}
            args = {name: one for name, one in told.items() if one}
            _tell(where, args | {"event": event, "at": time.time()}, errand)
    except (Exception, KeyboardInterrupt) as error:  # the host must never see a memory fail
        _limit(0)
        if not isinstance(error, TooLate):  # what is late is left as an errand
            _note(where, event, error)
    _limit(0)
    if where and errand and (os.path.isdir(where.state_dir) or os.path.isdir(where.vault)):
        try:
            spool.leave(where.state_dir, {"agent": where.agent, **errand})
        except OSError as error:
            _note(where, "an errand", error)
    return 0


def _use(event: str, given: dict[str, Any], told: dict[str, str]) -> dict[str, Any]:
    """Return what a tool was used on; nothing where that is of no interest."""
    from vaultmind.session import uses

    use = None if _off(EPISODES_VARIABLE) else uses.reduced(given, event)
    ids = {"session_id": told["session_id"][:MAX_ID], "transcript_path": told["transcript_path"]}
    return {**use, **ids} if use else {}


def _tell(where: Where, args: dict[str, Any], errand: dict[str, Any]) -> None:
    """Tell the daemon, and the host what it answers; what it has seen to is no errand."""
    event = args["event"]
    answer = _ask(where, "hook", args, PATIENCE.get(event, 0.0))
    if answer is not None:
        errand.clear()
    if context := str((answer or {}).get("context") or ""):
        _print(event, additionalContext=context)


def _plan(where: Where, given: dict[str, Any], told: dict[str, str]) -> None:
    """Print a sub-agent's input with what it should read first before its prompt, or nothing."""
    task = given.get("tool_input")
    prompt = str(task.get("prompt") or "") if isinstance(task, dict) else ""
    if _off(PLAN_VARIABLE) or given.get("tool_name") not in TASK_TOOLS or not prompt.strip():
        return
    args = {"prompt": prompt[:MAX_PROMPT_CHARS], "cwd": told["cwd"] or os.getcwd(),
            "session_id": told["session_id"][:MAX_ID]}  # fmt: skip
    answer = _ask(where, "before_task", args) or {}
    if text := str(answer.get("text") or ""):
        # Without "allow" Claude Code leaves the input as it was. Starting a sub-agent needs
        # no permission anyway, and rules that deny or ask hold whatever a hook says.
        changed = {**given["tool_input"], "prompt": text + prompt}
        _print(BEFORE_TASK, permissionDecision="allow", updatedInput=changed)


def _off(variable: str) -> bool:
    return os.environ.get(variable, "").lower() in ("0", "false", "no")


def _ask(
    where: Where, op: str, args: dict[str, Any], patience: float = 0.0
) -> dict[str, Any] | None:
    """Return what the daemon answers to an operation. Where none runs, start one: with `patience`,
    which is how many seconds all of it may take, it is waited for; else None is returned.

    Raises in the daemon's words where it refuses, but not in those that repeat a value: it is what
    the host told, and the log is no place for it.
    """
    _limit(patience or LIMIT_SECONDS)
    greeting = launch.hello("ops", kind="agent", agent=where.agent, client=CLIENT)
    reached = launch.greet_quickly(where, greeting)
    if reached is None:
        launch.begin(where)
    while patience and reached is None:
        time.sleep(launch.POLL_SECONDS)
        reached = launch.greet_quickly(where, greeting)
    if reached is None:
        return None
    try:
        answer = reached.ask(op, args)
    finally:
        reached.close()
    if refused := answer.get("error"):
        bad = f"bad value for {refused.get('field')}; it takes {refused.get('allowed')}"
        raise ValueError(bad if refused.get("field") else str(refused.get("message", "")))
    if "ok" not in answer:
        raise ConnectionError("the daemon stopped over it")
    _limit(0)
    return dict(answer["ok"])


def _print(event: str, **said: object) -> None:
    """Print what the host is to do or to know, in the form that it reads."""
    output = {"hookEventName": event, **said}
    sys.stdout.write(json.dumps({"hookSpecificOutput": output}) + "\n")
    sys.stdout.flush()


def _limit(seconds: float) -> None:
    """Raise TooLate in this thread when the time is up, 0: never; the environment may set it."""
    try:
        seconds = seconds and max(float(os.environ.get(LIMIT_VARIABLE) or seconds), 0.001)
    except ValueError:
        pass  # what is no number sets no other limit
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _stop(number: int, frame: object) -> None:
    raise TooLate(f"it took too long, or the host ended it (signal {number})")


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

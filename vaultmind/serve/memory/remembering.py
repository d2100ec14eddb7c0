"""Facts as they are asked for, shown and given at a start; memory made, and filled by imports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind.errors import BadArgument, NotFound
from vaultmind.serve.calls.call import Call, known_agent, own_session
from vaultmind.serve.calls.requests import AgentArgs, ImportArgs, InitArgs, SayArgs, UpdateArgs
from vaultmind.serve.memory import approval
from vaultmind.types import Outcome

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.session.context.start import StartContext
    from vaultmind.session.imports.imports import Imported
    from vaultmind.session.voice.show import Shown
    from vaultmind.session.voice.spoken import Heard

FRAME_TOKENS = 160
"""What fences, sources and headings cost around the parts of a start context."""


@dataclass(frozen=True, slots=True)
class Made:
    """What init found and made, vault-relative."""

    vault: str
    state_dir: str
    created: tuple[str, ...]
    existing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Start:
    """A start context, and whether it is the caller's own: only then its identity is to be."""

    context: StartContext
    own: bool
    waiting: approval.Waiting = approval.NONE
    """Suggestions that the caller should mention to the person."""


def update(app: App, call: Call, args: UpdateArgs) -> Outcome | Heard:
    """Do what the person's words ask, or remember, replace or forget a fact that is named."""
    _check_update(args)
    target = known_agent(app, call.caller, args.agent)
    if args.op is None:
        return app.voice.hear(call.caller, target, args.utterance, args.message_id.strip())
    outcome = _explicit(app, call, args, target)
    app.voice.note(call.caller, args.op, outcome)
    return outcome


def _explicit(app: App, call: Call, args: UpdateArgs, target: str) -> Outcome:
    if args.op == "forget":
        return app.requests.forget(call.caller, target, args.text, words=args.words)
    if args.op == "replace":
        return app.requests.replace(
            call.caller, target, args.text, args.old, section=args.section, words=args.words
        )
    return app.requests.remember(
        call.caller, target, args.text, section=args.section, words=args.words
    )


def _check_update(args: UpdateArgs) -> None:
    """Raise BadArgument unless the person's words or an operation are given, one of them."""
    allowed = "either utterance (the person's words), or op (remember, forget, replace) with text"
    spoken = bool(args.utterance.strip())
    if spoken == (args.op is not None):
        name, value = ("utterance", args.utterance) if spoken else ("op", args.op)
        raise BadArgument(name, value, allowed, missing=not spoken)
    if args.op is None:
        given = {"text": args.text, "old": args.old, "section": args.section, "words": args.words}
        for name, value in given.items():
            if value:
                raise BadArgument(name, value, f"only with op; {allowed}")
        return
    if args.message_id:
        raise BadArgument("message_id", args.message_id, "only with utterance")
    if not args.text.strip():
        raise BadArgument("text", args.text, "the fact, in words", missing=not args.text)
    if args.op == "replace" and not args.old.strip():
        raise BadArgument("old", args.old, "the words or id of the fact to replace")
    if args.op != "replace" and args.old:
        raise BadArgument("old", args.old, "only with op 'replace'")


def say(app: App, call: Call, args: SayArgs) -> tuple[Heard, ...]:
    """Do what sentences ask of the memory, or only tell what was understood."""
    target = known_agent(app, call.caller, args.agent)
    if args.dry_run:
        return tuple(app.voice.heed(one, target) for one in args.utterances)
    return tuple(app.voice.hear(call.caller, target, one) for one in args.utterances)


def show(app: App, call: Call, args: AgentArgs) -> Shown:
    """Return what an agent knows, with counts."""
    target = known_agent(app, call.caller, args.agent)
    shown = app.show(target, call.caller)
    facts = [fact for section in shown.sections for fact in section.facts]
    app.voice.note_shown(call.caller, target, facts)
    return shown


def start_context(app: App, call: Call, args: AgentArgs, session: str = "") -> Start:
    """Return what an agent should know when a conversation begins."""
    waiting = approval.waiting(app, call.caller)
    reserved = FRAME_TOKENS if call.caller.kind == "agent" else 0
    reserved += approval.WAITING_TOKENS if reserved and waiting.count else 0
    target = known_agent(app, call.caller, args.agent)
    session = session or own_session(app, call.caller, target)
    context = app.start_context(target, call.caller, reserved, session)
    return Start(context, target == call.caller.agent, waiting)


def import_file(app: App, call: Call, args: ImportArgs) -> Imported:
    """Take an export file's conversations into an agent's sessions."""
    path = Path(args.path)
    if not path.is_absolute():
        raise BadArgument("path", args.path, "an absolute path: the daemon has its own folder")
    if not path.is_file():
        raise NotFound(f"There is no file {args.path!r}.")
    target = app.target(call.caller, args.agent)
    if call.caller.kind == "agent" and target != call.caller.agent:
        raise BadArgument("agent", target, "your own: only the person imports for another agent")
    imported = app.importer.import_file(path, target, call.report, one_session=args.one_session)
    if imported.messages:  # the talk that is likely asked about is summarised meanwhile
        app.talks.heard(target, app.sessions.latest(target))
    return imported


def init(app: App, call: Call, args: InitArgs) -> Made:
    """Make the memory folder and an agent's identity; what exists stays as it is."""
    return make(app, call, app.target(call.caller, args.agent), args.language)


def make(app: App, call: Call, agent: str, language: str) -> Made:
    """Make what is missing of the memory folder and of an agent in it."""
    wanted = (app.paths.readme, app.paths.suggestions, app.paths.identity(agent))
    existing = tuple(path for path in wanted if app.reader.exists(path))
    created = app.init(agent, language, call.caller)
    return Made(str(app.config.vault), str(app.config.state_dir), created, existing)

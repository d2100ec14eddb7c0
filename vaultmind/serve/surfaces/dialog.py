"""The client's own dialog about a suggestion that was made just now, under the person's limits.

A client can be set to answer by itself. So the dialog may reject (`memory.dialog = "reject"`), and
accepts only where the person's own configuration says so (`"accept"`): never a forgetting, never a
sensitive fact, never a write to another agent. Whatever is no clear answer leaves it waiting.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from vaultmind.errors import VaultMindError
from vaultmind.memory.sensitive import sensitive
from vaultmind.serve.calls.call import mark_for
from vaultmind.serve.memory import answers, render
from vaultmind.serve.operations import Answer
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.memory.suggestions.file import Listed, Suggestion

Choice = Literal["wait", "reject", "accept"]
CHOICES: tuple[Choice, ...] = ("wait", "reject", "accept")
FIELD = "answer"
DIALOG_SECONDS = 50.0
"""How long a tool call waits for the person: less than clients wait for a tool."""
FRESH_SECONDS = 60
"""A suggestion made longer ago is not this call's."""
MAX_HELD = 64

_WORDS = {
    "en": {
        "remember": "{by} would like to remember:\n“{text}”",
        "replace": "{by} would like to correct “{old}” to:\n“{text}”",
        "forget": "{by} would like to forget:\n“{text}”",
        "into": " (in {agent}'s memory)",
        "accept": "Accept or reject it here, or leave it waiting in {path}.",
        "reject": "It waits for you in {path}, where you can accept it. Here you can reject it.",
        "title": "Your answer",
        "names": ("Leave it waiting", "Reject it", "Accept it"),
    },
    "pl": {
        "remember": "{by} chce zapamiętać:\n„{text}”",
        "replace": "{by} chce poprawić „{old}” na:\n„{text}”",
        "forget": "{by} chce zapomnieć:\n„{text}”",
        "into": " (w pamięci {agent})",
        "accept": "Przyjmij albo odrzuć tutaj, albo zostaw to w {path}.",
        "reject": "Czeka na ciebie w {path}, tam możesz to przyjąć. Tutaj możesz odrzucić.",
        "title": "Twoja odpowiedź",
        "names": ("Niech czeka", "Odrzuć", "Przyjmij"),
    },
    "ru": {
        "remember": "{by} хочет запомнить:\n«{text}»",
        "replace": "{by} хочет исправить «{old}» на:\n«{text}»",
        "forget": "{by} хочет забыть:\n«{text}»",
        "into": " (в памяти {agent})",
        "accept": "Примите или отклоните здесь либо оставьте ждать в {path}.",
        "reject": "Ждёт вас в {path}, там его можно принять. Здесь можно отклонить.",
        "title": "Ваш ответ",
        "names": ("Пусть ждёт", "Отклонить", "Принять"),
    },
}


@dataclass(frozen=True, slots=True)
class Question:
    """What the person is asked, and about which suggestion as it stood then."""

    suggestion: Suggestion
    message: str
    schema: dict[str, Any]
    may_accept: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from the client."""

    action: str
    """`accept`, `decline` or `cancel`."""
    content: Mapping[str, object] | None = None


@dataclass(slots=True)
class Dialogs:
    """The questions of one server: each suggestion is asked about once."""

    timeout_seconds: float = DIALOG_SECONDS
    _asked: set[str] = field(default_factory=set)
    _held: dict[str, tuple[str, Question, Answer]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def question(self, app: App, caller: Caller, tool: str, answer: Answer) -> Question | None:
        """Return what to ask the person about a call's answer; None for nothing."""
        mode = app.config.memory.dialog
        suggested = tool == "memory_update" and answer.json.get("outcome") == "suggested"
        if mode == "off" or caller.kind != "agent" or not suggested:
            return None
        one = _made_now(app, caller, str(answer.json.get("block") or ""))
        with self._lock:
            if one is None or one.suggestion.id in self._asked:
                return None
            self._asked.add(one.suggestion.id)
        return _question(app, caller, one.suggestion)

    def hold(self, caller: Caller, question: Question, answer: Answer) -> str:
        """Keep a question until the client comes back with its reply; return what names it."""
        token = secrets.token_urlsafe(16)
        with self._lock:
            self._held[token] = (caller.agent, question, answer)
            while len(self._held) > MAX_HELD:
                del self._held[next(iter(self._held))]
        return token

    def resume(self, caller: Caller, token: str) -> tuple[Question, Answer] | None:
        """Return the question that a reply belongs to, once; None for one of nobody's."""
        with self._lock:
            held = self._held.pop(token, None)
        return (held[1], held[2]) if held and held[0] == caller.agent else None


def settled(app: App, caller: Caller, question: Question, reply: Reply, answer: Answer) -> Answer:
    """Do what the person replied, and return what the call came to after it."""
    choice = chosen(question, reply)
    now = _standing(app, question.suggestion)
    if choice == "wait" or now is None:
        return answer
    if choice == "accept" and not _may_accept(app, caller, question.suggestion):
        return answer
    person = Caller("person", client=f"the dialog of {caller.client or 'a client'}")
    try:
        outcome = app.gate.answer_suggestion(now.suggestion.id, choice == "accept", person)
    except VaultMindError as error:
        words = f"{answer.words} The person answered, and that failed: {error}"
        return Answer(answer.json | {"message": words}, words)
    if choice == "reject":
        words = "Not done: the person rejected it just now. Do not suggest it again."
        return Answer(answer.json | {"outcome": "denied", "message": words}, words)
    mark = mark_for(caller)
    words = f"The person accepted it just now. {render.outcome(outcome, mark)}"
    return Answer(answer.json | answers.outcome(outcome, mark), words)


def chosen(question: Question, reply: Reply) -> Choice:
    """Return what a reply means. Nothing but a clear answer is one; declining is a no."""
    if reply.action == "decline":
        return "reject"
    if reply.action != "accept" or reply.content is None:
        return "wait"
    said = reply.content.get(FIELD)
    if said == "accept" and question.may_accept:
        return "accept"
    return "reject" if said == "reject" else "wait"


def _question(app: App, caller: Caller, one: Suggestion) -> Question:
    language = app.authority.identity(caller.agent).language
    words: Any = _WORDS.get(language, _WORDS["en"])
    may_accept = _may_accept(app, caller, one)
    asks = words[one.op].format(by=one.caller.agent, text=one.text, old=one.old)
    into = words["into"].format(agent=one.agent) if one.agent != one.caller.agent else ""
    tail = words["accept" if may_accept else "reject"].format(path=app.paths.suggestions)
    offered = len(CHOICES) if may_accept else len(CHOICES) - 1
    choice = {
        "type": "string",
        "title": words["title"],
        "enum": list(CHOICES[:offered]),
        "enumNames": list(words["names"][:offered]),
        "default": "wait",
    }
    schema = {"type": "object", "properties": {FIELD: choice}}
    return Question(one, f"{asks}{into}\n\n{tail}", schema, may_accept)


def _may_accept(app: App, caller: Caller, one: Suggestion) -> bool:
    """Tell whether a dialog may accept it at all: promise 6."""
    own = one.agent == caller.agent == one.caller.agent
    adds = one.op in ("remember", "replace")
    harmless = not sensitive(one.text) and not sensitive(one.old)
    return app.config.memory.dialog == "accept" and own and adds and harmless


def _made_now(app: App, caller: Caller, id_: str) -> Listed | None:
    """Return the suggestion that a call made: by its id, or the caller's own of this minute."""
    try:
        listed = app.gate.queue.listed()
    except VaultMindError:
        return None
    own = [
        one
        for one in listed
        if one.state == "waiting" and one.suggestion.caller.agent == caller.agent
    ]
    if id_:
        return next((one for one in own if one.suggestion.id == id_), None)
    since = app.clock() - timedelta(seconds=FRESH_SECONDS)
    fresh = [one for one in own if _is_after(one.suggestion.time, since)]
    return fresh[-1] if fresh else None


def _standing(app: App, one: Suggestion) -> Listed | None:
    """Return a suggestion if it still waits and says what the person was asked about."""
    try:
        return next((now for now in app.gate.queue.listed() if now.suggestion == one), None)
    except VaultMindError:
        return None


def _is_after(time: str, since: datetime) -> bool:
    try:
        return datetime.fromisoformat(time) >= since
    except (ValueError, TypeError):
        return False

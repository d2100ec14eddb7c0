"""What a client's menu offers besides tools: prompts, and resources that are attached by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from vaultmind.errors import BadArgument, NotFound
from vaultmind.fence import new_mark
from vaultmind.serve.call import known_agent
from vaultmind.serve.show import Reader, Recalled
from vaultmind.types import Caller
from vaultmind.vault.paths import agent_name

if TYPE_CHECKING:
    from vaultmind.app import App

MAX_ARGUMENT = 2000
NOTE, MEMORY = "note:///", "memory://"
MAX_TOKENS = 20_000
"""A longer note is cut, and says so outside its fence."""


class MenuPrompt(NamedTuple):
    """A prompt: what picking it does, what the person says with it, what the model is to do."""

    name: str
    argument: str
    title: str
    description: str
    said: str
    """`{value}` in it is the argument."""
    tool: str


PROMPTS = (
    MenuPrompt("remember", "fact", "Remember this",
           "Writes a fact about you into the memory.", "Remember this about me: {value}",
           "Call memory_update with the line above as utterance."),
    MenuPrompt("forget", "fact", "Forget this",
           "Takes a fact out of the memory and hides what said it.", "Forget this: {value}",
           "Call memory_update with the line above as utterance, and tell me what was removed."),
    MenuPrompt("what_do_you_know_about_me", "", "What do you know about me?",
           "Lists all that is remembered of you, and the files it is in.",
           "What do you know about me?", "Use memory_show, and name the files it is in."),
    MenuPrompt("settle", "", "Settle what we talked about",
           "Has the agent read ended conversations, and keep what of them lasts.",
           "Go through our ended conversations.",
           "Call memory_settle until no conversation waits, and tell me what was written."),
    MenuPrompt("search_my_notes", "question", "Search my notes",
           "Answers from your notes, and names them.", "Answer from my notes: {value}",
           "Use memory_search, answer in the language of the question, and name the notes."),
)  # fmt: skip


class Resource(NamedTuple):
    """A resource or a template of resources that a client may list."""

    uri: str
    name: str
    title: str
    description: str


TEMPLATES = (
    Resource(NOTE + "{+path}", "note", "A note", "A note of the vault, by its path."),
    Resource(MEMORY + "{agent}/brain", "brain", "A brain", "The lasting facts of an agent."),
    Resource(MEMORY + "{agent}/active_context", "active_context", "Active context",
             "Where an agent's last conversation ended."),
)  # fmt: skip


def prompt_text(name: str, values: Mapping[str, str]) -> str:
    """Return what the person says when they pick a prompt, and what the model is to do.

    Raises NotFound naming those there are, BadArgument for a bad value.
    """
    known = {prompt.name: prompt for prompt in PROMPTS}
    if name not in known:
        raise NotFound(f"There is no prompt {name[:80]!r}.", hint=f"There are: {', '.join(known)}.")
    prompt = known[name]
    if unknown := next((one for one in values if one != prompt.argument), ""):
        allowed = f"no argument of this name; known: {prompt.argument or 'none'}"
        raise BadArgument(unknown, values[unknown], allowed)
    value = values.get(prompt.argument, "").strip()
    if prompt.argument and not 0 < len(value) <= MAX_ARGUMENT:
        raise BadArgument(prompt.argument, value, f"text, 1 to {MAX_ARGUMENT} characters")
    return f"{prompt.said.replace('{value}', value)}\n\n({prompt.tool})"


def resources(app: App, caller: Caller) -> tuple[Resource, ...]:
    """Return the resources of the caller's own memory that are there."""
    own = (one._replace(uri=one.uri.replace("{agent}", caller.agent)) for one in TEMPLATES[1:])
    return tuple(one for one in own if caller.agent and _is_there(app, caller, one.uri))


def read(app: App, caller: Caller, uri: str) -> str:
    """Return a resource's text, fenced; raise NotFound for what is not there or not shown."""
    path = _path(app, caller, uri)
    if uri.startswith(MEMORY) and not _is_there(app, caller, uri):
        raise NotFound(f"The resource {uri!r} is empty: there is no {path} yet.")
    try:
        found = app.index.fetch(path, caller, max_tokens=MAX_TOKENS)
    except NotFound:
        hint = "A note's resource is note:/// and its path in the vault, with .md."
        raise NotFound(f"There is no note {path[:200]!r}.", hint=hint) from None
    text = Reader(new_mark()).text(Recalled(found.text, found.path))
    more = found.next_offset is not None
    return text + ("\nThere is more: use memory_fetch with an offset." if more else "")


def _is_there(app: App, caller: Caller, uri: str) -> bool:
    path = _path(app, caller, uri)
    return app.reader.exists(path) and app.index.outlet.shows(path, caller)


def _path(app: App, caller: Caller, uri: str) -> str:
    if uri.startswith(NOTE):
        return unquote(uri.removeprefix(NOTE))
    agent, _, what = uri.removeprefix(MEMORY).partition("/")
    files = {"brain": app.paths.brain, "active_context": app.paths.active_context}
    if uri.startswith(MEMORY) and what in files:
        return files[what](known_agent(app, caller, agent_name(agent)))
    known = ", ".join(one.uri for one in TEMPLATES)
    raise NotFound(f"There is no resource {uri[:200]!r}.", hint=f"There are: {known}.")

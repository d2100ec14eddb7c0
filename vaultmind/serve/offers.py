"""What a client's menu offers besides tools: prompts, and notes that are attached by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from vaultmind.errors import BadArgument, NotFound
from vaultmind.fence import new_mark
from vaultmind.serve.show import Reader, Recalled
from vaultmind.types import Caller

if TYPE_CHECKING:
    from vaultmind.app import App

MAX_ARGUMENT = 2000
NOTE = "note:///"
MAX_TOKENS = 20_000
"""A longer note is cut, and says so outside its fence."""


class MenuPrompt(NamedTuple):
    """A prompt: its title, its argument if it takes one, and what picking it says."""

    title: str
    argument: str
    said: str
    """`{}` in it is the argument; what the model is to do stands in brackets."""


PROMPTS = {
    "remember": MenuPrompt(
        "Remember this", "fact",
        "Remember this about me: {}\n\n(Call memory_update with the line above as utterance.)"),
    "forget": MenuPrompt(
        "Forget this", "fact",
        "Forget this: {}\n\n(Call memory_update with the line above as utterance, and tell me what "
        "was removed.)"),
    "what_do_you_know_about_me": MenuPrompt(
        "What do you know about me?", "",
        "What do you know about me?\n\n(Use memory_show, and name the files it is in.)"),
    "settle": MenuPrompt(
        "Settle what we talked about", "",
        "Go through our ended conversations.\n\n(Call memory_settle until no conversation waits, "
        "and tell me what was written.)"),
    "search_my_notes": MenuPrompt(
        "Search my notes", "question",
        "Answer from my notes: {}\n\n(Use memory_search, answer in the language of the question, "
        "and name the notes.)"),
}  # fmt: skip


def prompt_text(name: str, values: Mapping[str, str]) -> str:
    """Return what the person says when they pick a prompt, and what the model is to do.

    Raises NotFound naming those there are, BadArgument for a bad value.
    """
    if name not in PROMPTS:
        known = ", ".join(PROMPTS)
        raise NotFound(f"There is no prompt {name[:80]!r}.", hint=f"There are: {known}.")
    prompt = PROMPTS[name]
    value = values.get(prompt.argument, "").strip()
    if prompt.argument and not 0 < len(value) <= MAX_ARGUMENT:
        raise BadArgument(prompt.argument, value, f"text, 1 to {MAX_ARGUMENT} characters")
    return prompt.said.replace("{}", value)


def resources(app: App, caller: Caller) -> dict[str, str]:
    """Return what of the caller's own memory can be attached: the title of each by its URI."""
    own = {"Brain": app.paths.brain, "Active context": app.paths.active_context}
    paths = {title: path(caller.agent) for title, path in own.items() if caller.agent}
    there = {title: path for title, path in paths.items() if app.reader.exists(path)}
    return {NOTE + quote(path): title for title, path in there.items()}


def read(app: App, caller: Caller, uri: str) -> str:
    """Return a note's text, fenced; raise NotFound for what is not there or not shown."""
    path = unquote(uri.removeprefix(NOTE))
    try:
        found = app.index.fetch(path, caller, max_tokens=MAX_TOKENS)
    except NotFound:
        hint = "A note's resource is note:/// and its path in the vault, with .md."
        raise NotFound(f"There is no note {path[:200]!r}.", hint=hint) from None
    text = Reader(new_mark()).text(Recalled(found.text, found.path))
    more = found.next_offset is not None
    return text + ("\nThere is more: use memory_fetch with an offset." if more else "")

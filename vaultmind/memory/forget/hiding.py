"""Hiding what said a forgotten thing: tombstones, and what an outcome says of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from vaultmind.memory.changes import Ask, Step, stands_in_own_text
from vaultmind.memory.doubts import quoted
from vaultmind.memory.forget.kinds import Edit, RecordKind, Ref, SummaryRef, all_that_said, key_of
from vaultmind.memory.forget.tombstones import Tombstones, render_tombstones
from vaultmind.memory.match import echoed, is_specific, mentions, says_words
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.types import Fact, MemoryWrite, MessageRef, Outcome
from vaultmind.vault.paths import VaultPaths, agent_name


class Append(Protocol):
    """The part of the vault's writer that tombstones need."""

    def append(self, relative: str, text: str) -> None:
        """Append to a file and flush it to disk."""
        ...


@dataclass(frozen=True, slots=True)
class Hid:
    """How much was hidden that had not been hidden before."""

    messages: int = 0
    parts: int = 0
    """Parts of summaries."""
    lines: int = 0
    """Messages of sub-agents' runs."""
    steps: int = 0
    """Lines of episodes: of what was done for a task."""
    path: str = ""
    """The session, where all the messages are of one."""
    refs: tuple[Ref, ...] = ()
    """What was to be hidden, what was so already included: an undo must know of both."""

    def words(self, said: str) -> str:
        """Return it in words, `said` being what they did; empty where nothing was hidden."""
        counts = (
            counted(self.messages, "message"),
            counted(self.parts, "summary paragraph"),
            counted(self.lines, "message of scheduled runs", "messages of scheduled runs"),
            counted(self.steps, "line of an episode", "lines of episodes"),
        )
        which = " and ".join(count for count in counts if not count.startswith("0 "))
        verb = "is" if self.messages + self.parts + self.lines + self.steps == 1 else "are"
        return f"{which} that {said} {verb} hidden from recall." if which else ""


class Hiding:
    """Finds what said a thing in every kind of record and hides it. Used by the gate alone."""

    def __init__(
        self,
        paths: VaultPaths,
        device: str,
        kinds: Sequence[RecordKind],
        writer: Append,
        clock: Clock,
    ) -> None:
        self._paths = paths
        self._device = device
        self._kinds = tuple(kinds)
        self._writer = writer
        self._clock = clock
        self._tombstones = Tombstones(paths)

    def hide(self, refs: Iterable[Ref], *, erased: bool = False) -> Hid:
        """Hide messages and parts of summaries; for good, where their words are erased."""
        by_agent: dict[str, list[Ref]] = {}
        wanted = tuple(dict.fromkeys(refs))
        for ref in wanted:
            known = self._tombstones
            if not (known.erased(ref) if erased else known.hides(*key_of(ref))):
                by_agent.setdefault(ref.agent, []).append(ref)
        now = self._clock()
        for agent, own in by_agent.items():
            time = self._tombstones.time_for(own, now).isoformat(timespec="seconds")
            path = self._paths.tombstones(agent_name(agent), self._device)
            self._writer.append(path, render_tombstones(own, time, erased=erased))
        hidden = [ref for own in by_agent.values() for ref in own]
        messages = [ref for ref in hidden if isinstance(ref, MessageRef)]
        lines = sum(isinstance(ref, SummaryRef) and ref.is_run for ref in hidden)
        steps = sum(isinstance(ref, SummaryRef) and ref.is_step for ref in hidden)
        parts = len(hidden) - len(messages) - lines - steps
        sessions = {(ref.agent, ref.session) for ref in messages}
        path = self._paths.session(*sessions.pop()) if len(sessions) == 1 else ""
        return Hid(len(messages), parts, lines, steps, path, wanted)

    def show(self, refs: Iterable[Ref]) -> tuple[Ref, ...]:
        """Show messages and parts of summaries again; return those that were hidden until now.

        What was erased stays hidden: its message may still stand in an export.
        """
        shown: dict[Ref, None] = {}
        by_agent: dict[str, list[Ref]] = {}
        for ref in refs:
            names = self._tombstones.buried(ref)
            if names:
                shown[ref] = None
                by_agent.setdefault(ref.agent, []).extend(names)
        for agent, own in by_agent.items():
            time = self._tombstones.time_for(own, self._clock()).isoformat(timespec="seconds")
            path = self._paths.tombstones(agent_name(agent), self._device)
            self._writer.append(path, render_tombstones(dict.fromkeys(own), time, lifted=True))
        return tuple(shown)

    def hide_said(self, ask: Ask, step: Step, edit: Edit) -> tuple[Outcome, tuple[Ref, ...]]:
        """Hide what said a forgotten fact; an agent reaches its own records alone."""
        others = ask.write.caller.kind == "person"
        said = all_that_said(self._kinds, ask.write.agent, step.gone, edit)
        own = (ref for ref in said if others or ref.agent == ask.write.agent)
        hid = self.hide(own)
        echoes = self._echoes(ask.write.agent, [fact.text for fact in step.gone])
        told = (step.outcome.message, hid.words("said it"), echoes)
        message = " ".join(one for one in told if one)
        return replace(step.outcome, message=message, hidden_messages=hid.messages), hid.refs

    def forget_unsaid(
        self, ask: Ask, outcome: Outcome, brain: str, edit: Edit
    ) -> tuple[Outcome, tuple[Ref, ...]]:
        """Hide the messages that say what no fact says, or tell what to do about it."""
        words, agent = ask.write.text, ask.write.agent
        hid = self._hide_words(ask.write, edit)
        own = stands_in_own_text(brain, words)
        here = f"in {ask.path} as your own text; edit it there."
        if said := hid.words("did"):
            message = f"No fact said it; {said}" + (f" It also stands {here}" if own else "")
            outcome = replace(outcome, outcome="written", path=hid.path, nearest=())
            return replace(outcome, message=message, hidden_messages=hid.messages), hid.refs
        return replace(
            outcome, message=self._unfound(agent, outcome, words, here if own else "")
        ), ()

    def _echoes(self, agent: str, facts: Iterable[str]) -> str:
        """Return in words how many messages repeat a part of what was forgotten, and stay.

        They may say more, or something else, of the same thing: hiding them is the person's to do.
        """
        left: dict[tuple[str, str, str], str] = {}
        for fact in facts:
            for ref, text in self._near(agent, fact):
                key = key_of(ref)
                stays = key not in left and not self._tombstones.hides(*key)
                if stays and (name := echoed(text, fact)):
                    left[key] = name
        if not left:
            return ""
        words = sorted(left.values())
        shown = shlex.quote(mask(max(words, key=words.count)).text)
        verb, them = ("names", "it") if len(left) == 1 else ("name", "them")
        more = f"{counted(len(left), 'other message')} still {verb} it in part"
        return f"{more}: `vaultmind forget --everywhere {shown}` shows and erases {them}."

    def finds(self, write: MemoryWrite) -> bool:
        """Tell whether messages that are not hidden say what is to be forgotten."""
        words = write.text
        says = (
            says_words(text, words)
            for ref, text in self._near(write.agent, words)
            if not self._tombstones.hides(*key_of(ref))
        )
        return any(says)

    def _unfound(self, agent: str, outcome: Outcome, words: str, here: str) -> str:
        """Return what to tell where neither a fact nor a message says some words."""
        if here:
            return f"No fact says {quoted(words)}. It stands {here}"
        if mentioned := self._mentioned(agent, words):
            verb = "mentions" if mentioned == 1 else "mention"
            more = f"{counted(mentioned, 'message')} {verb} it. To hide what was said, give two"
            return f"{outcome.message} {more} words or more of it."
        if not outcome.nearest:
            return f"Nothing in {agent}'s memory says {quoted(words)}."
        return outcome.message

    def _hide_words(self, write: MemoryWrite, edit: Edit) -> Hid:
        """Hide what of the agent's own says some words that no fact says."""
        agent, words = write.agent, write.text
        if is_specific(words):
            said: Iterable[Ref] = all_that_said(self._kinds, agent, [Fact(words, None)], edit)
        else:
            said = (ref for ref, text in self._near(agent, words) if says_words(text, words))
        return self.hide(ref for ref in said if ref.agent == agent)

    def _mentioned(self, agent: str, words: str) -> int:
        """Return how many messages that are not hidden hold some words."""
        return sum(
            mentions(text, words) and not self._tombstones.hides(*key_of(ref))
            for ref, text in self._near(agent, words)
        )

    def _near(self, agent: str, words: str) -> Iterable[tuple[Ref, str]]:
        return (found for kind in self._kinds for found in kind.near(agent, words))

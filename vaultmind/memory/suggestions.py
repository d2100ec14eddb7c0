"""Suggestions.md: what waits for the person's approval, as tasks to tick, and what they answer.

    - [ ] **main** wants to remember: Prefers short answers %%{"op":"remember",…}%% ^s-k3f9
        - why: said twice
        - 2026-02-20 10:00, [[VaultMind/…/2026-02-20_001#^m7|the message]]

`[x]` accepts, `[-]` rejects. What counts is the text after the colon as it stands when it is
ticked: the person may have changed it; all else stands in the comment, and a task without one is
the person's own. A settled one leaves the file, and the log tells of it; a rejected one is not made
again. Every line that is not ours stays where it is, newlines and byte order mark too.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from vaultmind.errors import (
    DamagedMemory,
)
from vaultmind.memory.audit import FOUND
from vaultmind.memory.brain import PlacedFact, block_ids, new_block, parse_brain
from vaultmind.memory.words import saying
from vaultmind.types import SECTIONS, Caller, MemoryWrite, MessageRef, Section
from vaultmind.vault.bullets import HEADING, MARKER, plain, prose
from vaultmind.vault.edits import newline_of, with_newlines
from vaultmind.vault.oneline import escape, one_line, unescape
from vaultmind.vault.paths import AGENT_NAME, VaultPaths

Op = Literal["remember", "replace", "forget"]
OPS: tuple[Op, ...] = ("remember", "replace", "forget")


@dataclass(frozen=True, slots=True)
class Words:
    """What Suggestions.md says in one language."""

    title: str
    intro: str
    waiting: str
    verbs: tuple[str, str, str]
    """In the order of `OPS`."""
    into: str
    """Whose memory, where it is not the one's who asks."""
    instead: str
    """Before the fact that a correction takes the place of."""
    why: str
    message: str
    failed: str
    """Begins the line under an accepted suggestion that could not be applied."""
    again: str

    def label(self, op: Op, caller: str, agent: str) -> str:
        """Return the beginning of a task: who wants to do what, and in whose memory."""
        into = f" {self.into.format(agent)}" if caller != agent else ""
        return f"**{caller}** {self.verbs[OPS.index(op)]}{into}"


WORDS = {
    "en": Words(
        "Suggestions",
        "Tick `[x]` to accept a suggestion, write `[-]` to reject it. You may change its words "
        "first: what stands in the task is what is kept.",
        "Waiting",
        ("wants to remember", "wants to correct", "wants to forget"),
        "in **{}**'s memory",
        "instead of",
        "why",
        "the message",
        "could not be applied",
        "Change its words if they are wrong, and tick it again.",
    ),
    "pl": Words(
        "Sugestie",
        "Zaznacz `[x]`, aby przyjąć sugestię, wpisz `[-]`, aby ją odrzucić. Najpierw możesz "
        "zmienić jej słowa: zapisane zostanie to, co stoi w zadaniu.",
        "Czekają",
        ("chce zapamiętać", "chce poprawić", "chce zapomnieć"),
        "w pamięci **{}**",
        "zamiast",
        "dlaczego",
        "wiadomość",
        "nie udało się zastosować",
        "Zmień słowa, jeśli są błędne, i zaznacz ponownie.",
    ),
    "ru": Words(
        "Предложения",
        "Отметьте `[x]`, чтобы принять предложение, поставьте `[-]`, чтобы отклонить. Слова можно "
        "сначала изменить: сохранится то, что стоит в задаче.",
        "Ожидают",
        ("хочет запомнить", "хочет исправить", "хочет забыть"),
        "в памяти **{}**",
        "вместо",
        "почему",
        "сообщение",
        "не удалось применить",
        "Измените слова, если они неверны, и отметьте снова.",
    ),
}


def words_of(language: str) -> Words:
    """Return the words of a language; English for one we do not write."""
    return WORDS.get(language, WORDS["en"])


ID_START = "s-"
PER_SESSION, AT_ONCE = 5, 25
"""So many suggestions of extraction wait at most: of one conversation, and of all."""

State = Literal["waiting", "accepted", "rejected"]

_META = re.compile(r"%%(\{.*?\})%%")
_FAILED = "%%failed%%"
"""Ends the line that says why a ticked suggestion could not be applied."""
_BOX = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(.)\]")
_BLANK = "\ufeff \t\r\n"
_HIDDEN = "Suggestions.md holds an open comment or code that hides every line."


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change that an agent would like to make, and all that is needed to make it."""

    id: str
    """Its block id: `s-k3f9`."""
    op: Op
    agent: str
    """Whose memory."""
    caller: Caller
    text: str
    old: str = ""
    """For `replace`: the words of the fact that goes."""
    section: Section | None = None
    evidence: MessageRef | None = None
    how: str = "said"
    reason: str = ""
    time: str = ""
    """ISO 8601 with an offset."""

    def write(self, caller: Caller | None = None) -> MemoryWrite:
        """Return the change as a write: by the one who suggested it, or by another caller."""
        names = ("op", "agent", "text", "old", "section", "evidence", "how", "reason")
        return MemoryWrite(
            caller=caller or self.caller, **{name: getattr(self, name) for name in names}
        )


@dataclass(frozen=True, slots=True)
class Listed:
    """A suggestion as it stands in the file, in the person's words where they changed it."""

    suggestion: Suggestion
    state: State
    start: int
    """Of its first line, in the text."""
    end: int
    """Of the last line under it, without the newline."""
    meta: dict[str, Any]
    """What its comment says."""

    @property
    def is_due(self) -> bool:
        """Tell whether the person ticked or rejected it."""
        return self.state in ("accepted", "rejected")

    def means(self, other: Suggestion) -> bool:
        """Tell whether it is, or was before a person changed its words, the same suggestion."""
        mine = self.suggestion
        if (mine.op, mine.agent) != (other.op, other.agent):
            return False
        if self.meta.get("was") == _was(mine.id, other):
            return True
        same_old = not mine.old or saying(mine.old) == saying(other.old)
        return same_old and saying(mine.text) == saying(other.text)


@dataclass(frozen=True, slots=True)
class Put:
    """What became of a suggestion: new, or needless because it waits already or was rejected.

    `full`: extraction has suggested so much that one more would hide the rest.
    """

    state: Literal["new", "waiting", "rejected", "full"]
    id: str = ""


# --- the file's text ----------------------------------------------------------------------


@lru_cache(maxsize=8)
def parse(text: str) -> tuple[Listed, ...]:
    """Return every suggestion of the file. Lenient; never raises."""
    return tuple(one for placed in parse_brain(text).facts if (one := _listed(placed, text)))


def suggestion_of(write: MemoryWrite, suggestion_id: str, time: str) -> Suggestion:
    """Return the suggestion that asks for a write. The texts must be safe to store."""
    return Suggestion(
        suggestion_id, write.op, write.agent, write.caller, one_line(write.text),
        one_line(write.old), write.section, write.evidence, write.how, one_line(write.reason), time,
    )  # fmt: skip


def known(text: str, suggestion: Suggestion) -> Put:
    """Return whether a suggestion is new to the file, or what makes it needless."""
    listed = parse(text)
    for one in listed:
        if one.means(suggestion):
            return Put("waiting", one.suggestion.id)
    found = [one.suggestion for one in listed if one.suggestion.how in FOUND]
    found = found if suggestion.how in FOUND else []
    same = sum(_source(one) == _source(suggestion) for one in found)
    is_full = same >= PER_SESSION or len(found) >= AT_ONCE
    return Put("full") if is_full else Put("new", suggestion.id)


def _source(one: Suggestion) -> tuple[str, str]:
    """Return the conversation that a suggestion comes from."""
    return (one.evidence.agent, one.evidence.session) if one.evidence else (one.agent, "")


def _listed(placed: PlacedFact, text: str) -> Listed | None:
    """Return a task as a suggestion; None for a line of the person's own."""
    first = text[placed.start : placed.tree_end].split("\n", maxsplit=1)[0]
    meta = _meta(first)
    op = next((one for one in OPS if one == meta.get("op")), None)
    agent, by = (meta.get(key) if _is_agent(meta.get(key)) else "" for key in ("agent", "by"))
    if op is None or not agent or not by or meta.get("settled"):  # earlier versions kept those
        return None
    shown = unescape(plain(MARKER.sub("", first, count=1))[0])
    label, colon, said = shown.partition(": ")
    ref = meta.get("evidence")
    is_ref = isinstance(ref, list) and [type(one) for one in ref] == [str] * 4
    suggestion = Suggestion(
        placed.fact.block or str(meta.get("id", "")), op, agent,
        Caller("agent", by, str(meta.get("client", ""))),
        one_line(said if colon else "" if label.endswith(":") else shown),
        one_line(str(meta.get("old", ""))),
        next((one for one in SECTIONS if one == meta.get("section")), None),
        MessageRef(*ref) if is_ref and isinstance(ref, list) else None,
        str(meta.get("how", "said")), one_line(str(meta.get("why", ""))), str(meta.get("time", "")),
    )  # fmt: skip
    box = _BOX.match(first)
    marks: dict[str, State] = {"x": "accepted", "-": "rejected"}
    state = marks.get(box[1].lower() if box else " ", "waiting")
    return Listed(suggestion, state, placed.start, placed.tree_end, meta)


def _meta(line: str) -> dict[str, Any]:
    match = _META.search(line)
    try:
        value = json.loads(match[1]) if match else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def new_id(text: str, rng: random.Random) -> str:
    """Return a fresh id for a suggestion in this text."""
    return ID_START + new_block({one.removeprefix(ID_START) for one in block_ids(text)}, rng)


def add(text: str, one: Suggestion, paths: VaultPaths, language: str = "en") -> str:
    """Return the text with a suggestion at the end of those that wait.

    The text itself where the same one waits or was rejected. Raises DamagedMemory where a
    person's open comment or code would hide it.
    """
    if known(text, one).state != "new":
        return text
    words = _words_in(text, language)
    below = [f"{words.instead}: “{escape(one.old)}”"] if one.op == "replace" else []
    below += [f"{words.why}: {escape(one.reason)}"] if one.reason else []
    ref, when = one.evidence, [one.time[:16].replace("T", " ")] if one.time else []
    if ref:
        path = paths.session(ref.agent, ref.session).removesuffix(".md")
        block = f"#^{ref.block}" if ref.block else ""
        when.append(f"[[{path}{block}|{words.message}]]")
    below += [", ".join(when)] if when else []
    meta = {
        "op": one.op, "agent": one.agent, "by": one.caller.agent,
        "client": one_line(one.caller.client), "section": one.section, "how": one.how,
        "time": one.time, "evidence": [ref.agent, ref.session, ref.block, ref.id] if ref else None,
        "old": one.old, "why": one.reason, "was": _was(one.id, one),
    }  # fmt: skip
    label = words.label(one.op, one.caller.name, one.agent)
    task = f"- [ ] {label}: {escape(one.text)} {_comment(meta)} ^{one.id}"
    item = "\n".join((task, *(f"    - {line}" for line in below)))
    return _placed(_introduced(text, words), words.waiting, item)


def remove(text: str, ones: Sequence[Listed]) -> str:
    """Return the text without some suggestions and what stands under them."""
    for one in sorted(ones, key=lambda each: each.start, reverse=True):
        text = _without(text, one)
    return text


def tell(text: str, one: Listed, reason: str) -> str:
    """Return the text with a suggestion unticked, and a line under it that says why."""
    words = _words_in(text, "en")
    first, *below = [line.rstrip("\r") for line in text[one.start : one.end].split("\n")]
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    first = _BOX.sub(lambda m: m[0].replace(f"[{m[1]}]", "[ ]"), first, count=1)
    told = escape(one_line(reason)).rstrip(".")
    why = f"{indent}    - {words.failed}: {told}. {words.again} {_FAILED}"
    lines = [first, *(line for line in below if _FAILED not in line), why]
    item = with_newlines("\n".join(lines), newline_of(text))
    return text[: one.start] + item + text[one.end :]


def erase(text: str, says: Callable[[str], bool]) -> str:
    """Return the text without each suggestion of which any line says so.

    `says` gets each line of an item as a reader sees it, and its texts. Lines that a person
    put under it go too.
    """
    for one in reversed(parse(text)):
        lines = text[one.start : one.end].split("\n")
        shown = [unescape(plain(MARKER.sub("", line, count=1))[0]) for line in lines]
        texts = (one.suggestion.text, one.suggestion.old, one.suggestion.reason)
        if any(says(line) for line in (*shown, *texts) if line):
            text = _without(text, one)
    return text


def warn(text: str, note: str, language: str = "en") -> str:
    """Return the text with a note for the person at its end."""
    newline = newline_of(text)
    start = _introduced(text, _words_in(text, language)).rstrip("\r\n")
    return f"{start}{newline}{newline}{with_newlines(note, newline)}{newline}"


def _without(text: str, one: Listed) -> str:
    stop = text.find("\n", one.end)
    return text[: one.start] + (text[stop + 1 :] if stop >= 0 else "")


def _placed(text: str, title: str, item: str) -> str:
    """Return the text with an item at the end of the part of that title, made where it is missing.

    Raises DamagedMemory where the item could not be read again.
    """
    heads = _headings(text)
    own = {words.waiting for words in WORDS.values()}
    at = next((i for i, (_, name) in enumerate(heads) if name in own), None)
    if at is not None:
        new = _insert(text, heads[at + 1][0] if at + 1 < len(heads) else len(text), item)
    else:
        settled = {"Settled", "Rozstrzygnięte", "Решённые"}  # earlier versions had such a part
        place = next((start for start, name in heads if name in settled), len(text))
        new = _insert(text, place, f"## {title}\n\n{item}")
    if len(parse(new)) != len(parse(text)) + len(parse(item)):
        raise DamagedMemory(_HIDDEN)
    return new


def _insert(text: str, at: int, item: str) -> str:
    """Return the text with an item after the last line before `at`, a heading's or the end."""
    newline = newline_of(text)
    last_end = len(text[:at].rstrip("\r\n \t"))
    stop = text.find("\n", last_end, at)
    head, tail = (text[:at], text[at:]) if stop < 0 else (text[: stop + 1], text[stop + 1 :])
    if head.strip(_BLANK):
        head += "" if head.endswith("\n") else newline
        last = text[text.rfind("\n", 0, last_end) + 1 : last_end]
        head += "" if MARKER.match(last) and MARKER.match(item) else newline
    gap = newline if tail and not tail.startswith(("\n", "\r\n")) else ""
    return head + with_newlines(item, newline) + newline + gap + tail


def _introduced(text: str, words: Words) -> str:
    """Return the text with the first words of a file that holds none yet."""
    if text.strip(_BLANK):
        return text
    return text.rstrip(" \t\r\n") + f"# {words.title}\n\n{words.intro}\n"


def _headings(text: str) -> list[tuple[int, str]]:
    return [
        (start, plain(match.group(1))[0])
        for start, _, line in prose(text)
        if (match := HEADING.match(line))
    ]


def _words_in(text: str, language: str) -> Words:
    """Return the words in the language of a file's headings, else in one."""
    titles = {title for _, title in _headings(text)}
    for words in WORDS.values():
        if {words.title, words.waiting} & titles:
            return words
    return words_of(language)


def _comment(values: dict[str, Any]) -> str:
    kept = {key: value for key, value in values.items() if value}
    raw = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    return "%%" + raw.replace("%", "\\u0025") + "%%"


def _is_agent(value: object) -> bool:
    return isinstance(value, str) and AGENT_NAME.fullmatch(value) is not None


def _was(salt: str, one: Suggestion) -> str:
    """Return a salted digest of a suggestion's words, which outlives an erasure of them."""
    return _hash((salt, one.op, one.agent, *saying(one.text), "\0", *saying(one.old)))


def _hash(parts: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:16]

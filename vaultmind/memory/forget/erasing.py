r"""Erasing: everything that says a thing is taken out of every file and index, then looked for.

In the order: messages, summaries, runs, suggestions, copies, audit texts, facts, then logs and the
index. What the rest is found by goes last, so that an erasure which was killed in the middle is
finished by doing it again. The search after it, by text, by meaning and over raw bytes, is the
answer.

What takes it out of a file is pure, from text to text. A kind of record that comes later adds one
line where the gate is made:
`erasables=(*ERASABLES, Erasable("plans", r"agents/.*/plans/.*\.md", without_sentences))`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vaultmind import errors
from vaultmind.language.words import SOFT, bare, content, fold
from vaultmind.memory.audit import ERASED, newest_first, refs_of
from vaultmind.memory.brain import cut, parse_brain
from vaultmind.memory.forget.hiding import without_sources
from vaultmind.memory.match import Wanted, find
from vaultmind.memory.rights import only_person
from vaultmind.plural import counted
from vaultmind.ports import IndexErasing, Report, silent
from vaultmind.redact import mask
from vaultmind.types import Caller, MessageRef, Progress
from vaultmind.vault.files import TEMP_PREFIX, FileText, line_span
from vaultmind.vault.oneline import short
from vaultmind.vault.parts import BLOCK_AT_END, COMMENT, MARKER, Part, parts, plain
from vaultmind.vault.paths import SESSION_ID
from vaultmind.vault.properties import front_matter, set_property
from vaultmind.vault.transcript import ERASED_SOURCE, erased_line, parse_session, render_message

if TYPE_CHECKING:
    from vaultmind.memory.gate import Gate

_NAMES = ("agent", "caller", "client", "path", "evidence", "hidden", "shown", "role", "time")
"""Keys of what is no text."""
_NAMED_BELOW = r"(?:[ \t]*\r?\n)*[ \t]*\^{}[ \t]*(?:\r?\n|$)"


EXCERPT = 90
"""Characters of a text that a preview shows."""
CANDIDATES = 200
"""Chunks of the full text that are looked at afterwards."""
MOST_NEAR, NEAR_TEXTS = 10, 8
"""Passages of nearly the same meaning that are told, and wordings whose meaning is searched for."""
_WORD_BELOW = 6
"""Letters: shorter wordings are looked for as whole words."""
_BLOCK_BYTES = 4 << 20
_OWN_NOTES = (".md", ".canvas", ".txt")
_UNSEARCHED = frozenset({".git", "node_modules"})
IN_STATE = "index and log"
"""How the files of the state folder are called among what is found."""


Without = Callable[[str, str, Wanted], str]
"""Returns a file's text without what says what is wanted; takes the text, and its path."""


@dataclass(frozen=True, slots=True)
class Erasable:
    """A kind of record."""

    name: str
    """What it is called in a preview, in the plural: `messages`."""
    files: str
    """A pattern of its files' paths, relative to the memory folder; the first kind that fits has
    a file."""
    without: Without
    last: bool = False
    """Whether it goes after all others: what they are found by stays until they are gone."""


# --- any Markdown -------------------------------------------------------------------------


def without_sentences(text: str, path: str, wanted: Wanted) -> str:
    """Return a summary, or any Markdown, without the sentences that say it.

    A paragraph or an item of which nothing is left goes whole, with its block id, and so does
    one that was hidden for it.
    """
    text = without_properties(text, wanted)
    limit = len(text)
    for part in reversed(parts(text)):
        end, meant = part.start + len(part.text), wanted.means(path, part.block)
        if end <= limit and (meant or wanted.says(part.text)):
            limit = part.start
            left = "" if meant else _cut(part.text, wanted)
            text = text[: part.start] + left + text[end:] if left else _without_part(text, part)
    return without_lines(text, wanted)


def without_lines(text: str, wanted: Wanted, seen: str = "") -> str:
    """Return a text without lines that say it; `seen` has other lines in the place of some."""
    pairs = zip(text.split("\n"), (seen or text).split("\n"), strict=True)
    return "\n".join(line for line, shown in pairs if not wanted.says(shown))


def without_properties(text: str, wanted: Wanted) -> str:
    """Return a text whose front matter does not say it: items of lists go, or the property."""
    found = front_matter(text)
    if found is None or found.fault:  # broken front matter: its lines go one by one
        return text
    for key, value in found.properties.items():
        if wanted.says(_said(value)):
            items = value if isinstance(value, list) else []
            kept = [str(one) for one in items if not wanted.says(_said(one))]
            left = [] if wanted.says(_said(kept)) else kept
            none = ERASED_SOURCE if key == "source" else None
            with suppress(errors.BadArgument):  # a name that cannot be written
                text = set_property(text, key, left if isinstance(value, list) else none)
    return text


def _said(value: object) -> str:
    """Return what a property says, on one line."""
    if isinstance(value, str):
        return value
    return re.sub(r"\\[nrt]", " ", json.dumps(value, ensure_ascii=False, default=str))


def _cut(body: str, wanted: Wanted) -> str:
    """Return a part without the sentences that say it; empty if little stays."""
    if body[:1] in (">", "|"):
        left = without_lines(body, wanted)
    else:
        mark, named = MARKER.match(body), BLOCK_AT_END.search(body)
        head, tail = mark.end() if mark else 0, named.start() if named else len(body)
        said = body[head:tail]
        for start, end in reversed(wanted.spans(said)):
            after = said[end:].lstrip()
            said = said[:start] + after if after else said[:start].rstrip()
        left = body[:head] + said + body[tail:]
    shown = without_sources(plain(MARKER.sub("", left, count=1))[0])
    return left if not wanted.says(left) and any(map(str.isalnum, shown)) else ""


def _without_part(text: str, part: Part) -> str:
    """Return the text without a part's lines, its block id below it, and a second blank line."""
    first, stop = line_span(text, part.start, part.start + len(part.text))
    if part.block:
        below = re.compile(_NAMED_BELOW.format(re.escape(part.block))).match(text, stop)
        stop = below.end() if below else stop
    return cut(text, first, stop)


# --- kinds of record ----------------------------------------------------------------------


def without_messages(text: str, path: str, wanted: Wanted) -> str:
    """Return a session with a marker in the place of the words of each message that says it.

    The callout with its title, comment and block id stays, all else to the byte; the speaker's
    name goes where it is what is wanted. So do topics, and lines that are no message.
    """
    text = without_properties(text, wanted)
    for placed in reversed(parse_session(text).messages):
        one = placed.message
        if one.text and (wanted.means(path, one.block, one.id) or wanted.says(one.text)):
            marker = erased_line(wanted.today)
            text = text[: placed.text_start] + marker + text[placed.text_end :]
        if one.speaker and wanted.says(one.speaker):
            title = render_message(replace(one, speaker="")).partition("\n")[0]
            text = text[: placed.start] + title + text[text.find("\n", placed.start) :]
    seen = text
    for placed in reversed(parse_session(text).messages):
        lines = "\n" * text.count("\n", placed.start, placed.end)
        seen = seen[: placed.start] + lines + seen[placed.end :]
    return without_lines(text, wanted, seen)


def without_bullets(text: str, path: str, wanted: Wanted) -> str:
    """Return a brain, or Suggestions.md, without each item that says it, and the lines under it."""
    for one in reversed(parse_brain(text).facts):
        if wanted.says(f"{text[one.start : one.end]}\n{one.fact.text}\n{one.fact.quote}"):
            now = next(it for it in parse_brain(text).facts if it.start == one.start)
            text = cut(text, now.start, now.tree_end)
    return without_sentences(text, path, wanted)


def without_values(text: str, path: str, wanted: Wanted) -> str:
    """Return JSON Lines with a marker for each text in them that says it; names stay."""

    def marked(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, list):
            return [marked(one) for one in value]
        if isinstance(value, dict):
            return {key: one if key in _NAMES else marked(one) for key, one in value.items()}
        is_said = isinstance(value, str) and wanted.says(value)
        return f"{ERASED}{wanted.today})" if is_said else value

    lines = text.split("\n")
    for number, line in enumerate(lines):
        try:
            value = json.loads(line)
            new = marked(value)
        except (ValueError, RecursionError):
            value, new = line, {"erased": wanted.today} if wanted.says(line) else line
        if new != value:
            lines[number] = json.dumps(new, ensure_ascii=False) + "\r" * line.endswith("\r")
    return "\n".join(lines)


_OWN = "agents/[^/]+/memory"
_TEMP = re.escape(TEMP_PREFIX)
ERASABLES: tuple[Erasable, ...] = (
    Erasable("messages", rf"{_OWN}/sessions/{SESSION_ID.pattern}\.md", without_messages),
    Erasable("summaries", rf"{_OWN}/(summaries/.*|active_context)\.md", without_sentences),
    Erasable("scheduler runs", r"conversations/.*\.jsonl", without_values),
    Erasable("suggestions", r"(Suggestions|Overview).*\.md", without_bullets),
    Erasable("audit texts", rf"{_OWN}/audit-.*\.jsonl", without_values, last=True),
    Erasable("facts", rf"{_OWN}/brain(_archive)?\.md", without_bullets, last=True),
)
OTHERS = (
    Erasable("copies", rf"{_OWN}/.*(\.(md|txt)|\.damaged-.*|{_TEMP}[^/]*)", without_sentences),
    Erasable("copies", rf"{_OWN}/(?!(.*/)?tombstones-).*\.jsonl", without_values),
)
"""What no other kind claims: conflict copies of a sync, files that a person put there, and what
writes that were cut short left behind."""


# --- an erasure ---------------------------------------------------------------------------

Outcome = Literal["found", "erased", "partial", "not_found"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where it stands, or stood."""

    path: str
    excerpt: str = ""
    why: str = ""
    """The kind of record, why it is left, or how near in meaning it is."""
    place: str = ""
    """`^m7`, `line 12`, `front matter`."""


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure would remove (`found`), or what it came to as the search after it says."""

    outcome: Outcome
    counts: dict[str, int]
    """How many of each kind."""
    found: tuple[Place, ...]
    yours: tuple[Place, ...]
    """The person's own files that hold it: notes, and what they wrote into the memory folder."""
    seal: str
    """A mark of what was found: the same finds have the same one."""
    message: str
    left: tuple[Place, ...] = ()
    """Where it still stands: the erasure is partial."""
    near: tuple[Place, ...] = ()
    """Passages that mean nearly the same, in other words; `why` is the cosine."""


Item = tuple[Erasable, str, tuple[tuple[str, str], ...]]
"""A kind of record, a file of it, and each place that is to be taken out: `line 12`, its text."""


class Erasing:
    """Previews and does erasures, one at a time. Used by the gate alone."""

    def __init__(self, gate: Gate) -> None:
        self._gate, self._paths, self._state_dir = gate, gate.paths, gate.settings.state_dir
        self._kinds = (*gate.settings.erasables, *OTHERS)
        self._lock = threading.Lock()

    def preview(self, text: str, caller: Caller) -> Erased:
        """Return what would be removed: what says some words, or a fact by its id (`^k3f9`).

        Raises NotAllowed, BadArgument, NotFound.
        """
        return self._look(text, caller)[2]

    def erase(
        self, text: str, caller: Caller, index: IndexErasing, seal: str = "",
        report: Report = silent,
    ) -> Erased:  # fmt: skip
        """Remove it, search for it, and return what the search found.

        `seal`: of the preview that was confirmed; what was found may not have changed since.
        Raises NotAllowed for every caller but the person; WriteConflict where something else
        would go than the preview showed, BadArgument, NotFound: then nothing was touched.
        """
        with self._lock:
            wanted, items, seen = self._look(text, caller)
            if seal not in ("", seen.seal):
                raise errors.WriteConflict(
                    "What would be erased has changed since it was shown.",
                    hint="Nothing was erased; look at it again.",
                )
            index.begin()
            left = dict[str, Place]()
            for number, (kind, path, _) in enumerate(items):
                report(Progress(number, len(items), kind.name))
                try:
                    self._take(kind, path, wanted)
                except errors.VaultMindError as error:
                    left[path] = Place(path, why=error.message)
            self._empty_logs(wanted)
            for fault in index.scrub([path for _, path, _ in items]).faults:
                left[fault] = Place("the index", why=fault)
            for place in self._left(wanted, seen, index):
                left.setdefault(place.path, place)
            done = "" if not left else ", incomplete"
            for agent in self._paths.agent_names():
                own = (taken for _, path, taken in items if self._paths.agent_of(path) == agent)
                if places := sum(map(len, own)):
                    reason = f"{counted(places, 'place')}{done}"
                    self._gate.audit.note(caller, agent, "erase", "written", reason=reason)
            return _told(wanted, seen, tuple(left.values()), index)

    def _take(self, kind: Erasable, path: str, wanted: Wanted) -> None:
        """Take it out of one file, as it stands then; its messages are hidden for good first."""

        def change(file: FileText | None) -> str | None:
            if file is None:
                return None
            new = kind.without(file.text, path, wanted)
            agent, record = self._paths.agent_of(path), Path(path).stem
            said = (one.message for one in parse_session(new).messages)
            gone = (MessageRef(agent, record, one.block, one.id) for one in said if one.erased)
            self._gate.hiding.hide(gone, erased=True)
            return new

        self._gate.edit(path, change)

    # --- what would go --------------------------------------------------------------------

    def _look(self, words: str, caller: Caller) -> tuple[Wanted, list[Item], Erased]:
        """Return what is wanted, what would go for it, and the same as the person is told it.

        Raises BadArgument for words that say nothing, NotFound for an id that no fact has.
        """
        only_person(caller, "erase anything")
        wanted = self._meant(words)
        items = list(self._items(wanted))
        yours = tuple(
            Place(path, excerpt(text, wanted))
            for path, kind in self._files()
            if kind is None and wanted.says(text := self._own_text(path))
        )
        found = [
            Place(path, excerpt(text, wanted), kind.name, place)
            for kind, path, taken in items
            for place, text in taken
        ]
        marks = [wanted.texts, [(path, taken) for _, path, taken in items]]
        seal = hashlib.sha256(json.dumps(marks).encode()).hexdigest()[:16]
        if self._in_state(wanted, yours):
            found.append(Place("the state folder", why=IN_STATE))
        counts = dict(Counter(one.why for one in found))
        said = "Nothing in memory mentions it."
        if found:
            files = counted(len({one.path for one in found}), "file")
            said = f"To be erased from {files}: {_counts(counts)}. This cannot be undone."
        said += _own(yours)
        outcome: Outcome = "found" if found else "not_found"
        return wanted, items, Erased(outcome, counts, tuple(found), yours, seal, said)

    def _meant(self, words: str) -> Wanted:
        """Return what is wanted: the words, the facts they mean, and the messages these are of."""
        text, agents = " ".join(words.split()), self._paths.agent_names()
        files = ((self._paths.brain(one), self._paths.archive(one)) for one in agents)
        facts = [
            [it for one in own for it in parse_brain(self._gate.text(one)).all()] for own in files
        ]
        meant = [own[at].text for own in facts for at in find(own, text).found]
        texts = meant if text.startswith("^") else [text, *meant]
        if not texts:
            raise errors.NotFound(f"No fact has the id {text}.")
        if all(word.folded in SOFT for one in texts for word in content(one)):
            raise errors.BadArgument("text", words, "words that say what to erase")
        says = Wanted(texts).says
        refs = [it.evidence for own in facts for it in own if it.evidence and says(it.text)]
        for line in newest_first(self._paths, agents):
            if says(line.before) or says(line.after):
                refs += refs_of((line.evidence, *line.hidden))
        named = ((self._paths.link(replace(one, block="")), one.block, one.id) for one in refs)
        return Wanted(texts, named, self._gate.clock().date().isoformat())

    def _items(self, wanted: Wanted) -> Iterator[Item]:
        """Yield the files that say it, each with what is to be taken out, in the order to go."""
        files = [(kind, path) for path, kind in self._files() if kind]
        for kind, path in sorted(files, key=lambda one: one[0].last):
            text = self._gate.text(path)
            near = path.removesuffix(".md") in wanted.refs or wanted.may_be_in(text)
            if (near or "\\u" in text) and (new := kind.without(text, path, wanted)) != text:
                yield kind, path, _taken(text, new)

    def _files(self) -> Iterator[tuple[str, Erasable | None]]:
        """Yield the vault's files, each with its kind of record; with None the person's own."""
        memory = f"{self._paths.memory_dir}/"
        for where, folders, names in os.walk(self._paths.root):
            folders[:] = sorted(one for one in folders if one not in _UNSEARCHED)
            for file in (Path(where, name) for name in sorted(names)):
                path = self._paths.relative(file)
                inside = path.removeprefix(memory) if path.startswith(memory) else ""
                kind = next((it for it in self._kinds if re.fullmatch(it.files, inside)), None)
                own = (*_OWN_NOTES, ".toml", ".json") if inside else _OWN_NOTES
                if file.is_file() and not file.is_symlink() and (kind or path.endswith(own)):
                    yield path, kind

    def _own_text(self, path: str) -> str:
        """Return the text of a person's file, odd bytes and all; empty where there is none."""
        with suppress(errors.PathRefused, OSError):
            return self._paths.absolute(path).read_text("utf-8", "replace")
        return ""

    # --- what is left ---------------------------------------------------------------------

    def _left(self, wanted: Wanted, seen: Erased, index: IndexErasing) -> Iterator[Place]:
        """Yield what still says it, in the memory, the index and the state folder."""
        for _, path, taken in self._items(wanted):
            yield Place(path, excerpt(taken[0][1], wanted), "it is still in the file")
        stays = {place.path for place in seen.yours}
        for text in wanted.texts:
            for chunk in index.saying(text, CANDIDATES):
                if chunk.path not in stays and wanted.says(chunk.text):
                    yield Place(chunk.path, excerpt(chunk.text, wanted), "it is still in the index")
            for file in search(self._paths.root / self._paths.memory_dir, text):
                if (path := self._paths.relative(file)) not in stays:
                    yield Place(path, why="its bytes contain it")
        for name in self._in_state(wanted, seen.yours):
            yield Place(name, why="its bytes contain it")

    def _empty_logs(self, wanted: Wanted) -> None:
        """Empty the state folder's logs of which a line says it; what fails is found afterwards."""
        for path in sorted(self._state_dir.glob("*.log*")) if self._state_dir else ():
            with suppress(OSError):
                if any(map(wanted.says, path.read_text("utf-8", "replace").split("\n"))):
                    path.write_bytes(b"")

    def _in_state(self, wanted: Wanted, yours: tuple[Place, ...]) -> list[str]:
        """Return files of the state folder that hold it, but for what files explain that stay."""
        top, kept = self._state_dir, [self._own_text(one.path) for one in yours]
        texts = [one for one in wanted.texts if not any(map(Wanted([one]).says, kept))]
        files = (file for one in texts for file in search(top, one)) if top else ()
        return sorted({str(file.relative_to(top)) for file in files if top})


def _taken(text: str, new: str) -> tuple[tuple[str, str], ...]:
    """Return each place that a text has and a new one has not: its first line, its words."""
    lines = text.split("\n")
    changed = SequenceMatcher(None, lines, new.split("\n"), autojunk=False).get_opcodes()
    return tuple(
        (f"line {first + 1}", "\n".join(lines[first:last]).strip())
        for kind, first, last, *_ in changed
        if kind in ("replace", "delete")
    )


def search(root: Path, text: str) -> Iterator[Path]:
    """Yield the files below a folder whose bytes hold a text: in any case, plain, as JSON."""
    forms = {form for one in (text, fold(text)) for form in (one, one.upper(), one.lower())}
    forms |= {json.dumps(one)[1:-1] for one in forms}
    needles = {one.encode("utf-8", "replace").lower() for one in forms if len(one) > 1}
    said = b"|".join(map(re.escape, sorted(needles)))
    if len(text) < _WORD_BELOW:  # a whole word
        said = rb"(?<![a-z0-9])(?:" + said + rb")(?![a-z0-9])"
    for path in sorted(root.rglob("*")) if needles else ():
        if not path.is_file() or path.is_symlink():
            continue
        with path.open("rb") as file:
            kept = b""
            while block := file.read(_BLOCK_BYTES):
                data = kept + block.lower()
                if any(one in data for one in needles) and re.search(said, data):
                    yield path
                    break
                kept = data[-max(map(len, needles)) - 1 :]


# --- in words -----------------------------------------------------------------------------


def excerpt(text: str, wanted: Wanted) -> str:
    """Return the part of a text that says what is wanted, on one short line, without secrets."""
    start, end = wanted.spans(text)[0]
    said = COMMENT.sub("", bare(text[start:end]))
    shown = mask(" ".join(said.split()).lstrip("> -")).text
    words = (word for one in wanted.texts for word in one.casefold().split())
    places = map(shown.casefold().find, sorted(words, key=len, reverse=True))
    at = max(0, next((one for one in places if one >= 0), 0) - EXCERPT // 3)
    at = at if len(shown) > EXCERPT else 0
    return "…" * bool(at) + short(shown[at:].strip(), EXCERPT)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name}: {number}" for name, number in counts.items())


def _told(wanted: Wanted, seen: Erased, left: tuple[Place, ...], index: IndexErasing) -> Erased:
    """Return what an erasure came to, by what is still there, and say it in words."""
    near = index.nearest_to(wanted.texts[:NEAR_TEXTS], MOST_NEAR)
    passages = tuple(
        Place(f"{one.path}{one.anchor}", excerpt(one.text, wanted), f"{cosine:.2f}")
        for one, cosine in near or ()
        if not wanted.says(one.text)
    )
    said = f"Erased: {_counts(seen.counts)}." if seen.found else seen.message
    if left:
        said += f" Only in part. Still in: {'; '.join(f'{one.path} ({one.why})' for one in left)}."
    else:
        looked = "text and raw bytes" if near is None else "text, meaning and raw bytes"
        said += f" A search by {looked} finds no trace of it in the memory or the index."
    said += " Meaning was not searched: no embedder is loaded." if near is None else ""
    if passages:
        said += f" {counted(len(passages), 'passage')} may say it in other words: see the list."
    said += _own(seen.yours) if seen.found else ""
    done: Outcome = "partial" if left else "erased" if seen.found else "not_found"
    return replace(seen, outcome=done, found=(), message=said, left=left, near=passages)


def _own(yours: tuple[Place, ...]) -> str:
    paths = ", ".join(place.path for place in yours)
    return f" Your own files that mention it were left alone: {paths}." if yours else ""

"""Summaries of several sessions (L1) and of several summaries (L2), as files in the vault.

What waits is read from front matter alone: a session waits for an L1 when it has been
consolidated, carries no `summarised_in` and no L1 names it, an L1 likewise for an L2. A summary's
file is written first, under a number that was never used; then its sources are marked. A kill
between the two leaves marks missing, which the next run adds. A summary is never rewritten.

Without a model a summary is whole sentences of what was said, with their speakers. Nothing is
reworded, so nothing is made up, in whatever language the conversation was held.
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from vaultmind.config.settings import LevelsConfig
from vaultmind.consolidate.extract import GAP, TO_THE_MEMORY, read_talk, statement
from vaultmind.consolidate.types import UNCLEAR, WORDS, Level, Resources, SummaryDone
from vaultmind.errors import VaultMindError, WriteConflict
from vaultmind.index.words import detect
from vaultmind.language.text import MARK, plain_sentences
from vaultmind.redact import blank_private, mask
from vaultmind.session.files import Shelf
from vaultmind.session.sentences import Sentence, read, same, shortened
from vaultmind.times import iso
from vaultmind.tokens import count
from vaultmind.types import Caller, Message
from vaultmind.vault.files import FileStat, FileText
from vaultmind.vault.oneline import escape, one_line, unescape
from vaultmind.vault.parts import BLOCK_AT_END, content_block, parts, plain
from vaultmind.vault.paths import SESSION_ID
from vaultmind.vault.properties import front_matter, set_property
from vaultmind.vault.transcript import parse_meta

# --- without a model ---------------------------------------------------------------------

SENTENCES, SESSION_TOKENS = 5, 130
"""Maximum number of sentences, and of tokens, in the summary of one conversation."""
GROUPS: dict[Level, int] = {"L1": 5, "L2": 3}
"""Maximum number of paragraphs of a summary of several sources."""
SENTENCE_TOKENS = 45
"""A longer sentence is cut to the piece that tells most, with marks."""
LENGTH_POWER = 0.3
"""Power of its tokens by which a sentence is worth less."""
REPEATED = 0.2
"""Share of a word's worth that is left once a chosen sentence has said it."""
BY_OTHERS = 0.65
"""Share of its worth that is left to a sentence that is not the user's."""
DECISION, NUMBER = 1.3, 1.2
"""What a decision, and a number, multiply a sentence's worth by."""
FEW_WORDS = 3
"""Sentences with fewer content words say little, unless they hold a number."""
_ENDED = re.compile(r"[.!?…。！？][\"'»”’)\]*_]*$")
_SHOWN_LINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
_DATED = re.compile(r"(\d{4}-\d\d-\d\d) · ")
_SPEAKS = re.compile(r"([^\W\d_][\w .'’-]{0,40}): (?=\S)")


@dataclass(frozen=True, slots=True)
class Source:
    """A session or an L1, as far as it may be recalled."""

    id: str
    started: str
    """ISO date or time."""
    pieces: tuple[Message, ...]
    """The messages of a session, the paragraphs of an L1; their ids are `<source>#<block>`."""
    ended: str = ""
    """ISO date of the last day that it speaks of."""
    path: str = ""
    stat: FileStat | None = None
    """What tells that the file has changed since it was read."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Whole sentences on one line, and the messages' keys or the marks they come from."""

    text: str
    sources: tuple[str, ...]
    """In a file `<path without .md>#<block>`."""
    block: str = ""
    """Its id in a file."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, not yet a file."""

    paragraphs: tuple[Paragraph, ...]
    """None where nothing was said that is worth it."""
    by: str = "extractive"
    """`extractive`, or a model's id."""
    notes: tuple[str, ...] = ()
    """What went wrong, in words."""

    @property
    def text(self) -> str:
        """Return its paragraphs, with an empty line between two."""
        return "\n\n".join(one.text for one in self.paragraphs)


Summarise = Callable[[Level, Sequence[Source], str, int], Summary]
"""Sums up sources in a language in at most so many tokens, links apart. It always does: where a
model cannot, `of_sources` does."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that may stand in a summary."""

    text: str
    source: str
    """Key of its message, or the mark of its piece."""
    read: Sentence
    speaker: str = ""
    date: str = ""
    """ISO date that it speaks from; empty in the summary of one conversation."""
    user: bool = True
    asks: bool = False


Quotes = Sequence[Quote]


def of_session(messages: Sequence[Message], language: str) -> Summary:
    """Return three to five sentences of a conversation; fewer where less was said."""
    quotes = _quotes(messages, language)
    found = chosen(quotes, worth_of(quotes), SESSION_TOKENS, SENTENCES)
    return Summary((_paragraph(found),) if found else ())


def of_sources(level: Level, sources: Sequence[Source], language: str, max_tokens: int) -> Summary:
    """Return a paragraph for each source, or for each few in a row, within `max_tokens`."""
    each = [quotes_of(level, one, language) for one in sources]
    worth = worth_of([quote for quotes in each for quote in quotes])
    number = min(GROUPS[level], len(sources))
    ends = [round(len(sources) * (at + 1) / number) for at in range(number)]
    paragraphs: list[Paragraph] = []
    said: list[Quote] = []
    for at, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
        among = [quote for quotes in each[start:end] for quote in quotes]
        share = (max_tokens - count("\n\n".join(p.text for p in paragraphs))) // (number - at)
        if found := chosen(among, worth, share - 2, len(among), said):
            paragraphs.append(_paragraph(found))
            said += found
    return Summary(tuple(paragraphs))


def quotes_of(level: Level, source: Source, language: str) -> list[Quote]:
    """Return the sentences of a source that may be told, in order, each with its date."""
    found = _quotes(source.pieces, language) if level == "L1" else _of_summary(source, language)
    return [replace(one, date=one.date or source.started[:10]) for one in found]


def _quotes(messages: Sequence[Message], language: str) -> list[Quote]:
    """Return the sentences of a conversation that may be told, in order."""
    found = []
    for one in read_talk(messages):
        asks, message = one.fault == "question", messages[one.at]
        is_odd = GAP in one.text or one.fault not in (None, "question")
        if is_odd or one.intent.intent in TO_THE_MEMORY:
            continue
        text = _prose(clean(one.text), asks=asks)
        sentence = read(text, language)
        if text and not sentence.is_small_talk:
            user = message.role == "user"
            speaker = message.speaker or words(language)[3 if user else 4]
            asks = asks or sentence.asks
            found.append(Quote(text, one.key, sentence, speaker, user=user, asks=asks))
    return found


def clean(text: str) -> str:
    """Return a sentence as it may stand in a summary: one line, no links, no secrets."""
    bare = mask(_SHOWN_LINK.sub(r"\1", one_line(text))).text
    return shortened(bare, SENTENCE_TOKENS)


def lined_up(quotes: Iterable[Quote]) -> str:
    """Return sentences as a paragraph; who speaks, and when, stands where it changes."""
    said: list[str] = []
    date = speaker = ""
    for one in quotes:
        lead = f"{one.date} · " if one.date and one.date != date else ""
        if one.speaker and (lead or one.speaker != speaker):
            lead += f"{one.speaker}: "
        said.append(lead + one.text)
        date, speaker = one.date or date, one.speaker
    return " ".join(said)


def words(language: str) -> Sequence[str]:
    """Return the headings of an L1 and an L2, what is told of empty talk, and two speakers."""
    return tuple(WORDS["levels"].get(language, WORDS["levels"]["en"]))


def worth_of(quotes: Quotes) -> dict[str, float]:
    """Return what each stem is worth: how rare it is among the sentences."""
    seen = Counter(stem for one in quotes for stem in set(one.read.stems))
    return {stem: math.log((1 + len(quotes)) / often) for stem, often in seen.items()}


def chosen(
    among: Quotes, worth: dict[str, float], max_tokens: int, most: int, said: Quotes = ()
) -> list[Quote]:
    """Return the sentences that tell most in few words and not twice, in their order.

    What was asked is told only where nothing else was said.

    Maximal marginal relevance (Carbonell and Goldstein 1998), with words in place of vectors.
    `said` are sentences that stand in the summary already.
    """
    covered = {stem for one in said for stem in one.read.stems}
    found: list[Quote] = []
    told = [one for one in among if not one.asks] or among
    new = [one for one in told if not any(same(one.read, other.read) for other in said)]
    pool = [one for one in new if one.read.numbers or len(set(one.read.stems)) >= FEW_WORDS] or new

    def value(one: Quote) -> float:
        stems = sorted(set(one.read.stems))
        total = math.fsum(worth[s] * (REPEATED if s in covered else 1.0) for s in stems)
        total *= 1.0 if one.user else BY_OTHERS
        total *= (DECISION if one.read.decides else 1.0) * (NUMBER if one.read.numbers else 1.0)
        return total / math.pow(count(one.text), LENGTH_POWER)

    while pool and len(found) < most:
        best = max(pool, key=value)
        more = sorted([*found, best], key=among.index)
        if count(lined_up(more)) <= max_tokens:
            found = more
            covered.update(best.read.stems)
        pool = [one for one in pool if one is not best and not same(one.read, best.read)]
    return found


def _paragraph(found: Sequence[Quote]) -> Paragraph:
    return Paragraph(lined_up(found), tuple(dict.fromkeys(one.source for one in found)))


def _prose(text: str, *, asks: bool) -> str:
    """Return a sentence with a capital and a mark at its end, without what only leads to it."""
    bare = text if asks or text.endswith(MARK) else statement(text)
    if not any(map(str.isalnum, bare)):
        return ""
    opened = bare[:1].upper() + bare[1:]
    return opened if _ENDED.search(opened) else f"{opened}."


def _of_summary(source: Source, language: str) -> Iterator[Quote]:
    """Yield the sentences of an L1, each with the speaker and the date that stand before it."""
    for piece in source.pieces:
        speaker = date = ""
        for sentence in plain_sentences(_SHOWN_LINK.sub(r"\1", piece.text)):
            text = sentence
            if dated := _DATED.match(text):
                date, speaker, text = dated[1], "", text[dated.end() :]
            if spoken := _SPEAKS.match(text):
                speaker, text = spoken[1], text[spoken.end() :]
            bare = read(clean(text), language)
            if bare.text and not bare.is_small_talk:
                yield Quote(bare.text, piece.id, bare, speaker, date)


# --- files -------------------------------------------------------------------------------

LEVELS: tuple[Level, ...] = ("L1", "L2")
SOURCES: dict[Level, str] = {"L1": "sessions", "L2": "l1_summaries"}
"""The property that names what a summary is made of."""
SAMPLE = 60
"""Number of messages by which the language of a summary is told."""

_ID = re.compile(r"L[12]_\d{3,18}")
_LINK = re.compile(r"\[\[([^\[\]|#]+)(?:#\^?([^\[\]|]*))?(?:\|[^\[\]]*)?\]\]")
_OUR_LINKS = re.compile(r"(?: \[\[[^\[\]|]+\|source\]\])+$")
log = logging.getLogger(__name__)


# --- the file ------------------------------------------------------------------------------


def paragraphs_of(text: str) -> tuple[Paragraph, ...]:
    """Return the paragraphs and list items of a summary's file, in order."""
    found = []
    for one in parts(text):
        body = BLOCK_AT_END.sub("", one.text) if one.block else one.text
        ours = _OUR_LINKS.search(body)
        shown = unescape(body[: ours.start()]) if ours else plain(body)[0]
        links = _LINK.findall(ours.group() if ours else body)
        marks = tuple(f"{path.strip()}#{block}" for path, block in links)
        found.append(Paragraph(shown, marks, one.block))
    return tuple(found)


def lines_of(paragraphs: Sequence[Paragraph], paths: dict[str, str]) -> list[str]:
    """Return paragraphs as they stand in a file; `paths` are those of the sources, by id."""
    found = []
    for one in paragraphs:
        marks = (mark.partition("#") for mark in one.sources)
        links = dict.fromkeys(
            f"[[{paths[id]}{f'#^{block}' if block else ''}|source]]" for id, _, block in marks
        )
        text = escape(one.text)
        found.append(" ".join([text, *links, f"^{content_block(unescape(text))}"]))
    return found


def _stem(path: str) -> str:
    """Return the name of the file that a link or a path is to, without folder and `.md`."""
    found = _LINK.search(path)
    return (found[1] if found else path).strip().rpartition("/")[2].removesuffix(".md")


# --- making --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Node:
    """A session or a summary, as its front matter says it stands."""

    id: str
    path: str
    mark: str
    """The summary that it says it is in."""
    is_due: bool
    """Whether this device may sum it up now."""
    sources: tuple[str, ...] = ()
    """Names of the files that a summary is made of, without folder and `.md`."""


class Levels:
    """Makes an agent's summaries. One at a time."""

    def __init__(self, with_: Resources, summarise: Summarise, settings: LevelsConfig) -> None:
        self._with = with_
        self._paths = with_.reader.paths
        self._summarise = summarise
        self._sizes = {"L1": settings.l1_sessions, "L2": settings.l2_summaries}
        self._tokens = {"L1": settings.l1_tokens, "L2": settings.l2_tokens}

    def make(self, agent: str, caller: Caller) -> list[SummaryDone]:
        """Make what is due, and add marks that a kill left out; what is there already is left.

        Raises WriteFailed, and WriteConflict where sources change all the while.
        """
        done: list[SummaryDone] = []
        for level in LEVELS:
            number, size = self._number(agent, level), self._sizes[level]
            sources, notes = self._sources(agent, level, self._waiting(agent, level, caller))
            for at in range(0, len(sources) - size + 1, size):
                id = f"{level}_{number + at // size:03d}"
                made = self._made(agent, id, sources[at : at + size], caller)
                done.append(made if at else replace(made, notes=(*made.notes, *notes)))
        return done

    # --- what is due -----------------------------------------------------------------------

    def _summaries(self, agent: str, level: Level) -> list[_Node]:
        """Return an agent's summaries of a level, the lowest number first.

        Where the front matter is broken, all that it links to counts as its sources: nothing is
        summed up twice for a mistyped quote.
        """
        found: list[_Node] = []
        for file in (self._paths.root / self._folder(agent, level)).glob("L*.md"):
            path = f"{self._folder(agent, level)}/{file.name}"
            if not _ID.fullmatch(file.stem):
                continue
            try:
                text = self._with.reader.read(path).text
            except VaultMindError as error:
                log.warning("%s was left out: %s", path, error)
                continue
            front = front_matter(text)
            values, fault = (front.properties, front.fault) if front else ({}, "")
            mark = _stem(str(values.get("summarised_in") or ""))
            links = _LINK.findall(text[front.start : front.end]) if front else []
            sources = tuple(dict.fromkeys(_stem(link) for link, _ in links if _stem(link) != mark))
            ours = not fault and str(values.get("device") or "") in ("", self._with.device)
            found.append(_Node(file.stem, path, mark, ours, sources))
        return sorted(found, key=lambda one: (len(one.id), one.id))

    def _nodes(self, agent: str, level: Level) -> list[_Node]:
        """Return what a summary of a level may be made of, the oldest first."""
        if level == "L2":
            return self._summaries(agent, "L1")
        metas = [(head.id, head.meta) for head in self._with.heads(agent)]
        return [
            _Node(id, self._paths.session(agent, id), _stem(meta.summarised_in),
                  meta.state == "ended" and meta.device in ("", self._with.device)
                  and bool(meta.consolidated) and meta.pending in ("", UNCLEAR))
            for id, meta in metas
        ]  # fmt: skip

    def _waiting(self, agent: str, level: Level, caller: Caller) -> list[_Node]:
        """Return what waits for a summary; marks that a kill left out are added."""
        named = {id: one for one in self._summaries(agent, level) for id in one.sources}
        due = [node for node in self._nodes(agent, level) if node.is_due and not node.mark]
        for node in due:
            if node.id in named:
                self._mark(node.path, named[node.id].path, caller)
        return [node for node in due if node.id not in named]

    def _number(self, agent: str, level: Level) -> int:
        """Return the number after the highest that a summary of a level has, or ever had.

        A source's mark, an audit line and a tombstone name a summary by its number: under one that
        is used again they would vouch for, or hide, what they were never about.
        """
        named = re.compile(rf"(?:^|/|\[\[){level}_(\d{{3,9}})(?!\d)")
        folder, memory = self._folder(agent, level), self._paths.root / self._paths.memory(agent)
        texts = [path.name for path in (self._paths.root / folder).glob("*")]
        texts += [head.raw for head in self._with.heads(agent)]
        files = [*memory.glob("audit-*.jsonl"), *memory.glob("tombstones-*.jsonl")]
        files += (self._paths.root / self._paths.summaries(agent)).glob("L*/*.md")
        texts += [path.read_text("utf-8", "replace") for path in files]
        return max((int(one) for text in texts for one in named.findall(text)), default=0) + 1

    # --- reading and writing -----------------------------------------------------------------

    def _sources(
        self, agent: str, level: Level, nodes: Sequence[_Node]
    ) -> tuple[list[Source], list[str]]:
        """Return sources as far as they may be recalled, and why others cannot be read."""
        found, notes = list[Source](), list[str]()
        for node in nodes:
            try:
                file = self._with.reader.read(node.path)
            except VaultMindError as error:
                notes.append(f"left out: {error.message}")
                continue
            if level == "L1":
                pieces = tuple(self._messages(agent, node.id))
                days = [parse_meta(file.text).started or node.id[:10], node.id[:10]]
            else:
                pieces = tuple(self._paragraphs(agent, node.path, file.text))
                days = sorted(one[:10] for one in node.sources if SESSION_ID.fullmatch(one)) or [""]
            found.append(Source(node.id, days[0], pieces, days[-1], node.path, file.stat))
        return found, notes

    def _messages(self, agent: str, session: str) -> Iterator[Message]:
        """Yield a session's messages of people."""
        for one, _ in Shelf(self._with.reader).recallable(agent, session, self._with.hides):
            said, mark = mask(one.text).text.strip(), f"{session}#{one.block}"
            if said and one.role in ("user", "assistant"):
                yield replace(one, text=said, id=mark)

    def _paragraphs(self, agent: str, path: str, text: str) -> Iterator[Message]:
        """Yield the paragraphs of an L1 that may be recalled, with all that they link to."""
        record, hides = path.removesuffix(".md"), self._with.hides
        for one in paragraphs_of(blank_private(text)):
            marks = (mark.partition("#") for mark in one.sources)
            named = [(record, one.block), *((_stem(link), block) for link, _, block in marks)]
            if not any(block and hides(agent, of, block) for of, block in named):
                yield Message("user", mask(one.text).text, "", f"{_stem(path)}#{one.block}")

    def _made(self, agent: str, id: str, sources: Sequence[Source], caller: Caller) -> SummaryDone:
        """Write a summary's file and mark its sources.

        Raises WriteConflict where its sources are not as they were read, something that it says
        was hidden since, or its number was taken.
        """
        level: Level = "L1" if id.startswith("L1") else "L2"
        pieces = [piece for one in sources for piece in one.pieces]
        own = [piece for piece in pieces if piece.role == "user"] or pieces
        sample = own[:: max(1, len(own) // SAMPLE)]
        language = detect(" \n".join(piece.text for piece in sample)) or "en"
        found = self._summarise(level, sources, language, self._tokens[level])
        ids = tuple(one.id for one in sources)
        if not found.paragraphs:
            found = replace(found, paragraphs=(Paragraph(words(language)[2], ids),))
        paths = {one.id: one.path.removesuffix(".md") for one in sources}
        lines = lines_of(found.paragraphs, paths)
        marks = [mark.partition("#") for one in found.paragraphs for mark in one.sources]
        reader, hides, tokens = self._with.reader, self._with.hides, count(found.text)
        values: dict[str, str | int | list[str]] = {
            "id": id, "agent": agent, SOURCES[level]: [f"[[{path}]]" for path in paths.values()],
            "created": iso(self._with.clock()), "token_count": tokens, "by": found.by,
            "language": language, "device": self._with.device,
        }  # fmt: skip

        def change(file: FileText | None) -> str | None:
            if file or any(reader.stat(one.path) != one.stat for one in sources):
                return None
            records = ((id if SESSION_ID.fullmatch(id) else paths[id], b) for id, _, b in marks)
            if any(block and hides(agent, record, block) for record, block in records):
                return None
            text = f"\n# {_heading(level, sources, language)}\n\n" + "\n\n".join(lines) + "\n"
            for key, value in values.items():
                text = set_property(text, key, value)
            return text

        path = f"{self._folder(agent, level)}/{id}.md"
        if self._with.gate.save(path, change, caller, "a summary of several sources") is None:
            raise WriteConflict(f"{path}, or what it is made of, was changed meanwhile.")
        for one in sources:
            self._mark(one.path, path, caller)
        return SummaryDone(agent, level, id, path, ids, tokens, found.text, found.by, found.notes)

    def _mark(self, path: str, summary: str, caller: Caller) -> None:
        """Write into a source what it is summed up in, where it can say so and does not yet."""

        def change(file: FileText | None) -> str | None:
            found = front_matter(file.text) if file else None
            if file is None or not found or found.fault or found.properties.get("summarised_in"):
                return None
            return set_property(file.text, "summarised_in", f"[[{summary.removesuffix('.md')}]]")

        try:
            self._with.gate.save(path, change, caller, "it is summed up")
        except VaultMindError as error:  # the summary names it: nothing is summed up twice
            log.warning("%s was not marked as summed up: %s", path, error)

    def _folder(self, agent: str, level: Level) -> str:
        return f"{self._paths.summaries(agent)}/{level}"


def _heading(level: Level, sources: Sequence[Source], language: str) -> str:
    """Return the heading of a summary of some days."""
    known = sorted(day for one in sources for day in (one.started[:10], one.ended) if day)
    days = " – ".join(dict.fromkeys([*known[:1], *known[-1:]]))
    return words(language)[level == "L2"].format(days).strip(" ,:")

"""A conversation taken apart: who said what in their own words, and what of it cannot be a fact.

Pastes, quotations, code and private passages are not their writer's own words. In doubt nothing
is: a fact that is missed can be told again, one from a stranger's e-mail is a lie about the person.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from vaultmind.consolidate.types import Reason
from vaultmind.language.reader import Intent, intent_of
from vaultmind.language.text import MASK, is_paste, masked
from vaultmind.memory.contradictions.relations import pattern
from vaultmind.memory.words import NEGATIONS, content, fold
from vaultmind.ports import Embedder
from vaultmind.redact import MARK, mask, private_spans
from vaultmind.session.sentences import abbreviations, sentences
from vaultmind.session.summary import keeps_out, unkept
from vaultmind.types import Message, Role
from vaultmind.vault.oneline import one_line

Understand = Callable[[str], Intent]
Rule = Literal[
    "request",
    "hypothetical",
    "joke",
    "order",
    "told",
    "task",
    "retract",
    "undo",
    "lead",
    "tail",
    "play",
    "voice",
    "repair",
]
GAP = "\ufffc"
"""Stands for what was taken out of a sentence."""
MOST_CHARACTERS = 4000
"""Maximum length of a message that is read: more is a paste, whatever it begins with."""
STATEMENT_CHARACTERS = 200
TITLE_WORDS = 4
"""A quotation of so few words is a name or a title, where nobody is said to say it."""
BEFORE = 30
"""Characters before a quotation in which someone is said to say it."""
PLAYED = 4
"""Messages of the user after `you are the doctor, I'll be the patient` that are play too."""
BACK = 3
"""Messages of the user back that a "just kidding" may be about."""
CLOSING = 4
"""Words of a clause that says, behind what was said, who says it: `, says my mum`."""
FEWEST = 2
"""Content words that say something."""

CYRILLIC = re.compile(r"[\u0400-\u052f]")
NAME = re.compile(r"(?<=[\w,;] )[^\W\d_a-zа-яąćęłńóśźż][^\W\d_]{2,}")
"""A word with a capital, not the first."""
ASKS = re.compile(r"\?[\"'»”)\s!]*$")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
CLAUSE = re.compile(r"[,;]\s+|\s[-–—]\s+")
_JOINT = re.compile(
    r"[,;]\s+|\s[-–—]\s+|:\s+|\s{1,20}(?=(?:and|but|so|because|ale|bo|więc|и|но|а|потому что|"
    r"так что)\s)"
)
"""Between two clauses; without the Polish `i` and `a`, which are English words too."""
_RUN = re.compile(f"{MASK}+")
_OPENS = "\"“„«»'‘‚`"
_PARAGRAPH = re.compile(r"\n\s*\n")
_LOWER = re.compile(
    r"(?:(?<=[^\W_])|(?<=\ufffc))(?:[.…](?<!\d\.)|[!?)]+[.!?]*|\.\.+)\s+(?=[^\W\d_A-Z])"
    r"|(?<=\d)\.\s+(?=oh |and |also )"
)
_CHAT = re.compile(r"(?m)(?:^(?:\[[^\]\n]{1,30}\] ?)?[^\W\d_][\w .-]{0,24}: \S.*(?:\n+|\Z)){3,}")
"""A conversation of others that was pasted: three lines or more of `Name: what they say`."""
_CARD = re.compile(r"(?<!\d)\d{4}(?:[ -]?\d{4}){2,3}[ -]?\d{1,4}(?!\d)")
_OWN_SAYING = re.compile(
    r"(?<!\w)(?:piszę|opowiadam|wysyłam|obiecał[ae]m|napisał[ae]m|powiedział[ae]m)(?!\w)", re.I
)
"""Polish of the person's own saying, which is anybody's once its diacritics are gone."""
_KIDDING = re.compile(r"kidding|joking|\bjk\b|zart|шуч|шутк")
"""What says of the sentence before it that it was a joke: what follows it begins anew."""
_EDGE = re.compile(r"^[\s,;:.!?…–—-]+")
_SIGNS = re.compile(
    "[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f]+|(?<!\\w)[:;]-?[)(DPp]+|[)]{2,}|(?<=\\s)[)]+"
)


@dataclass(frozen=True, slots=True)
class Utterance:
    """A piece of a sentence that says one thing."""

    text: str
    key: str
    """Of its message: the id, or the block."""
    at: int
    """The number of its message in the conversation, from 0."""
    role: Role
    fault: Reason | None = None
    """Why it cannot be a fact; None: it may."""
    whole: str = ""
    """The sentence it stands in."""
    intent: Intent = field(default_factory=Intent)
    """What its sentence asks of the memory."""

    @property
    def folded(self) -> str:
        """Return its words as rules see them."""
        return fold(" ".join(self.text.split()))


@dataclass(frozen=True, slots=True)
class Talk:
    """All that was said, in order."""

    said: tuple[Utterance, ...]
    days: Mapping[str, date] = field(default_factory=dict)
    """The day of each message by its key, where it has one."""

    def by_user(self) -> Iterator[Utterance]:
        """Yield what the user said."""
        return (one for one in self.said if one.role == "user")


# --- cues ----------------------------------------------------------------------------------


@cache
def _cues() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "cues.toml").read_text("utf-8"))


@cache
def _pattern(kind: str, name: str, *, cyrillic: bool) -> re.Pattern[str]:
    codes = ("ru",) if cyrillic else ("en", "pl")
    return pattern("|".join(_cues()[code][kind][name] for code in codes))


def says(folded: str, rule: Rule) -> re.Match[str] | None:
    """Return where a folded text first holds a cue."""
    return _pattern("rules", rule, cyrillic=bool(CYRILLIC.search(folded))).search(folded)


def begins(folded: str, rule: Rule) -> re.Match[str] | None:
    """Return the cue that a folded text begins with."""
    return _pattern("rules", rule, cyrillic=bool(CYRILLIC.search(folded))).match(folded)


def features(folded: str) -> dict[str, re.Pattern[str]]:
    """Return the patterns that the linear model sees, by name, for the script of a text."""
    cyrillic = bool(CYRILLIC.search(folded))
    return {
        name: _pattern("features", name, cyrillic=cyrillic) for name in _cues()["en"]["features"]
    }


# --- a conversation ------------------------------------------------------------------------


def key_of(message: Message) -> str:
    """Return what a message is called everywhere: its id, or its block where it has none."""
    return message.id or message.block


@cache
def default_understand() -> Understand:
    """Return what hears the phrases that ship."""
    return intent_of


def read_talk(
    messages: Sequence[Message],
    understand: Understand | None = None,
    embedder: Embedder | None = None,
) -> Talk:
    """Return a conversation taken apart. `understand`: the person's own phrases, where given.

    With an embedder more is heard of what was asked not to be kept.
    """
    hear = understand or default_understand()
    said: list[Utterance] = []
    playing = 0
    days: dict[str, date] = {}
    for at, message in enumerate(messages):
        if message.role not in ("user", "assistant") or message.asked or message.erased:
            continue
        if re.match(r"\d{4}-\d\d-\d\d", message.time):
            days[key_of(message)] = date.fromisoformat(message.time[:10])
        playing = max(0, playing - (message.role == "user"))
        for one in _utterances(message, at, hear):
            if one.role == "user" and says(one.folded, "play"):
                playing = PLAYED + 1
            said.append(_faulty(one, "joke") if playing and one.role == "user" else one)
    gone = unkept(messages, hear)
    kept = (_faulty(one, "asked not to keep") if one.at in gone else one for one in _joked(said))
    return Talk(tuple(kept), days)


def _utterances(message: Message, at: int, hear: Understand) -> Iterator[Utterance]:
    own, gone = own_words(message.text)
    key, user = key_of(message), message.role == "user"
    for text, reason in gone:
        yield Utterance(text, key, at, message.role, reason, text)
    rest: Reason | None = None
    for sentence in own_sentences(own):
        intent = hear(sentence) if user else Intent()
        whole = _of_the_whole(sentence, intent)
        found = [(sentence, whole)] if whole else list(_clauses(sentence))
        for number, (piece, wrong) in enumerate(found):
            announces = bool(gone) and number == len(found) - 1 and sentence.rstrip().endswith(":")
            fault = rest or wrong or ("request" if announces else None)
            yield Utterance(piece, key, at, message.role, fault, sentence, intent)
        if whole == "joke" and user:
            rest = rest or "joke"
        folded = fold(sentence)
        if says(folded, "order"):
            rest = "orders the memory"
        elif says(folded, "voice") or (says(folded, "task") and sentence.rstrip().endswith(":")):
            rest = rest or "quoted"


def _of_the_whole(sentence: str, intent: Intent) -> Reason | None:
    """Return what is wrong with a sentence in all of its clauses."""
    folded = fold(one_line(sentence))
    if MARK.search(sentence) or _CARD.search(folded) or mask(sentence).text != sentence:
        return "secret"
    if says(folded, "order"):
        return "orders the memory"
    wanted = intent.intent == "remember" and not keeps_out(intent.payload)
    if not wanted and intent.intent == "skip":
        return "asked not to keep"
    spans = clauses(sentence)
    joke = says(folded, "joke")
    after = len(content(sentence[spans[0][1] :]))
    if joke and not (joke.start() < spans[0][1] and _KIDDING.search(joke[0]) and after > FEWEST):
        return "joke"
    if (told := _told(sentence)) is not None:
        number = next((n for n, (_, stop) in enumerate(spans) if told < stop), 0)
        start = spans[number][0]
        ends = len(sentence[start:].split()) <= CLOSING and number == len(spans) - 1
        if ends or len(content(sentence[:start])) < FEWEST:
            return "quoted"
    return "quoted" if GAP in sentence and says(folded, "task") else None


def _told(sentence: str) -> int | None:
    """Return where a sentence says that somebody else says something; None where it does not."""
    found = says(fold(_OWN_SAYING.sub(lambda m: "x" * len(m.group()), sentence)), "told")
    return found.start() if found else None


def clauses(sentence: str) -> list[tuple[int, int]]:
    """Return where the clauses of a sentence stand, as far as commas and small words show them."""
    found, start = [], 0
    for joint in _JOINT.finditer(sentence):
        if joint.start() > start:
            found.append((start, joint.start()))
        start = joint.end()
    if start < len(sentence):
        found.append((start, len(sentence)))
    return found or [(0, len(sentence))]


def _clauses(sentence: str) -> Iterator[tuple[str, Reason | None]]:
    """Yield the runs of clauses of a sentence that have one fault, each with it."""
    spans = clauses(sentence)
    faults = _faults(sentence, spans)
    start = 0
    while start < len(spans):
        stop = start
        while stop + 1 < len(spans) and faults[stop + 1] == faults[start]:
            stop += 1
        yield sentence[spans[start][0] : spans[stop][1]].strip(" ,;"), faults[start]
        start = stop + 1


def _faults(sentence: str, spans: Sequence[tuple[int, int]]) -> list[Reason | None]:
    told = -1 if (at := _told(sentence)) is None else at
    first = _unled(fold(sentence[slice(*spans[0])]))
    for_a_text = begins(first, "request") and says(first, "voice")
    found: list[Reason | None] = []
    for number, (start, stop) in enumerate(spans):
        clause = _unled(fold(sentence[start:stop]))
        before = found[-1] if found else None
        fault: Reason | None = None
        if before == "hypothetical" or says(clause, "hypothetical"):
            fault = "hypothetical"
        elif ASKS.search(sentence) and (number == len(spans) - 1 or begins(clause, "request")):
            fault = "question"
        elif says(clause, "joke"):
            fault = "joke"
        elif (
            before == "quoted"
            or GAP in sentence[start:stop]
            or start <= told < stop
            or (sentence[stop : stop + 1] == ":" and says(clause, "task"))
        ):
            fault = "quoted"
        elif begins(clause, "request"):
            fault = "request"
        found.append("quoted" if not fault and number and for_a_text else fault)
    _repair(sentence, spans, found)
    rest = [content(sentence[a:b]) for (a, b), one in zip(spans, found, strict=True) if not one]
    if any(len(words) >= FEWEST for words in rest):
        return found
    return [None if one == "request" else one for one in found]


def _repair(sentence: str, spans: Sequence[tuple[int, int]], faults: list[Reason | None]) -> None:
    """Mark the clauses that the next one puts right at once: `on the 9th, no, wait, the 16th`."""
    for number, ((a, b), (start, stop)) in enumerate(pairwise(spans)):
        repairs = begins(fold(sentence[start:stop]), "repair")
        if repairs and _puts_right(sentence[a:b], sentence[start:]):
            faults[number] = faults[number] or "taken back"


def _puts_right(before: str, after: str) -> bool:
    """Tell whether words give another value or name than those before: `the 9th, no, the 16th`."""
    values = set(NUMBER.findall(before)), set(NUMBER.findall(after))
    months = features(fold(before))["month"]
    named = {m.group() for m in months.finditer(fold(before))}
    other = {m.group() for m in months.finditer(fold(after))}
    if (values[0] | named) and (values[1] | other) - (values[0] | named):
        return True
    return bool(NAME.search(before) and NAME.search(" ".join(after.split()[:CLOSING])))


def _faulty(one: Utterance, reason: Reason) -> Utterance:
    return one if one.fault else replace(one, fault=reason)


def _joked(said: Sequence[Utterance]) -> list[Utterance]:
    """Return what was said; what a "just kidding" of few words follows was a joke too."""
    found = list(said)
    mine = [at for at, one in enumerate(said) if one.role == "user"]
    for place, number in enumerate(mine):
        one = said[number]
        if one.fault != "joke" or not says(one.folded, "joke"):
            continue
        if len([word for word in content(one.text) if not says(word.folded, "joke")]) > FEWEST:
            continue  # the joke stands in its own sentence
        before = mine[:place]
        if before and said[before[-1]].at == one.at:
            meant = before[-1:]
        else:
            near = sorted({said[at].at for at in before}, reverse=True)[:BACK]
            telling = [at for at in before if found[at].fault in (None, "joke")]
            latest = next((m for m in near if any(said[at].at == m for at in telling)), None)
            meant = [at for at in before if said[at].at == latest]
        for at in meant:
            found[at] = _faulty(found[at], "joke")
    return found


# --- the writer's own words ----------------------------------------------------------------


def own_words(text: str) -> tuple[str, tuple[tuple[str, Reason], ...]]:
    """Return a message's own words with gaps in them, and what was taken out, each with why."""
    shown = text[:MOST_CHARACTERS]
    private = private_spans(shown)
    gone: list[tuple[str, Reason]] = []
    parts: list[str] = []
    end = 0
    for run in _RUN.finditer(masked(shown)):
        said, before = shown[run.start() : run.end()], shown[: run.start()]
        parts.append(shown[end : run.start()])
        end = run.end()
        if _is_title(said, before[-BEFORE:]):
            parts.append(said)
            continue
        hidden = any(a <= run.start() < b for a, b in private)
        gone.append((said, "private" if hidden else "quoted"))
        parts.append("\n" if hidden else GAP)
    own, pasted = _without_paste("".join([*parts, shown[end:]]))
    gone += [(one, "orders the memory" if says(fold(one), "order") else "quoted") for one in pasted]
    return own, tuple(gone)


def own_sentences(own: str) -> Iterator[str]:
    """Yield the sentences of somebody's own words, also those that begin with a small letter."""
    for sentence in sentences(own):
        start = 0
        for end in _LOWER.finditer(sentence):
            word = sentence[start : end.start()].rsplit(None, 1)[-1:]
            short = bool(word) and len(word[0]) == 1 and word[0] != GAP
            if not (short or (word and word[0].lower() in abbreviations())):
                yield sentence[start : end.end()].strip()
                start = end.end()
        yield sentence[start:].strip()


def _is_title(said: str, before: str) -> bool:
    if said.startswith(("http://", "https://")):
        return True
    words = said.strip(_OPENS + "”’").split()
    spoken = says(fold(before), "told") or before.rstrip().endswith(":")
    return said[0] in _OPENS and "\n" not in said and len(words) <= TITLE_WORDS and not spoken


def _without_paste(text: str) -> tuple[str, list[str]]:
    """Return what stands before a paste, and the paste."""
    if chat := _CHAT.search(text):
        around = text[: chat.start()] + text[chat.end() :]
        own, pasted = _without_paste(around) if around.strip() else ("", [])
        return own, [chat.group(), *pasted]
    first, *rest = _PARAGRAPH.split(text.strip())
    lines = first.split("\n")
    opens = next((at for at, line in enumerate(lines) if line.rstrip().endswith(":")), None)
    if opens is not None and (opens + 1 < len(lines) or rest):
        return "\n".join(lines[: opens + 1]), ["\n".join([*lines[opens + 1 :], *rest])]
    at = next((at for at, line in enumerate(lines) if at and _is_foreign(line)), None)
    if at is not None:
        return "\n".join(lines[:at]), ["\n".join([*lines[at:], *rest])]
    foreign = any(_is_foreign(line) for line in "\n".join(rest).split("\n"))
    if rest and (foreign or says(fold(first), "task")):
        return first, rest
    return ("", [text]) if _is_foreign(lines[0]) else (text, [])


def _is_foreign(line: str) -> bool:
    """Tell whether a line is one of a document, a log, an e-mail or an order to a machine."""
    folded = fold(line).strip()
    return bool(folded) and (is_paste(folded) or bool(says(folded, "order")))


# --- statements ----------------------------------------------------------------------------


def statement(text: str) -> str:
    """Return a piece of a sentence as a statement of one line, its first letter a capital.

    What only leads to it or trails it goes. The other words stay the person's own: a fact that was
    reworded by rules could not be found in what was said.
    """
    text = one_line(_SIGNS.sub(" ", text)).strip()
    while len(folded := fold(text := _EDGE.sub("", text))) == len(text):
        if not (lead := _lead(folded)):
            break
        text = text[lead:]
    while len(folded := fold(text := text.rstrip(" ,;:.!?…–—-"))) == len(text):
        tails = _pattern("rules", "tail", cyrillic=bool(CYRILLIC.search(folded)))
        starts = [m.start() for m in tails.finditer(folded) if m.end() == len(folded)]
        if not starts or not starts[0]:
            break
        text = text[: starts[0]]
    text = text.strip(" ,;:.!?…–—-")
    if len(text) > STATEMENT_CHARACTERS:
        ends = [m.start() for m in CLAUSE.finditer(text) if m.start() <= STATEMENT_CHARACTERS]
        text = text[: ends[-1] if ends else text.rfind(" ", 0, STATEMENT_CHARACTERS)]
    return text[:1].upper() + text[1:]


def _unled(folded: str) -> str:
    """Return a folded text without the small words that lead to what it says."""
    while end := _lead(folded := _EDGE.sub("", folded)):
        folded = folded[end:]
    return folded


def _lead(folded: str) -> int:
    """Return where the words that lead a folded text end; 0 where there are none.

    A no needs a mark: `no, I live in Leeds` has one, `no sugar for me` is what is said.
    """
    match = begins(folded, "lead")
    if match is None or len(folded) - match.end() <= 1:
        return 0
    after = folded[match.end()]
    if after not in " ,:;.!-–—?" or (match.group() in NEGATIONS and after in " -"):
        return 0
    return match.end()

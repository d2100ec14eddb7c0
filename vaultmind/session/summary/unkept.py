"""What a person asked not to keep: the one place that decides it, for all that keeps something.

"Don't remember this: my sister is pregnant" means itself; "don't keep that" means what was said
before it; "don't keep what I said about Laura" means wherever that was said. What somebody asked
so stays in the session's file, as the rest of what was said, and gets into no summary, no fact
and no active context.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from vaultmind.memory.intents import Intent, recogniser
from vaultmind.memory.words import NEGATIONS, SOFT, Word, content, fold
from vaultmind.redact import mask
from vaultmind.session.summary.sentences import sentences
from vaultmind.types import Message

CUES = Path(__file__).with_name("unkept.toml")
NAMES = 2
"""Content words besides those that ask, from which a message says itself what it means."""
MOST_SENTENCES = 20
"""At each end of a message that are looked at: a paste asks nothing."""
MOST_HEARD = 4
"""Sentences of a message that are heard as requests are; the cues are met by all."""
MOST_CHARACTERS = 300
"""Of a sentence in which a request is looked for."""

Understand = Callable[[str], Intent]

_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_QUOTED = re.compile(r"(?m)^[ \t]*>.*$")
_MAYBE_WORDS = """
    keep kept remember memor save saving stor record note noti writ jot retain between secret
    confid privat mention anyon anybod ears forget hear pretend erase vanish disappear hold
    hang trace quiet whisper skip ignor disregard leave zapis zapam pami notu notow pisz pisu
    pisa trzym przech utrwal zachow nami poufn ciebie siebie tajemn sekret mów mow protok
    zosta wrzuc archiw gromad zapomn nikomu запом запис сохран фикс храни пиши держ занос
    вноси нами секрет конфид тебя никому протокол памят остав забуд помни merk speicher notier
    notiz behalt vergiss vertraul unter erinner recuerd guard apunt anot registr entre olvid
    retien reten enregistr souvien oubli notez conserv notat trafi udawa rozpow słysz slysz
"""
_MAYBE = tuple(_MAYBE_WORDS.split())
"""One of these stands in whatever asks: looked for first, since it costs next to nothing."""
_DENIES = re.compile(
    r"n['’]?t\b|\b(?:not|never|no|nothing|none|without|off|between|avoid|skip|ignore|disregard|out|"
    r"away|ears|secret|confidential|private|forget|erase|vanish|yourself|pretend|udawaj\w*|"
    r"siebie|rozpowiadaj\w*|ani|nie|nigdy|bez|poza|miedzy|tylko|zapomnij|не|ни|"
    r"никому|без|между|только|забудь|nicht|kein\w*|unter|vergiss|sin|nunca|entre|ne|pas|jamais|"
    r"oublie\w*|olvida)\b"
)
"""... and one of these in its sentence."""
_POINTING_WORDS = """
    bit part last previous message above thing earlier before conversation chat talk one first
    second sentence line reply two both these those ok okay oh ah ha hey hmm hm actually wait
    sorry lol btw well yeah yes sure right thanks now quickly side note secret private
    confidential ostatnie ostatnia ostatnia poprzednia poprzednie wiadomosc wyzej wczesniej
    rozmowa rozmowy dobra zdanie aha hej przepraszam sorki czekaj dzieki wlasnie przed chwila
    chwili teraz to tamto последнее предыдущее сообщение выше раньше разговор слова ладно
    хорошо прости извини спасибо только сеичас предложение bitte das dies letzte nachricht por
    favor esto eso mensaje ca cela message dernier
"""
_POINTING = frozenset(_POINTING_WORDS.split())
_ASKING_WORDS = """
    retien off don vergiss
"""
_ASKING = tuple(_ASKING_WORDS.split())
"""Words so begun only ask."""
_ABOUT = re.compile(
    r"\b(?:about|regarding|concerning|na temat|odnosnie|o tym jak|o|про|об|обо|о|насчет)\s+"
    r"([^.!?:;,]+)"
)
_NEXT = re.compile(
    r"\b(?:about to (?:say|tell|write)|going to (?:say|tell|write)|gonna (?:say|tell)|next"
    r" (?:thing|message|part|bit|one)|what comes next|what follows|za chwile (?:powiem|napisze)"
    r"|zaraz (?:powiem|napisze)|teraz (?:powiem|napisze)|nastepn\w+ wiadomosc\w*"
    r"|сеичас (?:скажу|напишу)|дальше (?:скажу|напишу)|следующ\w+ сообщени\w+)\b"
)


@dataclass(frozen=True, slots=True)
class _Asks:
    """What a message that asks means."""

    own: bool = True
    """Itself alone: it says what."""
    about: tuple[Word, ...] = ()
    """What the message that is meant is about."""
    next: bool = False
    all: bool = False


def unkept(messages: Sequence[Message], understand: Understand | None = None) -> dict[int, int]:
    """Return which messages were asked not to be kept, each with the one that asks, by number.

    `messages` are those of a conversation in their order. `understand`: the person's own phrases.
    """
    found: dict[int, int] = {}
    spoken = [
        at
        for at, one in enumerate(messages)
        if one.role in ("user", "assistant") and not one.erased
    ]
    users = [at for at in spoken if messages[at].role == "user"]
    for place, at in enumerate(users):
        asks = _asks(messages[at].text, understand)
        if asks is None:
            continue
        for meant in (at, *_meant(asks, messages, users, place)):
            found.setdefault(meant, at)
        if not asks.own and not asks.about and place:
            between = (n for n in spoken if users[place - 1] < n < at)
            found.update((n, at) for n in between if n not in found)
        if asks.all:
            found.update((n, at) for n in spoken if n <= at and n not in found)
    for at, asker in list(found.items()):
        found.update((n, asker) for n in _echoes(messages, spoken, at) if n not in found)
    return found


def keeping(messages: Sequence[Message], understand: Understand | None = None) -> Sequence[Message]:
    """Return messages with nothing in those that were asked not to be kept."""
    gone = unkept(messages, understand)
    if not gone:
        return messages
    return [replace(one, text="") if at in gone else one for at, one in enumerate(messages)]


def keeps_out(folded: str) -> bool:
    """Tell whether a folded sentence asks not to keep something, by its cues."""
    return bool(_cues("keep_out", folded).search(folded))


def _meant(
    asks: _Asks, messages: Sequence[Message], users: Sequence[int], place: int
) -> Iterator[int]:
    """Yield the numbers of the user's other messages that are meant."""
    if asks.next and place + 1 < len(users):
        yield users[place + 1]
    if asks.about:
        before = [at for at in users[:place] if _is_about(messages[at].text, asks.about)]
        yield from before
        if before or asks.own:
            return
    if not asks.own and not asks.next:
        yield users[place - 1] if place else users[min(1, len(users) - 1)]


def _is_about(text: str, words: Sequence[Word]) -> bool:
    from vaultmind.memory.contradictions.alike import alike  # seldom needed, and slow to load

    there = content(text)
    return all(any(alike(word, other) for other in there) for word in words)


def _echoes(messages: Sequence[Message], spoken: Sequence[int], at: int) -> Iterator[int]:
    """Yield the assistant's messages that follow a message and say any of its words again."""
    from vaultmind.memory.contradictions.alike import alike

    if messages[at].role != "user":
        return
    own = [word for word in content(messages[at].text) if _counts(word)]
    for after in (n for n in spoken if n > at):
        if messages[after].role == "user":
            return
        there = content(messages[after].text)
        if any(alike(word, other) for word in own for other in there):
            yield after


def _counts(word: Word) -> bool:
    return (
        word.folded[:1].isalnum()
        and word.folded not in SOFT | NEGATIONS | _POINTING
        and not word.folded.startswith(_ASKING)
    )


def _asks(text: str, understand: Understand | None) -> _Asks | None:
    """Return what a message asks not to keep; None where it asks nothing of the kind."""
    small = text.casefold()
    if not any(map(small.__contains__, _MAYBE)):
        return None
    return _read(text) if understand is None else _heard(text, understand)


@lru_cache(maxsize=8192)
def _read(text: str) -> _Asks | None:
    return _heard(text, _recogniser())


def _heard(text: str, understand: Understand) -> _Asks | None:
    said = sentences(_QUOTED.sub("", text))
    looked = said if len(said) <= 2 * MOST_SENTENCES else said[:MOST_SENTENCES]
    looked = looked if looked is said else [*looked, *said[-MOST_SENTENCES:]]
    maybe = [one[:MOST_CHARACTERS] for one in looked if _may_ask(one[:MOST_CHARACTERS])]
    asking = [one for one in maybe if keeps_out(fold(one))]
    asking += [one for one in maybe[:MOST_HEARD] if understand(one).intent == "skip"]
    if not asking:
        return None
    folded = [fold(one) for one in said]
    rest = " ".join(_cues("keep_out", one).sub(" ", one) for one in folded)
    words = [word for word in content(rest) if _counts(word)]
    asked = " ".join(map(fold, asking))
    about = _ABOUT.search(asked)
    topic = tuple(w for w in content(about[1]) if _counts(w)) if about else ()
    leads = asked.rstrip().endswith(":")
    is_secret = "‹" in text or mask(text).text != text  # it names what was taken out of it
    names = is_secret or len(words) >= (1 if ":" in asked else NAMES)
    return _Asks(
        own=names and not (topic and len(words) <= len(topic)),
        about=topic,
        next=leads or bool(_NEXT.search(asked)),
        all=bool(_cues("keep_all", asked).search(asked)),
    )


def _may_ask(sentence: str) -> bool:
    small = sentence.casefold()
    return any(map(small.__contains__, _MAYBE)) and bool(_DENIES.search(fold(sentence)))


@cache
def _recogniser() -> Understand:
    return recogniser().recognise


def _cues(name: str, folded: str) -> re.Pattern[str]:
    return _pattern(name, cyrillic=bool(_CYRILLIC.search(folded)))


@cache
def _pattern(name: str, *, cyrillic: bool) -> re.Pattern[str]:
    from vaultmind.memory.contradictions.relations import pattern

    codes = ("ru",) if cyrillic else ("en", "pl")
    return pattern("|".join(cues(code)[name] for code in codes))


@cache
def cues(language: str) -> dict[str, str]:
    """Return the cues of a language (`en`, `pl`, `ru`): `keep_out`, and `keep_all` for all of a
    conversation.
    """
    data: dict[str, dict[str, str]] = tomllib.loads(CUES.read_text("utf-8"))
    return data[language]

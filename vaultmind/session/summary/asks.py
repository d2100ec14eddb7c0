"""What a message asks not to keep: itself, what was said before it, what comes, or a matter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from vaultmind.memory.intents import Intent, recogniser
from vaultmind.memory.words import Word, content, fold
from vaultmind.redact import mask
from vaultmind.session.sentences import sentences
from vaultmind.session.summary import asking
from vaultmind.session.summary.pointing import (
    counts,
    cue,
    is_other,
    lifts,
    looks_only,
    may_mean_next,
    only_points,
    several,
    units,
)

if TYPE_CHECKING:
    from vaultmind.ports import Embedder

NAMES = 2
"""Content words besides those that ask, from which a message says itself what it means."""
MOST_SENTENCES = 20
"""At each end of a message that are looked at: a paste asks nothing."""
MOST_WEIGHED = 4
"""At each end of a message that the models weigh."""
MOST_HEARD = 4
"""Sentences of a message that are heard as requests are; the cues are met by all."""
MOST_CHARACTERS = 300
"""Of a sentence in which a request is looked for."""
WHOLE = 3
"""Sentences of a short message that is weighed as one request."""
NEAR = 0.2
"""Likelihood from which a request may mean what was said before it, or what comes."""
MOST_OF_A_MATTER = 4
"""Words by which a matter is named."""

Understand = Callable[[str], Intent]

_QUOTED = re.compile(r"(?m)^[ \t]*>.*$")
_CITED = re.compile(r"[\"'«„“‘].*[\"'»”’][.!?]*$", re.DOTALL)
_MAYBE_WORDS = """
    keep kept remember memor save saving stor record note noti writ jot retain between secret
    confid privat mention anyon anybod ears forget hear pretend erase vanish disappear hold
    hang trace quiet whisper skip ignor disregard leave zapis zapam pami notu notow pisz pisu
    pisa trzym przech utrwal zachow nami poufn ciebie siebie tajemn sekret mów mow protok
    zosta wrzuc archiw gromad zapomn nikomu запом запис сохран фикс храни пиши держ занос
    вноси нами секрет конфид тебя никому протокол памят остав забуд помни merk speicher notier
    notiz behalt vergiss vertraul unter erinner recuerd guard apunt anot registr entre olvid
    retien reten enregistr souvien oubli notez conserv notat trafi udawa rozpow słysz slysz
    summar recap told said typed poster bring mind mum farther further strike scrub wipe unsa unse
    unre napisał powiedz wspomn podsum streszcz uszu przepad skreśl zniknie zginie umrze jakby
    uznaj śladu сказа говор писал напис сводк итог вычерк ушей считай всплыв исчез умр
    информац заметк головы след stayed showing ephemeral
"""
_MAYBE = (*_MAYBE_WORDS.split(), "from me", "come up")
"""One of these stands in whatever the rules hear: looked for first, as it costs next to nothing."""
_DENIES = re.compile(
    r"n['’]?t\b|\b(?:not|never|no|nothing|none|without|off|between|avoid|skip|ignore|disregard|out|"
    r"away|ears|secret|confidential|private|forget|erase|vanish|yourself|pretend|udawaj\w*|"
    r"strike|scrub|wipe|delete|remove|drop|purge|omit|exclude|consider|treat|unhear|unsee|unread|"
    r"unsay|expunge|redact|cut|usun|skasuj|wykresl|wymaz|wyrzuc|skresl|pomin|niech|potraktuj|uznaj|"
    r"pusc|opusc|вычеркни\w*|удали\w*|сотри\w*|убери\w*|выбрось\w*|выкинь\w*|пропусти\w*|"
    r"считаи\w*|представь\w*|пусть|mum|slip|stayed|"
    r"siebie|rozpowiadaj\w*|ani|nie|nigdy|bez|poza|miedzy|tylko|zapomnij|не|ни|"
    r"никому|без|между|только|забудь|nicht|kein\w*|unter|vergiss|sin|nunca|entre|ne|pas|jamais|"
    r"oublie\w*|olvida)\b"
)
"""... and one of these in its sentence."""
_ABOUT = re.compile(
    r"\b(?:about|regarding|concerning|anything to do with|when it comes to|na temat|odnosnie|"
    r"dotycz\w*|o tym jak|o|про|об|обо|о|насчет|касается|касающееся)\s+([^.!?:;,()]+)"
)
_CLAUSE = re.compile(r"[.!?]\s+|[,;:()]")
_ALSO = re.compile(r"\s(?:and|or|nor|plus|i|oraz|albo|ani|и|или|либо)\s")
_MATTER_ENDS = re.compile(
    r"\b(?:stays?|goes|go|is|are|was|must|shall|should|can|may|out|off|in|from|to|anywhere|please|"
    r"zosta\w+|ma|maja|nie|ani|w|do|nigdzie|u|jest|prosze|wymaz\w*|skasuj\w*|usun\w*|zatrzymaj\w*|"
    r"trzymaj\w*|не|ни|никуда|нигде|в|у|из|пусть|оста\w+|пожалуиста|удали\w*|сотри\w*|держи\w*|"
    r"nothing|anything|nic|niczego|ничего|you|your|we|i|u|mozesz|moze|ты|вы|можешь)\b"
)
_NEXT = re.compile(
    r"\b(?:about to (?:say|tell|write|share|paste)|going to (?:say|tell|write|share)|"
    r"gonna (?:say|tell|write)|next (?:thing|message|part|bit|one)|what comes next|what follows|"
    r"(?:what|whatever) (?:i|i'll|i will|i'm going to) (?:\w+ )?(?:say|tell|write|share)|"
    r"the following|before (?:i|we) (?:start|begin|go on|say|tell)|"
    r"za (?:chwile|sekunde|moment) (?:powiem|napisze|wrzuce|wkleje)|"
    r"(?:zaraz|teraz|dalej) (?:powiem|napisze|opowiem|wrzuce|wkleje)|co (?:powiem|napisze|opowiem)|"
    r"nastepn\w+ wiadomosc\w*|zanim (?:zaczn\w+|powiem|napisze)|"
    r"(?:сеичас|дальше|что|я|сейчас) (?:скажу|напишу|расскажу|скину|вставлю)|"
    r"следующ\w+ сообщени\w+|прежде чем (?:начн\w+|начать|скажу|рассказать))\b"
)
_AHEAD = re.compile(
    r"\b(?:rest of (?:this|the|our|today's) (?:chat|conversation|talk|session)|"
    r"from (?:here|now|this point) on(?:wards?)?|next (?:few|couple of|\d+|five|ten|three) \w+|"
    r"od (?:teraz|tej chwili|tego momentu|tego miejsca)|do konca (?:rozmowy|czatu)|"
    r"nastepn\w+ (?:kilka|pare) \w+|с этого (?:места|момента)|до конца (?:разговора|беседы|чата)|"
    r"следующ\w+ (?:несколько|пару) \w+)\b"
)
_BACK = re.compile(
    r"\b(?:said|told|mentioned|wrote|shared|"
    r"(?:that|the|this) (?:stuff|thing|part|bit|story|business)|"
    r"(?:po)?wiedzial\w*|powiedzial\w*|mowil\w*|pisal\w*|napisal\w*|wspomnial\w*|opowiada\w*|"
    r"(?:to|tego|tamto|tamtego|wszystko to) o|сказал\w*|говорил\w*|рассказал\w*|рассказывал\w*|"
    r"написал\w*|упомянул\w*|(?:это|то|все это) (?:про|о|об))\b"
)
"""A matter that was spoken of already."""
_MAY_STAY = re.compile(
    r"\b(?:(?:you|u) (?:can|may|could) (?:keep|remember|save|know|hold)|"
    r"(?:can|may) (?:stay|be kept)|"
    r"moze(?:sz|cie)? (?:pan |pani )?(?:za|to )?(?:pamiet|zapis|zapam|zostaw|wiedz|zachow)\w*|"
    r"(?:это|этот|эту) (?:за)?помни\w*|"
    r"мож(?:ешь|ете|но) (?:это )?(?:за)?(?:помн|пис|сохран|зна)\w*)"
)
"""A part of a message that says what may be kept."""
_LABEL = re.compile(r"\W{0,40}\w{1,20}:\s{1,40}")
_OF_A_MACHINE = re.compile(
    r"\b(?:memory|user|pamięci?|użytkownik\w*|памят\w*|пользовател\w*)\b", re.IGNORECASE
)
"""No person calls themselves the user."""


@dataclass(frozen=True, slots=True)
class Asks:
    """What a message that asks means."""

    own: bool = True
    """Itself: it says what."""
    before: int = 0
    """How many messages before it, too."""
    rest: bool = False
    """Whether the rest of its own message is of something else, and stays kept."""
    matters: tuple[tuple[Word, ...], ...] = ()
    """What messages that are meant are about, whenever they were or will be said."""
    back: bool = False
    """Whether the matter was spoken of already."""
    next: bool = False
    ahead: bool = False
    """All that comes."""
    all: bool = False
    """All that was said."""
    stays: tuple[Word, ...] = ()
    """What it says may be kept."""


@dataclass(frozen=True, slots=True)
class Ears:
    """What hears a request."""

    understand: Understand | None = None
    """The person's own phrases; the built-in ones where there are none."""
    embedder: Embedder | None = None

    def hear(self, sentence: str) -> Intent:
        """Return what a sentence asks of the memory."""
        return (self.understand or _recogniser())(sentence)

    def is_wanted(self, sentence: str) -> bool:
        """Tell whether a sentence asks to remember what is itself no wish not to keep."""
        intent = self.hear(sentence[:MOST_CHARACTERS])
        return intent.intent == "remember" and not keeps_out(fold(intent.payload))


def read_asks(text: str, ears: Ears) -> Asks | None:
    """Return what a message asks not to keep; None where it asks nothing of the kind."""
    said = units(sentences(_QUOTED.sub("", text)))
    ruled = _ruled(said, ears)
    weighed = [] if ruled else _weighed(said, text, ears)
    if not ruled and not weighed:
        return None
    parts = [one for one in said if one in ruled] if ruled else weighed
    folded = [fold(one) for one in said]
    asked = " ".join(map(fold, parts))
    matters = tuple(_matters(", ".join(c for c in _CLAUSE.split(asked) if not _MAY_STAY.search(c))))
    if ruled:
        rest = " ".join(cue("keep_out", one).sub(" ", one) for one in folded)
    else:
        rest = " ".join(fold(one) for one in said if not any(one in part for part in parts))
    words = [word for word in content(rest) if counts(word)]
    is_secret = "‹" in text or mask(text).text != text  # it names what was taken out of it
    names = is_secret or len(words) >= (1 if ":" in asked else NAMES)
    means = asking.scopes(parts[0])
    itself = max(means, key=lambda name: means[name]) == "this"
    named = len(words) > sum(map(len, matters)) if matters else True
    own = (names and named) or bool(weighed and itself)
    first = bool(said) and said[0] in parts[0]
    before = bool(weighed) and means["before"] >= NEAR and (first or not names)
    follows = bool(_NEXT.search(asked)) or (bool(weighed) and means["after"] >= NEAR and not itself)
    leads = asked.rstrip().endswith(":")
    found = Asks(
        own=own,
        before=max(several(asked), int(before)),
        matters=matters,
        back=bool(_BACK.search(asked)),
        next=leads or (follows and not _told_already(said, parts)),
        ahead=bool(_AHEAD.search(asked)) and not matters,
        all=bool(cue("keep_all", asked).search(asked)) and not matters,
        stays=tuple(_stays(folded)),
    )
    return found if is_secret else _pointed(found, said, parts)


def _pointed(asks: Asks, said: Sequence[str], parts: Sequence[str]) -> Asks:
    """Return what is asked where a sentence only points: at what was said before it."""
    at = next((n for n, one in enumerate(said) if one in parts and only_points(fold(one))), -1)
    if at < 0 or asks.matters or asks.next or asks.ahead or asks.all:
        return asks
    told, after = ([one for one in own if one not in parts] for own in (said[:at], said[at + 1 :]))
    if _says(told):  # the same message said it
        return replace(asks, own=True, before=several(fold(said[at])))
    before = max(asks.before, 1)
    if any(one in parts and not only_points(fold(one)) for one in said):
        return replace(asks, own=True, before=before)
    if not _says(after):
        return replace(asks, own=False, before=before)
    own = may_mean_next(fold(said[at])) and not is_other(after[0])
    return replace(asks, own=own, before=before, rest=not own)


def asks_in_words(text: str, ears: Ears) -> bool:
    """Tell whether a message asks not to keep something in the set phrases for it."""
    said = units(sentences(_QUOTED.sub("", text)))
    maybe = [one[:MOST_CHARACTERS] for one in _ends(said, MOST_SENTENCES) if _may_ask(one)]
    return any(ears.hear(one).intent == "skip" for one in maybe[:MOST_HEARD])


def _says(said: Sequence[str]) -> bool:
    """Tell whether sentences say anything."""
    return len([word for word in content(fold(" ".join(said))) if counts(word)]) >= NAMES


def by_rules(sentence: str) -> bool:
    """Tell whether the rules say that a sentence asks not to keep something."""
    part = sentence[:MOST_CHARACTERS]
    return _may_ask(part) and keeps_out(fold(part))


def keeps_out(folded: str) -> bool:
    """Tell whether a folded sentence asks not to keep something, by its cues."""
    return bool(cue("keep_out", folded).search(folded)) and not looks_only(folded)


def orders_memory(sentence: str) -> bool:
    """Tell whether a sentence has the memory keep something: `AI: remember that the user …`.

    What a person asks in their own words, `remember that I …`, is none.
    """
    part = sentence[:MOST_CHARACTERS]
    if not _OF_A_MACHINE.search(part):
        return False
    ways = dict.fromkeys((part, _LABEL.sub("", part, count=1)))
    return any(_recogniser()(one).intent == "remember" for one in ways)


def may_stay(folded: str) -> bool:
    """Tell whether a folded sentence says that something may be kept, and nothing may not."""
    free = _MAY_STAY.search(folded) or lifts(folded)
    return bool(free) and not _DENIES.search(folded)


def _ruled(said: Sequence[str], ears: Ears) -> list[str]:
    """Return the sentences that ask, by the rules and the phrases for it."""
    looked = _ends(said, MOST_SENTENCES)
    maybe = [one for one in looked if _may_ask(one[:MOST_CHARACTERS])]
    found = [one for one in maybe if keeps_out(fold(one[:MOST_CHARACTERS]))]
    heard = (one for one in maybe[:MOST_HEARD] if one not in found)
    found += [one for one in heard if ears.hear(one[:MOST_CHARACTERS]).intent == "skip"]
    return [one for one in found if not ears.is_wanted(one)]


def _weighed(said: Sequence[str], text: str, ears: Ears) -> list[str]:
    """Return the sentences that ask, by the models; or the message, where only all of it does."""
    own = _own(said, text)
    short = [
        one
        for one in _ends(own, MOST_WEIGHED)
        if len(one) <= MOST_CHARACTERS and not _CITED.match(one)
    ]
    found = [one for one in short if _is_heard(one, ears.embedder) and not ears.is_wanted(one)]
    whole = " ".join(said)
    if not found and 1 < len(said) <= WHOLE and len(whole) <= MOST_CHARACTERS and short == said:
        heard = _is_heard(whole, ears.embedder) and not any(map(ears.is_wanted, said))
        found = [whole] if heard else []
    return found


def _is_heard(sentence: str, embedder: Embedder | None) -> bool:
    """Tell whether the models hear a request in what does not only look like one."""
    if sentence.rstrip().endswith(":") and not _may_ask(sentence):
        return False  # `Translate this for me:` leads to a text as `not for your notes:` does
    if not asking.asks(sentence, embedder):
        return False
    folded = fold(sentence)
    return not looks_only(folded) and not may_stay(folded)


def _own(said: Sequence[str], text: str) -> Sequence[str]:
    """Return the sentences of a message of few lines; of another, those about what was pasted."""
    lines = text.strip().splitlines()
    if len(lines) <= WHOLE:
        return said
    last = lines[-1:] if not lines[-2].strip() else []
    return [one for line in (lines[0], *last) for one in sentences(line)]


def _ends(said: Sequence[str], most: int) -> list[str]:
    return list(said) if len(said) <= 2 * most else [*said[:most], *said[-most:]]


def _matters(asked: str) -> Iterator[tuple[Word, ...]]:
    """Yield what a folded request is about: each of `my illness and the tablets`."""
    for match in _ABOUT.finditer(asked):
        for one in _ALSO.split(match[1]):
            named = _ABOUT.match(one)
            clause = named[1] if named else one
            cut = _MATTER_ENDS.search(clause)
            clause = clause[: cut.start()] if cut else clause
            words = tuple(word for word in content(clause) if counts(word))
            if words:
                yield words[:MOST_OF_A_MATTER]
            if cut:
                break


def _told_already(said: Sequence[str], parts: Sequence[str]) -> bool:
    """Tell whether a message says what it announces: after a colon, or in what follows."""
    tail = parts[-1].partition(": ")[2]
    at = next((n for n, one in enumerate(said) if one == parts[-1]), len(said))
    after = " ".join((tail, *said[at + 1 :]))
    return len([word for word in content(after) if counts(word)]) > NAMES


def _stays(folded: Sequence[str]) -> Iterator[Word]:
    """Yield the words of what a message says may be kept."""
    for sentence in folded:
        for clause in _CLAUSE.split(sentence):
            if _MAY_STAY.search(clause):
                words = content(_MAY_STAY.sub(" ", clause))
                yield from (word for word in words if counts(word))


def _may_ask(sentence: str) -> bool:
    small = sentence.casefold()
    return any(map(small.__contains__, _MAYBE)) and bool(_DENIES.search(fold(sentence)))


@cache
def _recogniser() -> Understand:
    return recogniser().recognise

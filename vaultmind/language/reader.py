"""What a message asks of the memory: to remember, forget, correct, keep out, tell or show.

A trained network says how likely a message asks for each, and which words it is about. What a
person writes into `phrases.txt` of the memory folder is heard literally, before the network.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from vaultmind.language.names import agent_meant
from vaultmind.language.network import Reading, network
from vaultmind.language.text import readable, sentences
from vaultmind.language.words import NEGATIONS, SOFT, content, fold
from vaultmind.tables import table

if TYPE_CHECKING:
    from vaultmind.ports import Matrix

IntentName = Literal[
    "remember", "forget_that", "forget_topic", "correct", "skip", "recall", "show_memory", "none"
]
INTENTS: tuple[IntentName, ...] = get_args(IntentName)
Place = tuple[int, int]
Scope = Literal["this", "before", "after"]

GROUPS: dict[str, tuple[tuple[str, ...], float]] = {
    "remember": (("remember",), 0.7),
    "forget": (("forget", "forget_topic"), 0.75),
    "correct": (("correct",), 0.65),
    "skip": (("skip_this", "skip_before", "skip_after"), 0.8),
    "recall": (("recall", "show"), 0.7),
}
"""Labels that lead to the same act, and the likelihood from which it is done: what destroys needs
more."""
SURE, SPOKEN_TO = 0.8, 0.6
"""Likelihood from which a sentence is a request of its own beside another one; and from which the
memory is spoken to, so that the plainest words for it make a wish not to keep something."""
CERTAIN = {1: 0.5, 2: 0.6}
"""Mean likelihood of the words of a span, below which it is none: of what is meant, and what is
wrong."""
POINTS, NAMED_WITHIN = 5, 4
"""Words of a wish not to keep something that only points at what was said; words of a message
within which an agent is named who is to be told something."""
MAYBE = 0.25
"""Share from which a scope may be meant beside a likelier one."""
MOST_SENTENCES, MOST_LETTERS = 6, 600
"""Sentences, and parts of them, of a message that may hold several requests; letters of one that is
read whole: of a longer one both ends are read."""
_SAYS = {name: re.compile(said, re.I) for name, said in table(__file__)["asks"].items()}
"""What the network is helped with: see `words.toml`."""
_NOT = re.compile(r"[,;—-]? (?:not|a nie|nie|а не|не) ([^,;.!?]{1,60})[.!?\s]*$", re.I)
"""How a correction ends that names what was wrong: "Thursday, not Tuesday"."""
SLIGHTLY, LIKELIER = 0.05, 0.5
"""Share of a topic from which a wish to forget is none for the last fact: without and with them."""
_CLAUSE = re.compile(r"\b(?:that|że|ze|что|dass|que)\b", re.I)
"""Begins a clause: "forget that ..." names a fact, whatever follows."""
_COMMAND = re.compile(
    r"\W*(?:(?:please|and|also|by the way|proszę|пожалуйста),? )?"
    r"(?:remember(?: that\b|[:,]| (?:the|my|our|to)\b)|zapamiętaj|запомни)",
    re.I,
)
"""The plainest words for it: whoever begins with them asks, unless the network is sure that not."""
PLAINLY, GOES_ON = 0.15, 0.95
"""Likelihood from which that is believed; and from which a topic is forgotten whose sentence goes
on: "Forget Rome, let's ..."."""
TAIL, TAIL_LETTERS = 2, 12
"""Words at the end of a clause that are not left out alone; letters of a "no, sorry" before what is
right."""
_AND_THAT = re.compile(
    r"(?i),? (?:and that (?=(?-i:[A-Z])|(?:i|we|he|she|it|they|my|our|his|her|its|their|the)\b)"
    r"|(?:i|oraz) że |и что |und dass |y que |et que )"
    r"|, (?:and also (?=i\b|we\b|my\b)|[ia] jeszcze (?:że )?|[иа] ещ[её] (?:что )?)",
)
_AND_ALSO = re.compile(
    r"(?i)(?:,? (?:and|then|i|oraz|и)|,) (?=(?:please |proszę |пожалуйста )?(?:remember|forget|note"
    r"|delete|tell me|zapamiętaj|zapomnij|usuń|powiedz|запомни|забудь|удали|скажи)\b(?!-))"
)
"""Stands before another thing that is asked for in the same sentence."""
FEWEST, ALONE = 3, 0.5
"""Words of a sentence that may be a fact of its own, and likelihood that it can be understood."""
_ADDRESS = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,24}){1,4}|~?/?[\w-]{1,60}(?:[./][\w-]{1,60}){1,9}/?"
    r"|\b[ap]\.m\.|\b(?:Mr|Mrs|Ms|Dr|St|ul|ks|ул|г)\.(?= \w)"
)
"""What is one word, though marks stand in it: addresses, paths, versions, abbreviations."""
_TRIM = " \t\r\n,.;:!?-–—*(\"'„”“«»"


@dataclass(frozen=True, slots=True)
class Intent:
    """What a message asks of the memory.

    `payload` is `text[start:end]`: what to remember, forget, skip or look up, and for `correct`
    what is right. Empty where the message points at what was said before. `old` is empty where it
    does not name what was wrong.
    """

    intent: IntentName = "none"
    lang: str = ""
    payload: str = ""
    start: int = 0
    end: int = 0
    old: str = ""
    target: str = ""
    """The agent whose memory is meant, where the message names one: "tell Dexter that …"."""
    scopes: tuple[Scope, ...] = ()
    """What is not to be kept: this message, what was said before it, what comes after; the
    likeliest first, and others that may be meant."""
    confidence: float = 0.0


NONE = Intent()
_read: dict[str, Intent] = {}
"""What was read in messages."""
MOST_READ = 4096
"""Messages of which that is kept."""


class Reader:
    """Understands messages, by the person's own phrases as they are now. Any thread.

    `folder` may hold `phrases.txt`; `names` returns what agents are called.
    """

    def __init__(
        self, folder: Path | None = None, names: Callable[[], Collection[str]] = tuple
    ) -> None:
        self._file = folder / "phrases.txt" if folder else None
        self._names = names

    def understand(self, text: str, *, naming: bool = True) -> Intent:
        """Return what a message asks for; without `naming` no word of it names an agent."""
        intent = self._literal(text) or intent_of(text)
        names = tuple(self._names()) if naming else ()
        if names and intent.confidence < SURE and (told := _told_to(text, names)) != NONE:
            intent = told
        asked = names and intent.intent != "none"
        return replace(intent, target=_named(text, intent, names)) if asked else intent

    def parted(self, text: str) -> tuple[str, ...]:
        """Return the requests of a message, each in its own words; else the whole message."""
        shown = readable(text)
        found = [one for it in sentences(shown) for one in self._parts(text[it.start : it.end])]
        if not 1 < len(found) <= MOST_SENTENCES:
            return (text,)
        asks = [self.understand(one) for one in found]
        firsts = [at for at, one in enumerate(asks) if one.confidence >= SURE]
        kinds = {(asks[at].intent, asks[at].payload) for at in firsts}
        if len(firsts) < 2 or len(kinds) < len(firsts):  # noqa: PLR2004
            return (text,)
        ends = [*(at + 1 for at in firsts[:-1]), len(found)]
        starts = [0, *ends[:-1]]
        return tuple(" ".join(found[a:b]) for a, b in zip(starts, ends, strict=True))

    def _parts(self, sentence: str) -> list[str]:
        """Return a sentence in parts that each ask for something of their own; else the whole."""
        parts = _AND_ALSO.split(sentence)
        return parts if all(self.understand(one).payload for one in parts) else [sentence]

    def faults(self) -> tuple[str, ...]:
        """Return what is wrong in the person's phrases; the rest of them works."""
        lines = self._lines()
        return tuple(
            f"phrases.txt, line {number}: {line!r} does not begin with one of "
            f"{', '.join(INTENTS[:-1])}, a colon and words."
            for number, line in lines
            if _phrase(line) is None
        )

    def _lines(self) -> list[tuple[int, str]]:
        try:
            text = self._file.read_text("utf-8", "replace") if self._file else ""
        except OSError:
            return []
        lines = ((at, line.strip()) for at, line in enumerate(text.splitlines(), 1))
        return [(at, line) for at, line in lines if line and not line.startswith("#")]

    def _literal(self, text: str) -> Intent | None:
        """Return what a message asks that begins with a phrase of the person's own."""
        for _, line in self._lines():
            phrase = _phrase(line)
            if phrase and fold(text.strip()).startswith(fold(phrase[1])):
                start = len(text) - len(text.lstrip()) + len(phrase[1])
                begin, end = trimmed(text, start, len(text))
                payload = text[begin:end]
                return Intent(phrase[0], "", payload, begin, end, confidence=1.0)
        return None


def _phrase(line: str) -> tuple[IntentName, str] | None:
    """Return the intent and the words of a line `remember: make a knot for`."""
    name, colon, words = line.partition(":")
    known = next((one for one in INTENTS[:-1] if one == name.strip()), None)
    return (known, words.strip()) if known and colon and words.strip() else None


def intent_of(text: str) -> Intent:
    """Return what a message asks of the memory, by the network; `none` when in doubt."""
    return intents_of([text])[0]


def intents_of(texts: Sequence[str]) -> list[Intent]:
    """Return what each message asks: many are read together, and what was read is kept."""
    found = {text: _read[text] for text in texts if text in _read}
    shown = {text: readable(text) for text in texts if text not in found}
    places = [(text, *place) for text in shown for place in _windows(shown[text])]
    readings = network().read("asks", [_as_words(shown[text][a:b]) for text, a, b in places])
    for (text, start, _), reading in zip(places, readings, strict=True):
        intent, best = _decided(reading, text, start), found.get(text, NONE)
        if intent.confidence > best.confidence or not best.lang:
            found[text] = intent
    if len(_read) > MOST_READ:
        _read.clear()
    _read.update(found)
    return [found.get(text, NONE) for text in texts]


def _as_words(text: str) -> str:
    """Return a text of the same length in which an address is one word."""
    return _ADDRESS.sub(lambda one: re.sub(r"\W", "x", one[0]), text)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield what of a text is read: all of it, or its first and its last sentences."""
    if len(text) <= MOST_LETTERS:
        yield 0, len(text)
        return
    found = sentences(text)
    for some in (found[:3], found[-3:]):
        if some:
            yield some[0].start, min(some[-1].end, some[0].start + MOST_LETTERS)


def _decided(reading: Reading, text: str, offset: int) -> Intent:
    """Return the most likely request of a reading, where it is likely enough to be done."""
    asks, lang = reading.heads["asks"], _most(reading.heads["lang"])
    shares = {name: sum(asks[label] for label in labels) for name, (labels, _) in GROUPS.items()}
    out = _kept_out(shares, text)
    group = "skip" if out else _most(shares)
    # a wish not to keep is near a wish to forget: what one takes of the other is no doubt
    sure = shares[group] + shares.get({"skip": "forget", "forget": "skip"}.get(group, ""), 0)
    sure = max(sure, out)
    labels, least = GROUPS[group]
    if group == "remember" and _COMMAND.match(text) and not text.rstrip().endswith("?"):
        sure = 1.0 if sure >= PLAINLY else sure
    is_not_meant = _SAYS["joke"].search(text) or (
        group == "forget" and _SAYS["for_now"].search(text)
    )
    if sure < least or is_not_meant:
        return Intent(lang=lang)
    label = _most({one: asks[one] for one in labels})
    begin, end = span_of(reading, 1, text, offset)
    old_begin, old_end = span_of(reading, 2, text, offset) if group == "correct" else (0, 0)
    if group == "correct" and begin == end and "," in text[:TAIL_LETTERS]:
        begin, end = trimmed(text, text.index(",") + 1, len(text))  # "no, on Friday"
    if group in ("remember", "correct") and end > begin:
        bare = old_end > old_begin or _NOT.search(text)
        begin = _begin_of(text, begin, whole=group == "correct" and not bare)
        end = _end_of(text, end)
    payload = text[begin:end] if group != "skip" and label != "show" else ""
    if group == "forget" and all(one.folded in SOFT for one in content(payload)):
        payload = ""  # "delete that one"
    if group == "forget" and payload and sure < GOES_ON:
        rest = re.split(r"[.!?\n]", text[end:])[0]
        goes_on = "," in payload or (rest[:1] == "," and len(rest.split()) > 1)
        if goes_on and not _CLAUSE.search(text, begin - 5, begin):
            return Intent(lang=lang)
    topic = LIKELIER if _SAYS["that"].search(text) else SLIGHTLY
    if not payload and group == "forget" and asks["forget_topic"] >= topic * sure:
        # "wipe your memory" means no one fact
        begin, end = trimmed(text, 0, len(text))
        payload = text[begin:end]
    if group == "correct":
        (begin, end), (old_begin, old_end) = _put_right(text, (begin, end), (old_begin, old_end))
        payload = text[begin:end]
    named: dict[str, IntentName] = {
        "forget": "forget_topic" if payload else "forget_that",
        "recall": "show_memory" if label == "show" else "recall",
        "remember": "remember",
        "correct": "correct",
        "skip": "skip",
    }
    return Intent(
        named[group],
        lang,
        payload,
        begin if payload else 0,
        end if payload else 0,
        old=text[old_begin:old_end],
        scopes=_scopes(asks, text) if group == "skip" else (),
        confidence=sure,
    )


def _kept_out(shares: dict[str, float], text: str) -> float:
    """Return how likely a message asks in the plainest words that it not be kept: "keep this to
    yourself: ..."; 0 for one that does not, or that does not speak to the memory.
    """
    spoken_to = sum(shares[one] for one in ("remember", "forget", "skip"))
    other = _COMMAND.match(text) or _most(shares) == "forget"
    asks = _SAYS["private"].search(text) and not other
    return spoken_to if asks and spoken_to >= SPOKEN_TO else 0.0


def _put_right(text: str, new: Place, old: Place) -> tuple[Place, Place]:
    """Return where the new and the old words of a correction stand, where it names both."""
    if swapped := _SAYS["but"].search(text):
        return trimmed(text, *swapped.span(2)), trimmed(text, *swapped.span(1))
    if denied := _NOT.search(text):
        old = trimmed(text, *denied.span(1))
        clause = trimmed(text, text.rfind(",", 0, denied.start()) + 1, denied.start())
        if new[0] >= denied.start() or " " not in text[clause[0] : new[0]]:
            new = clause  # the words that are wrong are not the new ones, nor is half of "10:15"
    return new, old


def _begin_of(text: str, begin: int, *, whole: bool) -> int:
    """Return where words begin with what denies them ("I no longer" work at Bosch) or, if the
    `whole` clause is wanted, with a word or two in front of them.
    """
    clause = max(text.rfind(mark, 0, begin) for mark in ",;:.!?—\n") + 1
    if that := _CLAUSE.search(text[clause:begin]):
        clause += that.end()
    start, _ = trimmed(text, clause, begin)
    before = text[start:begin].split()
    denied = any(fold(one) in NEGATIONS or re.search(r"n['’]t$|cannot$", one) for one in before)
    return start if denied or (whole and len(before) <= TAIL) else begin


def _end_of(text: str, end: int) -> int:
    """Return where words end, with the last word or two of their clause."""
    rest = re.match(r"[^,;!?\n]*", _as_words(text)[end:])
    tail = rest[0] if rest else ""
    tail = tail if tail.startswith((" ", ".", "/", "@", "x")) and ". " not in tail else ""
    is_short = any(map(str.isalnum, tail)) and len(tail[1:].split()) <= TAIL
    return trimmed(text, end, end + len(tail))[1] if is_short else end


def _scopes(asks: dict[str, float], text: str) -> tuple[Scope, ...]:
    """Return what may be meant by a wish not to keep something, the likeliest first.

    What is so short tells nothing itself: "please don't save that".
    """
    if _SAYS["announces"].search(text):
        return ("after",)
    if ":" not in text and len(text.split()) <= POINTS:
        ahead = asks["skip_after"] >= asks["skip_before"] + asks["skip_this"]
        return ("after",) if ahead else ("before",)
    names: tuple[Scope, ...] = ("this", "before", "after")
    shares = {name: asks[f"skip_{name}"] for name in names}
    ordered = sorted(names, key=lambda name: -shares[name])
    return tuple(name for name in ordered if shares[name] >= MAYBE * sum(shares.values()))


def span_of(reading: Reading, tag: int, text: str, offset: int) -> tuple[int, int]:
    """Return the place of the words that most likely carry a tag together; empty for none."""
    start, end = best_run(reading.tags, tag)
    if start == end or float(reading.tags[start:end, tag].mean()) < CERTAIN[tag]:
        return 0, 0
    words = reading.words
    return trimmed(text, offset + words[start].start, offset + words[end - 1].end)


def best_run(tags: Matrix, tag: int) -> tuple[int, int]:
    """Return the run of rows whose odds for a tag add up to the most."""
    import numpy as np

    share = np.clip(tags[:, tag], 1e-6, 1 - 1e-6)
    best, begin, total, found = 0.0, 0, 0.0, (0, 0)
    for at, odds in enumerate(np.log(share / (1 - share)).tolist()):
        if total <= 0:
            total, begin = 0.0, at
        total += odds
        if total > best:
            best, found = total, (begin, at + 1)
    return found


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the blanks and marks around it."""
    while start < end and text[start] in _TRIM:
        start += 1
    while end > start and text[end - 1] in _TRIM:
        end -= 1
    return start, end


def _told_to(text: str, names: tuple[str, ...]) -> Intent:
    """Return what "tell Dexter that I row" or "what does Dexter know of me" asks an agent."""
    russian = re.search("[а-яё]", text.lower())
    polish = re.search(r"\b(?:wie|co)\b", text.lower())
    you = "ты" if russian else "ty" if polish else "you"
    for at, word in enumerate(list(re.finditer(r"[\w-]+", text))[:NAMED_WITHIN]):
        if not at or not agent_meant(word.group(), names):
            continue
        rest = text[word.end() :]
        order = intent_of(f"{'запомни' if russian else 'remember'}{rest}")
        before = re.sub(r"\bdoes\s+$", "do ", text[: word.start()])  # "does Dexter": "do you"
        question = intent_of(f"{before}{you}{re.sub(r'^ wie ', ' wiesz ', rest)}")
        asks = (order if at == 1 and order.intent == "remember" else None, question)
        for intent in filter(None, asks):
            if intent.intent in ("remember", "recall") and intent.confidence >= SURE:
                start = max(0, text.find(intent.payload, word.end()))
                return replace(intent, start=start, end=start + len(intent.payload))
    return NONE


def _named(text: str, intent: Intent, names: tuple[str, ...]) -> str:
    """Return the agent that a word outside of the payload names."""
    around = f"{text[: intent.start]} {text[intent.end :]}" if intent.payload else text
    found = (agent_meant(word, names) for word in re.findall(r"[\w-]+", around))
    return next(filter(None, found), "")


def facts_in(text: str) -> list[str]:
    """Return the facts of one request: "I like tea and that Ola likes coffee" has two, and so have
    two sentences of which the second can be understood by itself.

    What somebody said or thinks ("Marek says that …, and that …") is one.
    """
    told: list[str] = []
    for one in (text[it.start : it.end] for it in sentences(text)):
        if told and not stands_alone(one):
            told[-1] += f" {one}"
        else:
            told.append(one)
    told = [_SAYS["filler"].sub("", one.removesuffix("." * (len(told) > 1))) for one in told]
    return [fact for one in told for fact in _parted(one)]


def stands_alone(text: str) -> bool:
    """Tell whether a sentence can be understood by itself."""
    is_long = len(text.split()) >= FEWEST
    return is_long and network().read("facts", [text])[0].heads["alone"]["alone"] >= ALONE


def _parted(text: str) -> list[str]:
    facts = _AND_THAT.split(text)
    whole = any(len(one.split()) < 2 or _CLAUSE.search(one) for one in facts)  # noqa: PLR2004
    return [text] if whole else facts


def _most(shares: dict[str, float]) -> str:
    return max(shares, key=lambda name: shares[name])

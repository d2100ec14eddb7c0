"""Facts that two say together: an answer to a question, and a yes to a proposal.

`And your sister's name?` `Mila` leaves what neither message says alone; so does `Let's send it
every other Friday, agreed?` `Deal`. The person's words are the evidence; the assistant lends its
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from vaultmind.consolidate.facts.cues import CYRILLIC, begins, features, says
from vaultmind.consolidate.facts.slots import COMMITS, LABELS, Kind, asks_for
from vaultmind.consolidate.facts.statement import statement
from vaultmind.consolidate.facts.talk import Said, Talk
from vaultmind.memory.contradictions.relations import pattern
from vaultmind.memory.words import NEGATIONS, SOFT, content, fold

MOST_WORDS = 6
"""Content words of an answer that is no more than one."""
FEWEST, ASKING = 2, 3
"""Content words of a proposal that says something, and of a question that only asks about it."""
BACK = 3
"""Messages of the user back to which `her` in a question reaches."""
LONGEST = 90
"""Characters of what was said of somebody, where it stands before an answer about them."""

_MY = (
    (r"your", "my"), (r"you", "I"),
    (r"twój", "mój"), (r"twoja", "moja"), (r"twoje", "moje"), (r"twojej", "mojej"),
    (r"twojego", "mojego"), (r"твой", "мой"), (r"твоя", "моя"), (r"твое|твоё", "моё"),
    (r"твоей", "моей"), (r"твоего", "моего"), (r"ваш", "мой"), (r"ваша", "моя"),
    (r"вашей", "моей"), (r"вашего", "моего"),
)  # fmt: skip
_ASKED = re.compile(
    r"^(?:(?:and|so|ok|great|lovely|a|i|а|и)\s+)*"
    r"(?:what(?:'s| is| are|’s)|who(?:'s| is|’s)|when(?:'s| is|’s)"
    r"|jak(?:ie jest| się nazywa| ma na imię| wabi się)?|kiedy (?:jest|są|ma)?|как зовут|когда|"
    r"какое)?\s+",
    re.I,
)
_WHOSE = re.compile(
    r"(?<!\w)(?:my|mój|moja|moje|mojej|mojego|мой|моя|моё|моей|моего)\s[^,.;:?!]{2,60}", re.I
)
_NAMED_OWNER = re.compile(r"(?:^|(?<=\s))the\s[\w' ’]{2,40}'s\s\w+", re.I)
_UNSURE = pattern(
    r"""dunno|don't know|no idea|not sure|idk|maybe|perhaps|probably|nie wiem|nie mam pojęcia|
    może|chyba|
    none|nope|brak|żadn\w+|jeszcze nie|нет|никак\w+|не знаю|понятия не имею|может|наверное|
    пока нет|хз|why|czemu|почему"""
)
_PROPOSES = pattern(
    r"""(?:i'?d|i would|i) (?:suggest|propose|recommend|go (?:with|for))|let's|how about|what about|
    shall we|why not|then|we could|the rule|proponuję|propozycja|może|ustalmy|umówmy się|
    niech będzie|
    zróbmy|weźmy|przyjmijmy|zasada|предлагаю|давайте|давай|может|можно|договоримся|пусть|правило"""
)
_SETTLES = pattern(
    r"""shall we (?:fix|say|go|do|agree|settle|make)\w*|(?:is that |are we )?agreed|deal|
    fix that|ok with you|
    works for you|sound good|does that work|can we (?:agree|settle|say)|umawiamy się|zgoda|
    umowa|pasuje|
    może być|tak zrobimy|ustalone|odpowiada ci|przyjmujemy|берем|договорились|идет|так и сделаем|
    подходит|согласн\w+|решено|устраивает|фиксируем|принимаем"""
)
_SERVICE = pattern(
    r"""(?:shall|should|can|could|may) i|want me|would you like|do you want me|mam (?:ci )?\w+ć|
    chcesz|
    zacząć od|zacząć|хотите|хочешь|мне (?:сделать|составить|начать)|составить|начать|начнем|try|
    draft"""
)
_UNLED = re.compile(
    r"^(?:(?:then|so|ok|okay|well|to|więc|тогда|ну)\s*,?\s+)*(?:(?:i'?d|i would|"
    r"i)\s+(?:suggest|propose|"
    r"recommend)|how about|what about|shall we (?:say|do)|let's (?:say|do|go with)|proponuję|może|"
    r"предлагаю|давайте|давай|может)?\s*(?:правило|a rule|zasadę)?\s*[:,]?\s*",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Told:
    """What an exchange says, and the piece of the user's talk that says it."""

    text: str
    keys: tuple[str, ...]
    """Of the messages that say it together, the user's last."""
    said: Said
    kind: Kind | None
    """What was asked for; None for a proposal that was agreed to."""


def answers(talk: Talk) -> list[Told]:
    """Return what the user's short answers say together with the questions they answer."""
    return [told for before, after in _turns(talk) if (told := _answered(before, after, talk))]


def agreements(talk: Talk) -> list[Told]:
    """Return the proposals of the assistant that the user agreed to."""
    return [told for before, after in _turns(talk) if (told := _agreed(before, after, talk))]


def _turns(talk: Talk) -> Iterator[tuple[list[Said], list[Said]]]:
    """Yield each message of the assistant with the user's that follows it."""
    by_message: dict[int, list[Said]] = {}
    for one in talk.said:
        by_message.setdefault(one.at, []).append(one)
    order = sorted(by_message)
    for first, then in pairwise(order):
        before, after = by_message[first], by_message[then]
        if before[0].role == "assistant" and after[0].role == "user":
            yield before, after


def _answered(before: Sequence[Said], after: Sequence[Said], talk: Talk) -> Told | None:
    asked = next((one for one in reversed(before) if one.whole.rstrip().endswith("?")), None)
    kind = asks_for(asked.whole) if asked else None
    answer = _first(after)
    if asked is None or kind is None or answer is None:
        return None
    said = statement(answer.text)
    whose = _whose(asked.whole) if kind != "place" else ""
    keys: tuple[str, ...] = (asked.key, answer.key)
    at = ("en", "pl", "ru").index(_language(said if CYRILLIC.search(said) else asked.whole))
    label = LABELS[kind][at]
    if whose:
        return Told(f"{whose}: {said}", keys, answer, kind)
    about = _spoken_of(answer, talk) if kind in ("name", "age", "date") else None
    if about is not None:
        return Told(f"{about[0]}; {label}: {said}", (about[1], *keys), answer, kind)
    if kind == "date" or (kind in ("name", "age") and _points_away(asked.whole)):
        return None
    return Told(f"{label.capitalize()}: {said}", keys, answer, kind)


def _first(after: Sequence[Said]) -> Said | None:
    """Return the first words of a message where they are an answer and nothing more."""
    one = after[0]
    words = [word for word in content(one.text) if word.folded not in SOFT]
    folded = fold(one.text)
    bad = one.fault or _UNSURE.search(folded) or folded.split()[:1] in [[n] for n in NEGATIONS]
    if bad or not 0 < len(words) <= MOST_WORDS:
        return None
    return one if statement(one.text) else None


def _whose(question: str) -> str:
    """Return whom or what a question is about, as the person would say it; empty if it points."""
    text = _ASKED.sub("", question.strip().rstrip("?! ")).strip()
    for theirs, mine in _MY:
        text = re.sub(rf"(?<!\w)(?:{theirs})(?!\w)", mine, text, flags=re.I)
    found = _WHOSE.search(text) or _NAMED_OWNER.search(text)
    named = re.sub(r"\s+(?:called|named|на имя)$", "", found.group().strip()) if found else ""
    return named[:1].upper() + named[1:]


def _points_away(question: str) -> bool:
    """Tell whether a question is about somebody else than the person, without naming them."""
    return bool(
        re.search(
            r"(?<!\w)(?:his|her|its|their|it|he|she|they|the|jego|jej|ich|on|ona|wabi|его|ее|"
            r"её|их|он|"
            r"она)(?!\w)",
            question,
            re.I,
        )
    )


def _spoken_of(answer: Said, talk: Talk) -> tuple[str, str] | None:
    """Return what the user said last of somebody near to them, or of a thing planned, and where."""
    own = [one for one in talk.by_user() if one.at < answer.at]
    near = sorted({one.at for one in own}, reverse=True)[:BACK]
    for one in sorted((x for x in own if x.at in near), key=lambda x: -x.at):
        if one.fault not in (None, "request", "question"):
            continue
        for clause in re.split(r"[,;]\s+|\s[-–—]\s+", one.text):
            folded = fold(clause)
            cues = features(cyrillic=bool(CYRILLIC.search(folded)))
            if (cues["kin"].search(folded) or cues["pet"].search(folded)) and one.text:
                return _short(clause), one.key
    return None


def _short(clause: str) -> str:
    """Return a clause as what stands before an answer: from `my` on where it is a request."""
    found = _WHOSE.search(clause)
    if found and (begins(fold(clause), "request") or begins(fold(clause), "question")):
        clause = found.group()
    text = statement(clause)
    return text if len(text) <= LONGEST else text[: text.rfind(" ", 0, LONGEST)]


def _agreed(before: Sequence[Said], after: Sequence[Said], talk: Talk) -> Told | None:
    if before[0].key not in talk.agreed or after[0].fault:
        return None
    if any(w in NEGATIONS for w in fold(after[0].whole).replace(",", " ").split()):
        return None
    wholes = list(dict.fromkeys(one.whole for one in before))
    last = wholes[-1]
    settles = last.rstrip().endswith("?") and bool(_SETTLES.search(fold(last)))
    commits = bool(COMMITS.search(fold(after[0].whole)))
    if not (settles or commits) or _SERVICE.search(fold(last)):
        return None
    sound = [one for one in wholes if not says(fold(one), "order") and not says(fold(one), "told")]
    proposed = [
        one for one in sound if _PROPOSES.search(fold(one)) and not _is_asking(one, settles)
    ]
    if not proposed:
        return None
    text = _UNLED.sub("", proposed[-1].strip().rstrip("?.! "))
    text = statement(text)
    if len([word for word in content(text) if word.folded not in SOFT]) < FEWEST:
        return None
    return Told(text, (before[0].key, after[0].key), after[0], None)


def _is_asking(sentence: str, settles: bool) -> bool:
    """Tell whether a sentence only asks whether what was proposed before it is right."""
    few = len(content(sentence)) <= ASKING
    return settles and sentence.rstrip().endswith("?") and few


def _language(text: str) -> str:
    folded = fold(text)
    if CYRILLIC.search(folded):
        return "ru"
    polish = re.search(r"[ąćęłńśźż]", text.lower()) or re.search(
        r"\b(?:jak|gdzie|kiedy|imie|sie|jest|ile|od|to|nazywa|w)\b", folded
    )
    return "pl" if polish else "en"

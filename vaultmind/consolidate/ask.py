"""Asking a language model about numbered lines, and what of its sentences those lines say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from vaultmind.consolidate.ground import supported
from vaultmind.consolidate.talk import (
    GAP,
    Talk,
    key_of,
    own_words,
)
from vaultmind.consolidate.types import (
    Level,
    Reason,
)
from vaultmind.errors import MinionFailed
from vaultmind.index.words.language import detect
from vaultmind.memory.match import same_fact
from vaultmind.minion import prompts
from vaultmind.minion.structured import ask_json
from vaultmind.minion.window import windows
from vaultmind.plural import counted
from vaultmind.ports import Generator
from vaultmind.session.sentences import sentences
from vaultmind.types import Message, Prompt, Role, Turn
from vaultmind.vault.oneline import one_line

UNSAID_CONTEXT = 4096
"""Tokens of a window of which nobody says how large it is."""
ANSWER_SHARE, MOST_ANSWER = 4, 1024
"""An answer may have a quarter of the window, and at most so many tokens."""
MARGIN, LEAST_ROOM = 48, 120
"""Tokens of the marks around the turns; with less room a model sees only scraps."""
MOST_WINDOWS = 32
"""What would need more is left to the built-in engine: hours of work for one conversation."""
OVERLAP = 2
"""Lines that end a window and stand at the beginning of the next one too."""
SECONDS = 3600.0
"""What the configuration allows a job is less."""
ENOUGH = 0.5
"""Share of a model's sentences that must be said for any to be believed."""
MOST_SENTENCES, MOST_CHARACTERS = 5, 400
FEWEST, LONG = 2, 6
"""Sentences that a conversation of so many lines is summed up in, at least."""
PARAGRAPHS: dict[Level, tuple[int, int]] = {"L1": (3, 5), "L2": (2, 3)}
"""Fewest and most."""
LEFT_OUT = "[…]"
NOTHING = {"en": "(nothing)", "pl": "(nic)", "ru": "(ничего)"}
HIDDEN: frozenset[Reason | None] = frozenset({"private", "secret", "orders the memory"})
_NUMBERED = re.compile(r"\[(\d+)\](?=\s)")


@dataclass(frozen=True, slots=True)
class Line:
    """A message as a model is shown it."""

    number: int
    """From 1: what the model calls it."""
    key: str
    role: Role | Literal[""]
    """Empty where nobody speaks: a note."""
    text: str

    @property
    def shown(self) -> str:
        """Return the line."""
        return f"[{self.number}] {f'{self.role}: ' if self.role else ''}{self.text}"


def transcript(messages: Sequence[Message], talk: Talk) -> tuple[Line, ...]:
    """Return the lines of a conversation that a model may see; `talk` is what was read of it.

    No tool output, pastes, code, private or secret words, nothing that was asked not to be kept
    and no orders to a memory: what is not shown cannot be repeated.
    """
    withheld = {one.key for one in talk.said if one.fault == "asked not to keep"}
    hidden = {(one.key, one.text) for one in talk.said if one.fault in HIDDEN}
    found: list[Line] = []
    for message in messages:
        key = key_of(message)
        if message.role not in ("user", "assistant") or message.asked or message.erased:
            continue
        own, _ = own_words(message.text)
        kept = [LEFT_OUT if (key, one) in hidden else one for one in sentences(own)]
        text = _NUMBERED.sub(r"(\1)", one_line(" ".join(kept).replace(GAP, LEFT_OUT)))
        if key not in withheld and any(map(str.isalnum, text)):
            found.append(Line(len(found) + 1, key, message.role, text))
    return tuple(found)


# --- asking --------------------------------------------------------------------------------


def object_of(**properties: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the schema of an object, all of whose properties are required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(items: dict[str, Any], most: int, fewest: int = 0) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": items, "maxItems": most, "minItems": fewest}


def text_of(most: int) -> dict[str, Any]:
    """Return the schema of a text of so many characters at most."""
    return {"type": "string", "maxLength": most}


INTEGER = {"type": "integer"}
FROM = list_of(INTEGER, 12)


def ask_all(
    generator: Generator,
    name: str,
    lines: Sequence[Line],
    schema: Mapping[str, Any],
    language: str,
    fixed: Mapping[str, str] = MappingProxyType({}),
) -> list[dict[str, Any]]:
    """Return a model's answers about some lines, one for each window that they fill.

    `name` is the prompt's, `schema` what an answer holds, `fixed` what else the prompt
    says. Raises MinionFailed.
    """
    words = prompts.load(name, language)
    place = "notes" if name == "level" else "transcript"
    window = generator.context_tokens or UNSAID_CONTEXT
    answer = min(MOST_ANSWER, window // ANSWER_SHARE)
    free = window - generator.count(words.filled(**{place: ""}, **fixed)) - answer - MARGIN
    room = free - answer if free - answer >= window // 2 else free
    if room < LEAST_ROOM:
        raise MinionFailed("too_long", f"The window of {generator.id} ({window}) has no room.")
    parts = windows([line.shown for line in lines], room, generator.count, overlap=OVERLAP)
    if len(parts) > MOST_WINDOWS:
        why = f"It would take {generator.id} {len(parts)} windows; {MOST_WINDOWS} are the most."
        raise MinionFailed("too_long", why)
    found = []
    for part in parts:
        text = words.filled(**{place: "\n".join(text for _, text in part)}, **fixed)
        allowed = frozenset(lines[source].number for source, _ in part)
        prompt = Prompt(
            (Turn("user", text),), object_of(**schema), max_tokens=answer, seconds=SECONDS
        )
        check = partial(_numbers_fault, allowed)
        found.append(ask_json(generator, prompt, check, language=words.language))
    return found


def _numbers_fault(allowed: frozenset[int], value: Mapping[str, Any]) -> Sequence[str]:
    """Return that most of an answer's items name no line that there is; a few are left out."""
    for items in (one for one in value.values() if isinstance(one, list)):
        field_ = next((f for f in ("evidence", "from") for i in items if f in i), "")
        named = [one[field_] for one in items] if field_ else []
        lists = [one if isinstance(one, list) else [one] for one in named]
        wrong = [one for one in lists if one and allowed.isdisjoint(one)]
        if wrong and 2 * len(wrong) > len(lists):
            return (f'"{field_}" must hold numbers from {min(allowed)} to {max(allowed)}',)
    return ()


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence of a model, and the keys of the lines that it names."""

    text: str
    keys: tuple[str, ...]


def notes_of(
    generator: Generator, name: str, lines: Sequence[Line], language: str, **fixed: str
) -> list[Note]:
    """Return a model's sentences about some lines, or its paragraphs for the prompt `level`."""
    item = "paragraphs" if name == "level" else "sentences"
    most = PARAGRAPHS["L1"][1] if name == "level" else MOST_SENTENCES
    size = 900 if name == "level" else 300
    schema = {item: list_of(object_of(**{"text": text_of(size), "from": FROM}), most)}
    keys = {line.number: line.key for line in lines}
    return [
        Note(one["text"], tuple(dict.fromkeys(keys[n] for n in one["from"] if n in keys)))
        for value in ask_all(generator, name, lines, schema, language, fixed)
        for one in value[item]
    ]


def summed_up(generator: Generator, lines: Sequence[Line], language: str) -> list[Note]:
    """Return a few sentences about some lines; many are summed up again while that helps."""
    current = notes_of(generator, "summary", lines, language)
    while len(current) > MOST_SENTENCES:
        again = [Line(at, str(at - 1), "", one.text) for at, one in enumerate(current, 1)]
        shorter = notes_of(generator, "summary", again, language)
        if len(shorter) >= len(current):
            break
        from_ = [[key for at in one.keys for key in current[int(at)].keys] for one in shorter]
        current = [
            Note(one.text, tuple(dict.fromkeys(keys)))
            for one, keys in zip(shorter, from_, strict=True)
        ]
    return current


# --- what holds ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sound:
    """The sentences of a model that hold, and what each of the others says that nobody said."""

    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def enough(self, lines: int = 1) -> bool:
        """Tell whether enough is left to sum up so many lines."""
        fewest = FEWEST if lines >= LONG else 1
        return len(self.kept) >= max(fewest, ENOUGH * (len(self.kept) + len(self.dropped)))

    def note(self) -> tuple[str, ...]:
        """Return in words what was left out, if anything."""
        if not self.dropped:
            return ()
        number = f"{counted(len(self.dropped), 'sentence')} of the model"
        return (f"{number} left out: nobody said {'; '.join(dict.fromkeys(self.dropped[:3]))}.",)


def sound(texts: Iterable[str], sources: Sequence[str], also: str = "") -> Sound:
    """Return the sentences of some texts that their sources say, each once, in order."""
    kept: list[str] = []
    dropped: list[str] = []
    said = [Message("user", one, "") for one in sources]
    for one in (one for text in texts for one in sentences(one_line(text))):
        if any(same_fact(one, other) for other in kept) or not any(map(str.isalnum, one)):
            continue
        fault = supported(one, said, also=also)
        if fault is not None or len(one) > MOST_CHARACTERS:
            dropped.append((fault.detail or fault.reason) if fault else "so long a sentence")
        else:
            kept.append(one if one[-1] in '.!?…。！？"»”)' else f"{one}.")
    return Sound(tuple(kept), tuple(dropped))


def believed(generator: Generator, found: Sound, lines: int = 1) -> Sound:
    """Return what holds; raises MinionFailed where that is too little."""
    if not found.enough(lines):
        said = f"{len(found.kept)} of {len(found.kept) + len(found.dropped)} of its sentences"
        why = f"The model {generator.id} did not understand: {said} were said."
        raise MinionFailed("nonsense", why)
    return found


def spoken_in(lines: Iterable[Line], fallback: str) -> str:
    """Return the language that is spoken, which is the one to answer in."""
    return detect(" ".join(one.text for one in lines), fallback) or fallback

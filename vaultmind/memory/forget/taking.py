"""Taking what says a thing out of a file, a kind of record each. Pure: text in, text out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from vaultmind.memory import suggestions
from vaultmind.memory.audit import DROP, AuditLine, erase, parse_line, ref_of, refs_of
from vaultmind.memory.brain import PlacedFact, parse_brain, remove_fact, removed_text
from vaultmind.memory.forget.kinds import Ref
from vaultmind.memory.forget.sentences import without_lines, without_properties, without_sentences
from vaultmind.memory.forget.taken import Taken, Target, Without, line_name
from vaultmind.memory.forget.wanted import Wanted
from vaultmind.types import Fact, MessageRef
from vaultmind.vault.edits import line_span
from vaultmind.vault.nesting import erased_line
from vaultmind.vault.transcript import PlacedMessage, parse_session


def without_messages(target: Target, wanted: Wanted) -> Without:
    """Return a session with a marker in the place of the words of each message that says it.

    The callout with its title, comment and block id stays, all else to the byte; the speaker's
    name goes where it is what is wanted. So do topics, and lines that are no message.
    """
    session = target.path.rpartition("/")[2].removesuffix(".md")
    marker = erased_line(target.today, target.language)
    properties = without_properties(target.text, wanted)
    text, taken = properties.text, []
    for placed in reversed(parse_session(text).messages):
        message = placed.message
        ref = MessageRef(target.agent, session, message.block, message.id)
        place = f"^{message.block}" if message.block else line_name(text, placed.start)
        meant = wanted.means(target.agent, session, message.block, message.id)
        if message.text and (meant or wanted.says(message.text)):
            taken.append(Taken(place, message.text, ref))
            text = text[: placed.text_start] + marker + text[placed.text_end :]
        if message.speaker and wanted.says(message.speaker):
            taken.append(Taken(f"{place}, speaker", message.speaker))
            text = _without_speaker(text, placed)
    spare = [(placed.start, placed.end) for placed in parse_session(text).messages]
    rest = without_lines(text, wanted, spare)
    return Without(rest.text, (*properties.taken, *reversed(taken), *rest.taken))


def without_facts(target: Target, wanted: Wanted) -> Without:
    """Return a brain or its archive without each fact that says it, and the lines under it."""
    text, taken = target.text, []
    while (placed := _first_fact(text, wanted)) is not None:
        place = f"^{placed.fact.block}" if placed.fact.block else line_name(text, placed.start)
        taken.append(Taken(place, removed_text(text, placed)))
        text = remove_fact(text, placed)
    rest = without_sentences(replace(target, text=text), wanted)
    return Without(rest.text, (*taken, *rest.taken))


def without_suggestions(target: Target, wanted: Wanted) -> Without:
    """Return Suggestions.md without each suggestion that says it, settled or not."""
    text, taken = target.text, []
    for one in reversed(suggestions.parse(text)):
        lines = text[one.start : one.end]
        ours = not wanted.agent or one.suggestion.agent == wanted.agent
        if ours and suggestions.erase(lines, wanted.says) != lines:
            taken.append(Taken(f"^{one.suggestion.id}", lines))
            text = text[: one.start] + text[line_span(text, one.start, one.end)[1] :]
    rest = Without(text) if wanted.agent else without_lines(text, wanted)
    return Without(rest.text, (*reversed(taken), *rest.taken))


def without_values(target: Target, wanted: Wanted) -> Without:
    """Return JSON Lines with a marker for each text in them that says it; names stay."""
    mark = f"(erased {target.today})"
    lines, taken = target.text.split("\n"), []
    for number, line in enumerate(lines):
        gone: list[str] = []
        try:
            new = _marked(json.loads(line), wanted, mark, gone)
        except (ValueError, RecursionError):
            if not wanted.says(line):
                continue
            gone, new = [line], {"erased": target.today}
        if gone:
            taken.append(Taken(f"line {number + 1}", "\n".join(gone)))
            end = "\r" if line.endswith("\r") else ""
            lines[number] = json.dumps(new, ensure_ascii=False) + end
    return Without("\n".join(lines), tuple(taken))


def without_audit_texts(target: Target, wanted: Wanted) -> Without:
    """Return an audit file whose lines have lost their texts where they say it."""
    taken: list[Taken] = []

    def says(line: AuditLine) -> bool:
        if not any(map(wanted.says, line.texts)):
            return False
        place = line.id or "a torn line"
        words = "\n".join(one for one in (line.before, line.after, line.reason) if one)
        if all(one.place != place for one in taken):  # a change has a line where it begins, too
            taken.append(Taken(place, words))
        return True

    return Without(erase(target.text, says), tuple(taken))


def refs_in_audit(text: str, wanted: Wanted) -> Iterator[Ref]:
    """Yield what an audit file names where it says it: the sources, and what was hidden for it."""
    for raw in text.split("\n"):
        line = parse_line(raw) if wanted.may_be_in(raw) else None
        if line is None or line.op == DROP:
            continue  # what a model made up was not said by the messages that it named
        if any(map(wanted.says, (line.before, line.after))):
            evidence = ref_of(line.evidence)
            yield from refs_of(line.hidden)
            yield from [evidence] if evidence else []


def _first_fact(text: str, wanted: Wanted) -> PlacedFact | None:
    """Return the first fact that says it, itself or by the words quoted beside it."""
    facts = parse_brain(text).facts
    return next((one for one in facts if any(map(wanted.says, _said(one.fact)))), None)


def _said(fact: Fact) -> tuple[str, str]:
    return fact.text, fact.quote


def _without_speaker(text: str, placed: PlacedMessage) -> str:
    """Return the text with a message's title as it is for nobody in particular."""
    stop = text.find("\n", placed.start)
    stop = len(text) if stop < 0 else stop
    name = placed.message.speaker
    title, mark, rest = text[placed.start : stop].partition("%%{")
    title = title.replace(f" · {name}", "").replace(f"] {name}", "]")
    raw, closing, after = rest.rpartition("}%%")
    try:
        extra = json.loads(f"{{{raw}}}")
        if extra.pop("speaker", None) is not None:
            raw = json.dumps(extra, separators=(",", ":")).replace("%", "\\u0025")[1:-1]
    except (ValueError, RecursionError):
        raw = raw.replace(name, "")
    return text[: placed.start] + title + mark + raw + closing + after + text[stop:]


def _marked(value: Any, wanted: Wanted, mark: str, gone: list[str]) -> Any:  # noqa: ANN401
    """Return a JSON value with a mark for each text that says it; `gone` gets these."""
    if isinstance(value, str):
        if not wanted.says(value):
            return value
        gone.append(value)
        return mark
    if isinstance(value, list):
        return [_marked(one, wanted, mark, gone) for one in value]
    if isinstance(value, dict):
        return {key: _marked(one, wanted, mark, gone) for key, one in value.items()}
    return value

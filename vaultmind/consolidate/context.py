"""The active context: put better by what a conversation was about, as an agent or a model says it.

It was written when the session ended. Words that are held against the talk take the place of the
sentences chosen then; the other sections stay as far as there is room. What a person has changed
in it meanwhile stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vaultmind.consolidate.types import Understood, Work
from vaultmind.redact import mask
from vaultmind.session.active import (
    BODY_TOKENS,
    ActiveContextFile,
    body_of,
    has_recap,
    link,
    speaks_of,
)
from vaultmind.session.files import plain_text, read_text
from vaultmind.session.sentences import LANGUAGES, headings, sentences
from vaultmind.session.summary import section_text
from vaultmind.tokens import count
from vaultmind.vault.bullets import HEADING
from vaultmind.vault.files import FileText
from vaultmind.vault.oneline import escape

KEPT = "The active context was changed since, and was left as it is."


def better(work: Work, found: Understood) -> str:
    """Write a model's summary of a session into the active context; return why not, or "".

    Nothing is done where that speaks of another session, or of this one in the agent's own words.
    """
    by, agent = work.by, work.agent
    text = read_text(by.reader, by.reader.paths.active_context(agent))[0]
    is_about = speaks_of(text) == link(work.path) and not has_recap(text, work.session)
    if found.by == "extractive" or not found.summary or not is_about:
        return ""
    left = ActiveContextFile(by.reader, by.hides).read(agent, work.path, by.clock())
    if body_of(text).strip() != left.body.strip():
        return KEPT
    about = [escape(one) for one in sentences(found.summary)]
    saved = retell(work, about, "what a session leaves, summed up", text)
    return "" if saved else KEPT


def retell(work: Work, about: Sequence[str], reason: str, before: str | None = None) -> bool:
    """Write other bullets on what a session was about into the active context; tell whether.

    Not where a later session left its own, or it does not hold what stood there `before`, where
    that is given.
    """
    by, now = work.by, work.by.clock()
    written = ActiveContextFile(by.reader, by.hides)
    left = written.read(work.agent, work.path, now)

    def change(file: FileText | None) -> str | None:
        text = file.text if file else ""
        if before is not None and body_of(text) != body_of(before):
            return None
        base = body_of(text) if speaks_of(text) == link(work.path) else ""
        body = mask(with_about(base, about, left.language, BODY_TOKENS)).text
        return written.change(replace(left, body=body, slight=False), now)(file)

    active = by.reader.paths.active_context(work.agent)
    return by.gate.save(active, change, work.caller, reason) is not None


def with_about(text: str, about: Sequence[str], language: str, max_tokens: int) -> str:
    """Return the body of an active context with other bullets on what the talk was about.

    `text` is what the conversation leaves without them: its other sections stay as far as there
    is room. At least one bullet is kept.
    """
    sections: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if match := HEADING.match(line):
            sections.append((match[1], []))
        elif line.startswith("- ") and sections:
            sections[-1][1].append(line[2:])
    title = headings(language)["about"]
    kept = list(about)
    body = section_text(title, kept)
    while len(kept) > 1 and count(plain_text(body)) > max_tokens:
        kept.pop()
        body = section_text(title, kept)
    titles = {headings(code)["about"].casefold() for code in LANGUAGES}
    others = [one for one in sections if one[0].casefold() not in titles]
    for name, items in others:
        fitting: list[str] = []
        for item in items:
            whole = f"{body}\n\n{section_text(name, [*fitting, item])}"
            if count(plain_text(whole)) <= max_tokens:
                fitting.append(item)
        if fitting:
            body = f"{body}\n\n{section_text(name, fitting)}"
    return body

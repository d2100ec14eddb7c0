"""Chunks of the memory folder: a fact for each bullet of a brain, a message of a session."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath

from vaultmind.index.chunking.draft import TITLE_JOINT, Draft, faults_of, new_chunk
from vaultmind.index.chunking.splitting import split
from vaultmind.index.ties import heading_anchor
from vaultmind.index.words.language import detect
from vaultmind.types import Chunk
from vaultmind.vault.bullets import bullets
from vaultmind.vault.transcript import PlacedMessage, parse_session

MESSAGE_TARGET = 900
"""Characters of a piece of a long message."""

_WRITTEN = re.compile(r"%%\s*(\d{4}-\d{2}-\d{2})\b")
_UNTIL = re.compile(r"(?<![^\s%])until (\d{4}-\d{2}-\d{2})%%")


def chunk_brain(path: str, text: str) -> Draft:
    """Return a chunk for each bullet, wherever in the file it stands."""
    found = bullets(text)
    lang = detect(" \n".join(bullet.text for bullet in found))
    name = PurePosixPath(path).stem
    chunks = []
    for bullet in found:
        written = _WRITTEN.search(bullet.raw)
        anchor = f"#^{bullet.block}" if bullet.block else heading_anchor(bullet.heading)
        until = _UNTIL.search(bullet.raw)
        told = f"{bullet.text} (until {until[1]})" if until else bullet.text
        chunk = new_chunk(bullet.heading or name, told, (bullet.start, bullet.end), anchor)
        chunks.append(
            replace(chunk, lang=detect(bullet.text, lang), time=written.group(1) if written else "")
        )
    return Draft(tuple(chunks), name, "", lang)


def chunk_session(path: str, text: str) -> Draft:
    """Return a chunk for each message, more for a long one; none for an erased one.

    Nor for the words of a request: those are evidence of a fact, which is found in the brain for
    as long as it stands there.
    """
    transcript = parse_session(text)
    session = PurePosixPath(path).stem
    said = [one for one in transcript.messages if not (one.message.asked or one.message.erased)]
    sample = " \n".join(placed.message.text for placed in said[:20])
    lang = detect(sample)
    chunks: list[Chunk] = []
    for placed in said:
        chunks += _message_chunks(placed, session, lang)
    time = transcript.meta.started
    return Draft(tuple(chunks), session, time, lang, faults_of(path, transcript.faults))


def _message_chunks(placed: PlacedMessage, session: str, lang: str) -> list[Chunk]:
    message = placed.message
    spoken = detect(message.text, lang)
    title = TITLE_JOINT.join(part for part in (session[:10], message.speaker) if part)
    anchor = f"#^{message.block}" if message.block else ""
    return [
        replace(
            new_chunk(title, message.text[start:end], (placed.start, placed.end), anchor),
            lang=spoken,
            time=message.time,
            session=session,
            message=message.id or message.block,
            speaker=message.speaker,
            role=message.role,
        )
        for start, end in split(message.text, (0, len(message.text)), MESSAGE_TARGET)
    ]

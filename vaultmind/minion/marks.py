"""Marks by which models know where a turn begins and ends, broken up where a text holds them.

A server puts a conversation into the form of its model itself, and many do not tell such a mark
that somebody typed from their own. What breaks it is a space after its first character.
"""

from __future__ import annotations

import re

_MARK = re.compile(
    r"<[|｜][^<>|｜\s]{1,40}[|｜]>"  # ChatML, Llama 3, Phi, DeepSeek, GPT-OSS
    r"|</?(?:s|bos|eos|unk|pad|start_of_turn|end_of_turn|think|tool_call|tool_response)>"
    r"|</?<?SYS>?>"  # Llama 2
    r"|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]",
    re.IGNORECASE,
)


def harmless(text: str) -> str:
    """Return a text in which no model takes anything for the end of a turn."""
    return _MARK.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)

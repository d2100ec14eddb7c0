"""identity.md: who an agent is, in which language it writes, and what it may do.

Its front matter may lower an agent's rights at once and never raises them above what the
configuration grants. What cannot be read counts as the least right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from vaultmind.errors import NotFound, VaultMindError
from vaultmind.memory.rights.policy import AUTO, READ_ONLY
from vaultmind.memory.sections import LANGUAGES
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths

_LEVEL_NAMES = {"read only": 0, "read-only": 0, "readonly": 0, "suggest": 1, "auto": 2, "full": 3}
_LEVEL_LINE = re.compile(r"(?mi)^[ \t]*[\"']?autonomy[\"']?[ \t]*:[ \t]*(.*?)[ \t]*(?:#.*)?\r?$")
_SHOWN_CHARS = 40
"""Of a level that is none, in what is said of it."""
_LANGUAGE_NAMES = {
    "english": "en",
    "polish": "pl",
    "polski": "pl",
    "russian": "ru",
    "русский": "ru",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """An agent as its identity.md describes it."""

    agent: str
    autonomy: int | None = None
    """As the file says; None when it says nothing."""
    language: str = ""
    """`en`, `pl`, `ru`, another code, or empty when it says nothing."""
    permissions: dict[str, object] = field(default_factory=dict)
    text: str = ""
    """The persona: the file without its front matter."""
    faults: tuple[str, ...] = ()


def read_identity(reader: VaultReader, paths: VaultPaths, agent: str) -> Identity:
    """Return an agent's identity; an empty one where there is no file. Never raises.

    A file that cannot be read leaves the agent with the least right, 0.
    """
    try:
        return parse_identity(agent, reader.read(paths.identity(agent)).text)
    except NotFound:
        return Identity(agent)
    except VaultMindError as error:
        return Identity(agent, READ_ONLY, faults=(str(error),))


def parse_identity(agent: str, text: str) -> Identity:
    """Return what an identity.md says; never raises."""
    if not text.startswith("---"):
        return Identity(agent, text=text)
    from vaultmind.vault.properties import front_matter

    found = front_matter(text)
    if found is None:
        return _broken(agent, text, "its front matter is not readable")
    if found.fault:
        return _broken(agent, text, found.fault, found.body_start)
    properties = found.properties
    autonomy, fault = _level(properties.get("autonomy"))
    permissions = properties.get("permissions")
    return Identity(
        agent,
        autonomy,
        _language(properties.get("language")),
        dict(permissions) if isinstance(permissions, dict) else {},
        text[found.body_start :],
        (fault,) if fault else (),
    )


def default_identity(agent: str, language: str, level: int = AUTO) -> str:
    """Return the identity.md of a new agent: what to do, the server's instructions tell it.

    `level` is the configured one, so that a new agent asks for what is in force.
    """
    known = language if language in LANGUAGES else "en"
    name = agent.capitalize()
    return f"---\nautonomy: {level}\nlanguage: {known}\n---\n" + _DEFAULTS[known].format(name=name)


def _broken(agent: str, text: str, fault: str, body_start: int = 0) -> Identity:
    """Return an identity whose front matter is broken: a level that is named still counts."""
    named = _LEVEL_LINE.search(text.split("\n---", 1)[0])
    autonomy = _level(named.group(1))[0] if named else READ_ONLY
    return Identity(agent, autonomy, text=text[body_start:], faults=(fault,))


def _level(value: object) -> tuple[int | None, str]:
    if value is None:
        return None, ""
    name = str(value).strip().strip("\"'").lower()
    number = int(name) if re.fullmatch("[0-3]", name) else _LEVEL_NAMES.get(name)
    if number is not None:
        return number, ""
    shown = name if len(name) <= _SHOWN_CHARS else f"{name[:_SHOWN_CHARS]}…"
    return READ_ONLY, f"autonomy {shown!r} is not one of 0, 1, 2, 3: taken as 0, read only"


def _language(value: object) -> str:
    name = str(value or "").strip().lower()
    code = _LANGUAGE_NAMES.get(name, name.replace("_", "-").split("-")[0])
    return code if re.fullmatch(r"[a-z]{2,3}", code) else ""


_DEFAULTS = {
    "en": """# {name}

You are {name}. The person you work for may rewrite this page: be who it says.

## Tone

Friendly, clear, brief. You answer in the language you are spoken to.

You never pretend that something was stored or forgotten. Where you are not sure, you say so.
""",
    "pl": """# {name}

Masz na imię {name}. Osoba, dla której pracujesz, może zmienić tę stronę: bądź tym, kogo opisuje.

## Ton

Przyjazny, jasny, zwięzły. Odpowiadasz w języku, w którym się do ciebie mówi.

Nigdy nie udajesz, że coś zapisano lub zapomniano. Gdy nie masz pewności, mówisz to.
""",
    "ru": """# {name}

Тебя зовут {name}. Человек, для которого ты работаешь, может изменить эту страницу: будь тем, \
кто здесь описан.

## Тон

Дружелюбный, ясный, краткий. Отвечаешь на том языке, на котором к тебе обращаются.

Ты не притворяешься, что сохранено или забыто. Если не уверен, так и говоришь.
""",
}

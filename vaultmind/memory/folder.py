"""The memory folder as a person first finds it: a README, Suggestions, an agent's identity."""

from __future__ import annotations

from importlib import resources

from vaultmind.memory.gate import Gate
from vaultmind.memory.rights import AUTO
from vaultmind.memory.suggestions import begun
from vaultmind.memory.wording import LANGUAGES
from vaultmind.types import Caller
from vaultmind.vault.files import FileText
from vaultmind.vault.paths import VaultPaths


def page(name: str, language: str) -> str:
    """Return a page as it ships, in a language; in English for one that we do not write."""
    known = language if language in LANGUAGES else "en"
    path = resources.files("vaultmind.memory") / "pages" / f"{name}.{known}.md"
    return path.read_text("utf-8")


def default_identity(agent: str, language: str, level: int = AUTO) -> str:
    """Return the identity.md of a new agent: what to do, the server's instructions tell it.

    `level` is the configured one, so that a new agent asks for what is in force.
    """
    known = language if language in LANGUAGES else "en"
    front = f"---\nautonomy: {level}\nlanguage: {known}\n---\n"
    return front + page("identity", known).format(name=agent.capitalize())


def folder_files(paths: VaultPaths, agent: str, language: str, level: int = AUTO) -> dict[str, str]:
    """Return the files a new memory folder holds, with their first texts."""
    return {
        paths.readme: page("README", language),
        paths.suggestions: begun(language),
        paths.identity(agent): default_identity(agent, language, level),
    }


def make_folder(gate: Gate, files: dict[str, str], caller: Caller) -> tuple[str, ...]:
    """Write those files of a memory folder that are missing; return what was made."""
    made = []
    for path, text in files.items():

        def change(file: FileText | None, text: str = text) -> str | None:
            return text if file is None else None

        if gate.save(path, change, caller, "init") is not None:
            made.append(path)
    return tuple(made)

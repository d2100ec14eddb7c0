"""The memory folder as a person first finds it: a README, Suggestions, an agent's identity."""

from __future__ import annotations

from vaultmind.memory.gate import Gate
from vaultmind.memory.rights.identity import default_identity
from vaultmind.memory.rights.policy import AUTO
from vaultmind.memory.suggestion_words import words_of
from vaultmind.types import Caller
from vaultmind.vault.files import FileText
from vaultmind.vault.paths import VaultPaths

README = {
    "en": """# VaultMind

This folder is the memory of your AI agents. Every word of it is yours: read it, edit it, delete \
it. VaultMind writes nowhere else in this vault.

- `agents/<name>/identity.md`: who the agent is and what it may do. `autonomy: 0` makes its memory \
read-only.
- `agents/<name>/memory/brain.md`: the lasting facts it knows about you. Change a line and the \
agent knows it at once; what you typed is never rewritten.
- `agents/<name>/memory/sessions/`: what was said, message by message.
- `agents/<name>/episodes/`: what it did for a task, line by line, and what came of it. Change \
`outcome` in a note and your word stands.
- `agents/<name>/memory/audit-*.jsonl`: every change of a fact, with who asked and why.
- `Suggestions.md`: what waits for your approval: tick it to accept, write `[-]` to reject.

The search index lives outside the vault and can be deleted at any time; it comes back from here.
""",
    "pl": """# VaultMind

Ten folder to pamięć twoich agentów AI. Każde słowo należy do ciebie: czytaj, zmieniaj, usuwaj. \
VaultMind nie pisze nigdzie indziej w tym vaulcie.

- `agents/<imię>/identity.md`: kim jest agent i co mu wolno. `autonomy: 0` oznacza pamięć tylko do \
odczytu.
- `agents/<imię>/memory/brain.md`: trwałe fakty o tobie. Zmień wiersz, a agent od razu to wie; to, \
co napiszesz sam, nigdy nie zostanie przepisane.
- `agents/<imię>/memory/sessions/`: co zostało powiedziane, wiadomość po wiadomości.
- `agents/<imię>/episodes/`: co agent zrobił dla zadania, wiersz po wierszu, i co z tego wyszło. \
Zmień `outcome` w notatce, a liczy się twoje słowo.
- `agents/<imię>/memory/audit-*.jsonl`: każda zmiana faktu: kto o nią prosił i dlaczego.
- `Suggestions.md`: co czeka na twoją zgodę: zaznacz, aby przyjąć, wpisz `[-]`, aby odrzucić.

Indeks wyszukiwania leży poza vaultem i można go w każdej chwili usunąć; odtworzy się stąd.
""",
    "ru": """# VaultMind

Эта папка — память ваших ИИ-агентов. Каждое слово в ней ваше: читайте, меняйте, удаляйте. Больше \
нигде в этом хранилище VaultMind не пишет.

- `agents/<имя>/identity.md`: кто этот агент и что ему можно. `autonomy: 0` — память только для \
чтения.
- `agents/<имя>/memory/brain.md`: постоянные факты о вас. Измените строку, и агент сразу это \
знает; то, что вы написали сами, никогда не переписывается.
- `agents/<имя>/memory/sessions/`: что было сказано, сообщение за сообщением.
- `agents/<имя>/episodes/`: что агент сделал для задачи, строка за строкой, и что из этого вышло. \
Измените `outcome` в заметке, и будет считаться ваше слово.
- `agents/<имя>/memory/audit-*.jsonl`: каждое изменение факта: кто просил и почему.
- `Suggestions.md`: что ждёт вашего согласия: отметьте, чтобы принять, `[-]` — отклонить.

Поисковый индекс лежит вне хранилища, его можно удалить в любой момент: он восстановится отсюда.
""",
}


def folder_files(paths: VaultPaths, agent: str, language: str, level: int = AUTO) -> dict[str, str]:
    """Return the files a new memory folder holds, with their first texts."""
    words = words_of(language)
    return {
        paths.readme: README[language],
        paths.suggestions: f"# {words.title}\n\n{words.intro}\n",
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

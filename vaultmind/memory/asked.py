"""A write as it comes in: named, masked, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vaultmind.errors import BadArgument
from vaultmind.memory.words import fold, tokens
from vaultmind.redact import MARK, mask
from vaultmind.types import MemoryWrite
from vaultmind.vault.oneline import one_line
from vaultmind.vault.paths import agent_name

FACT_MAX_CHARS = 1000
_LABEL_WORDS = """
    api key keys access secret secrets token tokens bearer auth password passwords
    passphrase passcode pass pwd login pin code codes card cards credit debit bank account
    iban number numbers no nr private public ssh value user aws openai github gitlab
    stripe slack google visa mastercard amex my the a an our is are was it its this that
    for of and to new update remember please here note main id user's klucz klucza hasło
    hasła kod karta karty karte kartę kredytowa kredytowej płatnicza konto konta bankowe
    numer moja moje mój mojej jest tajny tajne dostępu i do schlüssel passwort kennwort
    kreditkarte kartennummer kontonummer nummer mein meine meiner der die das ist geheim
    zugang und clé clef mot de passe carte bancaire crédit compte numéro mon ma mes le la
    les est du clave contraseña tarjeta crédito cuenta número mi mis el es secreta ключ
    пароль карта карты карту кредитная кредитной банковская банковской счет счёт номер мой
    моя мое моё моей это секретный токен код
"""
_LABELS = frozenset(map(fold, _LABEL_WORDS.split()))
"""Words that only say what a secret is, or whose: beside a mask alone they are no fact."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A write as it was asked for and as it may be stored."""

    said: MemoryWrite
    safe: MemoryWrite
    redacted: tuple[str, ...]
    """The kinds of secrets that were taken out."""

    @property
    def is_secret_alone(self) -> bool:
        """Tell whether nothing is left to store once the secrets are out: nothing, or a label.

        What was masked before it came here, as a message is when it is stored, counts too.
        """
        text = self.safe.text
        if self.safe.op == "forget" or not MARK.search(text):
            return False
        return all(fold(word) in _LABELS for word in tokens(MARK.sub(" ", text)))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the kinds of secrets that are masked in the text."""
        marks = (mark.group()[1:-1] for mark in MARK.finditer(self.safe.text))
        return self.redacted or tuple(dict.fromkeys(marks))


def asked(write: MemoryWrite) -> Asked:
    """Return a write with its secrets taken out.

    Raises BadArgument for an agent that can be none, for texts that are empty or too long.
    """
    said = replace(write, agent=agent_name(write.agent))
    text, old, reason = mask(said.text), mask(said.old), mask(said.reason)
    kinds = text.kinds if said.op != "forget" else ()
    safe = replace(
        said, text=one_line(text.text), old=one_line(old.text), reason=one_line(reason.text)
    )
    safe = replace(safe, hold=one_line(mask(said.hold).text), quote=mask(said.quote).text)
    _check(safe)
    return Asked(said, safe, kinds)


def _check(safe: MemoryWrite) -> None:
    allowed = f"1 to {FACT_MAX_CHARS} characters: one fact"
    if not tokens(safe.text) or len(safe.text) > FACT_MAX_CHARS:
        raise BadArgument("text", safe.text, allowed)
    if safe.op == "replace" and (not tokens(safe.old) or len(safe.old) > FACT_MAX_CHARS):
        raise BadArgument("old", safe.old, f"{allowed} to replace, or its id (^k3f9)")

"""Errors that name the thing and the value, and say what to do next."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # the thin pipe imports this module: no pathlib, no typing
    from collections.abc import Iterable
    from pathlib import PurePath

DISTRIBUTION = "vaultmind-mcp"
"""Name of our package in registries; `vaultmind` alone is somebody else's there."""
_SHOWN = 80
"""Characters of a bad value that an error repeats."""


def install_hint(extra: str = "") -> str:
    """Return the command that installs VaultMind with an extra, from its checkout."""
    return (
        f"pip install '.[{extra}]' in VaultMind's checkout"
        if extra
        else f"pip install {DISTRIBUTION}"
    )


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the question whether the likest known name was meant; empty where none is like it."""
    import difflib  # only once something went wrong: the thin pipe imports this module

    close = difflib.get_close_matches(name, list(known), n=1)
    return f"Did you mean '{close[0]}'?" if close else ""


class VaultMindError(Exception):
    """Any error meant to be read by a person or a model.

    `hint` is the next step, as one sentence. It is shown after the message. `status` is what it
    is over HTTP, `exit` on the command line.
    """

    status, exit = 422, 1
    told: tuple[str, ...] = ("message", "hint")
    """What a program is told of it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()

    def body(self) -> dict[str, str]:
        """Return it as JSON has it."""
        return {"type": type(self).__name__} | {one: str(getattr(self, one)) for one in self.told}


def from_body(body: dict[str, str]) -> VaultMindError:
    """Return the error that a daemon told of: of the same type where that is known here."""
    kind = globals().get(body.get("type", ""), VaultMindError)
    error: VaultMindError = kind.__new__(kind)
    VaultMindError.__init__(error, body.get("message", ""), hint=body.get("hint", ""))
    for name in kind.told[2:]:
        setattr(error, name, body.get(name, ""))
    return error


class InternalError(VaultMindError):
    """Something went wrong that nobody meant for readers; the log says what."""

    status = 500


class BadArgument(VaultMindError):
    """A caller's argument is unknown, missing or out of range.

    `said` stands in the place of the usual words, where these would not be plain.
    """

    status, exit = 400, 2
    told = ("message", "hint", "field", "allowed")

    def __init__(
        self, field: str, value: object, allowed: str, *, missing: bool = False, said: str = ""
    ) -> None:
        what = f"'{field}' is missing; it takes {allowed}."
        usual = (
            what if missing else f"Bad value for '{field}': {_short(value)}. Allowed: {allowed}."
        )
        super().__init__(said or usual)
        self.missing = missing
        self.field = field
        self.value = value
        self.allowed = allowed


class ConfigError(VaultMindError):
    """A configuration file or variable cannot be used."""

    exit = 2


class VaultNotFound(VaultMindError):
    """No vault was named and none could be found."""

    exit = 2


class NotFound(VaultMindError):
    """The note, message, fact or hit that was asked for does not exist (any more)."""

    status, exit = 404, 5


class PathRefused(VaultMindError):
    """A path leads where nothing may be read or written."""

    status = 403

    def __init__(self, path: str | PurePath, reason: str) -> None:
        super().__init__(f"Path refused: {str(path)!r} ({reason}).", hint="Nothing was touched.")
        self.path = str(path)
        self.reason = reason


class NotAllowed(VaultMindError):
    """This caller may not do that, whatever the surface."""

    exit = 4


class UnreadableNote(VaultMindError):
    """A file is there but cannot be taken as text (not UTF-8, too large, no permission)."""

    def __init__(self, path: str | PurePath, reason: str) -> None:
        super().__init__(f"{path} was left alone: {reason}.")
        self.path = str(path)
        self.reason = reason


class WriteConflict(VaultMindError):
    """A file kept changing while we tried to write it; nothing was written."""

    status = 409


class WriteFailed(VaultMindError):
    """The system refused a write (disk full, read-only); the old file is whole."""


class BrokenMemory(WriteFailed):
    """A memory file waits to be mended by the person; nothing was written."""


class IndexUnavailable(VaultMindError):
    """The index database cannot be opened or repaired."""

    status = 503


class DaemonUnavailable(VaultMindError):
    """No daemon answers and none could be started."""

    status = 503


class VaultLocked(VaultMindError):
    """Another process owns this vault's index."""

    status = 503


class MissingExtra(VaultMindError):
    """An optional package is needed and not installed."""


class MinionFailed(VaultMindError):
    """A language model gave no answer that can be used; the next in line is asked.

    `why` is one of: missing (package or file), not_a_model, crash, timeout, memory, too_long,
    nonsense, unreachable, refused, busy, closed, spent (the day's seconds), resting (it crashed
    before: it was not asked).
    """

    def __init__(self, why: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.why = why


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"

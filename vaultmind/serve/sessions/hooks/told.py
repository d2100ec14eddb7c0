"""What hooks and hosts have told is written down before anything of it is to be forgotten.

It is looked for where it stands: what is written down later would bring it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultmind.serve.calls.requests import UpdateArgs
from vaultmind.serve.memory import erasing, remembering
from vaultmind.serve.sessions.hooks import after_tool, hooking

if TYPE_CHECKING:
    from vaultmind.app import App
    from vaultmind.memory.forget.erasure import Preview
    from vaultmind.serve.calls.call import Call
    from vaultmind.session.voice.spoken import Heard
    from vaultmind.types import Outcome


def update(app: App, call: Call, args: UpdateArgs) -> Outcome | Heard:
    """Do what the person's words ask; what is to be forgotten is all written down before."""
    if args.op == "forget":
        catch_up(app)
    return remembering.update(app, call, args)


def erase_preview(app: App, call: Call, args: erasing.EraseArgs) -> Preview:
    """Return what an erasure would remove, of conversations up to their last words."""
    catch_up(app)
    return erasing.preview(app, call, args)


def catch_up(app: App) -> None:
    """Write down what hooks left, what they told, and what hosts have written since."""
    hooking.run_errands(app, starts=False)
    after_tool.catch_up(app)
    app.capture.catch_up()

"""What keeps one of Chroma's functions to the server that was named: every request is looked at.

A server may answer that it has moved, and a package may know of a server or a key that nobody
named to us. Texts and questions follow neither.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin, urlsplit

from vaultmind.errors import BadArgument
from vaultmind.index.embedders.embed import CHROMA
from vaultmind.index.embedders.premises import IN_PROCESS, Premises, is_here

_WITHOUT_CLIENT = (*IN_PROCESS, "roboflow")
"""Functions that ask nobody, or with `httpx.post`, which follows no redirect."""
_HOST = re.compile(r"[\w.:-]{1,80}")
"""What is shown of a host that a server names: it may write there what it likes."""


class NotAskedOn(OSError):
    """Texts would have gone to a server that was not named."""


def keep_to(premises: Premises, name: str, function: Any, *, keyed: bool) -> None:  # noqa: ANN401
    """See to it that a function asks its own server alone, once, and with no key but a named one.

    `keyed`: whether a key was named. Raises BadArgument where a function that is to stay on this
    machine gives no way to see to it.
    """
    clients = _clients(function)
    if not (premises.host or clients or name in _WITHOUT_CLIENT):
        allowed = "another function: of this one it cannot be seen where it sends texts"
        raise BadArgument("index.embedder", f"{CHROMA}{name}", allowed)
    for client in clients:
        client.follow_redirects = False
        hooks = client.event_hooks
        hooks["response"].append(_refuse_redirect)
        if not premises.host:
            hooks["request"].append(_refuse_elsewhere)
            if not keyed:
                client.headers.pop("authorization", None)
        client.event_hooks = hooks
    for one in vars(function).values():
        if hasattr(one, "max_retries"):  # an embedder that is away is asked again by ourselves
            one.max_retries = 0


def _clients(function: Any) -> list[Any]:  # noqa: ANN401
    """Return the HTTP clients that a function, or its package's own client, asks with.

    They are httpx's, or of a package that has the same shape under another name.
    """
    held = list(vars(function).values())
    inner = [getattr(one, "_client", None) for one in held]
    return [one for one in (*held, *inner) if hasattr(one, "event_hooks")]


def _refuse_redirect(response: Any) -> None:  # noqa: ANN401
    if response.has_redirect_location:
        to = urljoin(str(response.url), response.headers["location"])
        raise NotAskedOn(
            f"it redirects to {_shown(to)}, and no redirect is followed;"
            " set its address in index.embedder_options if texts are to go there"
        )


def _refuse_elsewhere(request: Any) -> None:  # noqa: ANN401
    if not is_here(request.url.host):
        raise NotAskedOn(f"it would ask {_shown(str(request.url))}, which is another machine")


def _shown(url: str) -> str:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    return host if _HOST.fullmatch(host) else "another address"

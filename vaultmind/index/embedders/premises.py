"""Where one of Chroma's embedding functions embeds: on this machine, or on somebody else's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from vaultmind.errors import BadArgument

ADDRESSED = {
    "ollama": ("url", "http://localhost:11434"),
    "huggingface_server": ("url", ""),
    "openai": ("api_base", ""),
    "morph": ("api_base", ""),
    "baseten": ("api_base", ""),
    "roboflow": ("api_url", ""),
}
"""Functions that ask a server which an option names: that option, and what it is by default."""
IN_PROCESS = ("sentence_transformer", "instructor", "text2vec")
"""Functions that load a model here; by a name that is no folder they would download it."""
_LEAVE = "index.embedder_options.allow_remote"


@dataclass(frozen=True, slots=True)
class Premises:
    """A place where texts are embedded."""

    host: str
    """The machine that texts are sent to; empty when they stay on this one."""


def premises_of(name: str, options: Mapping[str, Any]) -> Premises:
    """Return where a function would embed; raises BadArgument where nobody gave leave for that.

    A function that is not known to stay here is taken for a hosted one.
    """
    if name in IN_PROCESS:
        return _in_process(name, options)
    host = f"the service behind {name}"
    if name in ADDRESSED:
        option, usual = ADDRESSED[name]
        url = str(options.get(option) or usual)
        if url:
            host = _host(option, url)
            if is_here(host):
                _no_proxy(url, host)
                return Premises("")
    if options.get("allow_remote") is not True:
        raise BadArgument(
            _LEAVE,
            "false",
            f"`true`, since the texts of your notes and your questions would be sent to {host}",
        )
    return Premises(host)


def _in_process(name: str, options: Mapping[str, Any]) -> Premises:
    model = str(options.get("model_name") or "")
    if not model or not Path(model).expanduser().is_dir():
        allowed = f"the folder of a model on this machine: by a name {name} would download it"
        raise BadArgument("index.embedder_options.model_name", model, allowed)
    return Premises("")


def _host(option: str, url: str) -> str:
    allowed = "an address like http://127.0.0.1:11434"
    try:
        parts = urlsplit(url)
    except ValueError:
        raise BadArgument(f"index.embedder_options.{option}", url, allowed) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadArgument(f"index.embedder_options.{option}", url, allowed)
    return parts.hostname


def is_here(host: str) -> bool:
    """Tell whether a host's name can only mean this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _no_proxy(url: str, host: str) -> None:
    """Refuse an address of this machine that would be asked through a proxy on another."""
    proxies = getproxies()
    proxy = proxies.get(urlsplit(url).scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host) or is_here(urlsplit(proxy).hostname or ""):
        return
    raise BadArgument(
        "index.embedder_options",
        url,
        f"an address that no proxy stands before: set NO_PROXY to {host}, as texts would pass it",
    )

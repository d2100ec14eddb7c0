"""What the doctor says of the clients: who is connected, and whether that still works."""

from __future__ import annotations

import shutil
from pathlib import Path

from vaultmind.cli.connect import claude_code
from vaultmind.cli.connect.clients import CLIENTS, Client, config_file, our_vaults, way
from vaultmind.cli.connect.jsonfile import member, read
from vaultmind.client.hook import LOG, is_late_plan, is_late_start
from vaultmind.config import Config
from vaultmind.errors import ConfigError
from vaultmind.plural import counted
from vaultmind.session.capture import errands

Check = dict[str, str]
"""`name`, `result` (ok, warn, fail), `what`, `mend`, as the doctor's JSON has them."""


def check_clients(config: Config) -> list[Check]:
    """Return the doctor's checks of the clients' configurations."""
    checks: list[Check] = []
    for name, client in CLIENTS.items():
        path = config_file(client)
        try:
            checks += _check(name, client, path, config) if path.suffix == ".json" else []
            checks += _check_code(client, path, config) if name == "claude-code" else []
        except ConfigError as error:
            checks.append(_checked(name, "warn", error.message, "Mend it by hand."))
    if not checks:
        what, mend = "No client is connected to this vault.", "To connect one: vaultmind connect"
        checks = [_checked("clients", "ok", what, mend)]
    return checks + _check_hook_log(config.state_dir)


def _check(name: str, client: Client, path: Path, config: Config) -> list[Check]:
    """Return whether a client is connected and finds our program; nothing if it is not."""
    content = read(path)[1]
    vaults = our_vaults(client, path, content)
    ours = [one for one, vault in vaults.items() if vault == config.vault]
    servers = member(content, way(client, path), {})
    commands = [str(servers[one].get("command") or "") for one in ours]
    if gone := [one for one in commands if shutil.which(one) is None]:
        what = f"{path} starts what is not there ({', '.join(gone)})."
        return [_checked(name, "fail", what, f"Run `vaultmind connect {name} --write` again.")]
    return [_checked(name, "ok", f"Connected as {', '.join(ours)} in {path}.")] if ours else []


def _check_code(client: Client, path: Path, config: Config) -> list[Check]:
    """Return what is to be said of the rules and hooks in the project that the doctor stands in."""
    own = claude_code.settings_file(path)
    settings = read(own)[1]
    checks: list[Check] = []
    denied = member(settings, claude_code.DENY, [])
    wanted = [*claude_code.own_rules(config), *claude_code.common_rules(config)]
    missing = ", ".join(rule for rule in wanted if rule not in denied)
    if missing and config.vault in our_vaults(client, path, read(path)[1]).values():
        what = f"Claude Code may edit the memory past VaultMind: no {missing}."
        mend = "Run `vaultmind connect claude-code --write` again, or leave it so."
        checks.append(_checked("claude-code rules", "warn", what, mend))
    for agent, hooks in claude_code.hooks_by_agent(settings, config).items():
        if wrong := claude_code.wrong_hooks(hooks, config):
            mend = f"Run `vaultmind connect claude-code --hooks --write --agent {agent}` again."
            checks.append(_checked("claude-code hooks", "fail", f"{own} {wrong}.", mend))
        else:
            what = f"Conversations here are written down for {agent}."
            checks.append(_checked("claude-code hooks", "ok", what))
    return checks


def _check_hook_log(state: Path) -> list[Check]:
    checks: list[Check] = []
    if waiting := errands.waiting(str(state)):
        what = f"{counted(len(waiting), 'conversation')} could not be told to the daemon in time."
        mend = f"It is made up for with the next hook; {state / errands.FOLDER} holds what waits."
        checks.append(_checked("claude-code hooks", "warn", what, mend))
    log = state / LOG
    lines = log.read_text("utf-8", "replace").splitlines() if log.exists() else []
    if failed := [one for one in lines if not is_late_plan(one) and not is_late_start(one)]:
        what = f"{counted(len(failed), 'failure')} in {log}, the last: {failed[-1]}"
        mend = "Remove the file once you have seen to it."
        checks.append(_checked("claude-code hooks", "warn", what, mend))
    return checks


def _checked(name: str, result: str, what: str, mend: str = "") -> Check:
    return {"name": name, "result": result, "what": what, "mend": mend}

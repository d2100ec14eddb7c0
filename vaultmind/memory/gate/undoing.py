"""Taking a change back: planned anew on the text it is written over, so that no edit is lost.

The caller holds the agent's lock. Where two files change, the one that takes a fact is written
first: a crash in between leaves a fact twice, never not at all. Messages are shown again before
the fact is back: a crash in between leaves the undo to be asked for once more.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from vaultmind.memory.audit.lines import AuditLine, ref_text
from vaultmind.memory.audit.reading import Wanted, history
from vaultmind.memory.audit.undo import CHANGES, JOINT, Undo, moved_with, plan_undo, still_hidden
from vaultmind.memory.brain import (
    PlacedFact,
    add_fact,
    block_ids,
    damage,
    new_block,
    new_brain,
    parse_brain,
    remove_fact,
    render_fact,
    replace_fact,
)
from vaultmind.memory.doubts import quoted
from vaultmind.memory.forget.hiding import Hiding
from vaultmind.memory.forget.kinds import Ref
from vaultmind.memory.forget.lifting import Lifting
from vaultmind.memory.gate.ledger import Ledger
from vaultmind.memory.limits import Limits, restore, take_out
from vaultmind.plural import counted
from vaultmind.ports import Clock
from vaultmind.redact import mask
from vaultmind.types import Caller, Fact, MemoryWrite, Outcome
from vaultmind.vault.files import Change, FileText
from vaultmind.vault.paths import VaultPaths

Make = Callable[[str, Undo], tuple[str, tuple[Fact, ...]]]
"""Takes a file's text and the plan for it; returns the new text and the facts that it is about."""


@dataclass(frozen=True, slots=True)
class Hands:
    """What the gate lends to an undo."""

    paths: VaultPaths
    edit: Callable[[str, Change], object]
    text: Callable[[str], str]
    """Returns a file's text; empty where there is none that can be read."""
    ledger: Ledger
    hiding: Hiding
    lifting: Lifting
    clock: Clock
    rng: random.Random


@dataclass(frozen=True, slots=True)
class _Done:
    """A plan that was carried out, in which file, and the facts that it is about."""

    plan: Undo
    home: str
    facts: tuple[Fact, ...]


class _Stopped(Exception):
    """A plan that the text does not allow, in words."""


class Undoing:
    """Takes back changes of one agent's memory. The caller holds its lock."""

    def __init__(self, hands: Hands, agent: str, language: str, caller: Caller) -> None:
        self._hands = hands
        self._paths = hands.paths
        self._agent = agent
        self._language = language
        self._caller = caller
        self._brain = hands.paths.brain(agent)
        self._archive = hands.paths.archive(agent)

    def undo(self, line_id: str, *, dry_run: bool = False) -> Outcome:
        """Take one change back, the last where none is named, or say why not.

        A conflict comes to `unchanged`. Raises NotFound and BadArgument for an id that names no
        line or several. A dry run returns what it would come to.
        """
        if self._caller.kind != "person":
            return self._denied()
        lines = self._lines(line_id)
        plan = plan_undo(lines, self._facts(), line_id)
        if plan.conflict:
            return self._stopped(plan, dry_run=dry_run)
        home = self._home(plan)
        lift, stay = self._to_lift(plan)
        lifted = () if dry_run else self._hands.lifting.lift(lift, self._hands.clock())
        plan, facts = self._carried_out(plan, lines, home, dry_run=dry_run)
        if plan.conflict:
            self._hands.hiding.hide(lifted)
            return self._stopped(plan, dry_run=dry_run)
        done = _Done(plan, home, facts)
        if dry_run:
            would = self._outcome(done, (len(lift), len(plan.hide), stay))
            would = self._with_moved(would, plan, lines, dry_run=True)
            return replace(would, message=f"{would.message} Nothing was changed yet.")
        hidden = self._hands.hiding.hide(plan.hide) if plan.hide else None
        counts = (len(lifted), hidden.messages + hidden.parts if hidden else 0, stay)
        outcome = self._written(plan, self._outcome(done, counts))
        return self._with_moved(outcome, plan, lines, dry_run=False)

    # --- what stands there ---------------------------------------------------------------

    def _lines(self, line_id: str) -> tuple[AuditLine, ...]:
        """Return the agent's changes, oldest first; every line where the id names none."""
        told = history(self._paths, Wanted((self._agent,), ops=CHANGES, check=True))[0]
        lines = tuple(one.line for one in told)
        if not line_id or any(one.id.startswith(line_id.strip().lower()) for one in lines):
            return lines
        return tuple(one.line for one in history(self._paths, Wanted((self._agent,)))[0])

    def _facts(self, **texts: str) -> tuple[Fact, ...]:
        """Return what brain and archive say; `texts` are newer than the files."""
        brain = texts["brain"] if "brain" in texts else self._hands.text(self._brain)
        archive = texts["archive"] if "archive" in texts else self._hands.text(self._archive)
        return (*parse_brain(brain).all(), *parse_brain(archive).all())

    def _to_lift(self, plan: Undo) -> tuple[tuple[Ref, ...], int]:
        """Return what is to be shown again, and how much stays hidden for other changes' sake."""
        if not plan.lift:
            return (), 0
        told = history(self._paths, Wanted(self._paths.agent_names(), ops=CHANGES))[0]
        kept = still_hidden([one.line for one in told], plan.line)
        lift = tuple(ref for ref in plan.lift if ref_text(ref) not in kept)
        return lift, len(plan.lift) - len(lift)

    # --- what is done --------------------------------------------------------------------

    def _carried_out(
        self, plan: Undo, lines: Sequence[AuditLine], path: str, *, dry_run: bool
    ) -> tuple[Undo, tuple[Fact, ...]]:
        """Change the file that holds the fact; return the plan as it was carried out there."""
        if plan.way in ("show", "hide"):
            return plan, ()
        makes: dict[str, Make] = {
            "take_out": self._taken_out,
            "put_back": self._put_back,
            "bring_back": self._brought_back,
            "restore": self._restored,
            "archive": self._removed,
        }
        added = self._added(plan) if plan.way == "archive" and not dry_run else ()
        plan, facts = self._changed(path, (plan, lines), makes[plan.way], dry_run=dry_run)
        if added and plan.conflict:
            self._out_of_archive(added)
        if plan.way == "restore" and not dry_run and not plan.conflict:
            self._out_of_archive(self._at(self._archive, plan.line.block))
        if plan.ended and not dry_run and not plan.conflict:
            self._out_of_archive(plan.ended)
        return plan, facts

    def _with_moved(
        self, outcome: Outcome, plan: Undo, lines: Sequence[AuditLine], *, dry_run: bool
    ) -> Outcome:
        """Bring back what the change had moved to the archive to have room: one act, one undo."""
        moves = moved_with(lines, plan.line)
        back = 0
        for line in moves:
            step = plan_undo(lines, self._facts(), line.id)
            if step.conflict or step.way != "restore":
                continue
            step, facts = self._carried_out(step, lines, self._brain, dry_run=dry_run)
            if step.conflict:
                continue
            back += 1
            if not dry_run:
                self._written(step, self._outcome(_Done(step, self._brain, facts), (0, 0, 0)))
        stay = len(moves) - back
        said = [outcome.message]
        said += [f"{_facts(back)} that it had moved to the archive back in {self._brain}."]
        said[1:] = said[1:] if back else []
        said += [f"{_facts(stay)} not: changed or gone since."] if stay else []
        return replace(outcome, message=" ".join(said), restored=back)

    def _changed(
        self, path: str, planned: tuple[Undo, Sequence[AuditLine]], make: Make, *, dry_run: bool
    ) -> tuple[Undo, tuple[Fact, ...]]:
        """Plan anew on the text as it stands and write that; again when an edit came first."""
        plan, lines = planned
        facts: tuple[Fact, ...] = ()
        name = "brain" if path == self._brain else "archive"

        def change(file: FileText | None) -> str | None:
            nonlocal plan, facts
            text = file.text if file else self._new(path)
            plan = plan_undo(lines, self._facts(**{name: text}), planned[0].line.id)
            if reason := damage(text):
                plan = replace(plan, conflict=f"{path} is damaged: {reason}. Mend it first.")
            if plan.conflict:
                return None
            try:
                new, facts = make(text, plan)
            except _Stopped as stopped:
                plan = replace(plan, conflict=str(stopped))
                return None
            return None if dry_run else new

        self._hands.edit(path, change)
        return plan, facts

    def _home(self, plan: Undo) -> str:
        """Return the file that an undo changes."""
        if plan.way == "restore":
            return self._brain
        if plan.way == "bring_back":
            return self._archive if plan.line.path == self._archive else self._brain
        return self._brain if self._at(self._brain, plan.line.block) else self._archive

    def _at(self, path: str, block: str) -> tuple[Fact, ...]:
        facts = parse_brain(self._hands.text(path)).all()
        return tuple(fact for fact in facts if block and fact.block == block)

    def _taken_out(self, text: str, plan: Undo) -> tuple[str, tuple[Fact, ...]]:
        """Take out a fact that was remembered."""
        placed = _alone(text, plan)
        return remove_fact(text, placed), (placed.fact,)

    def _put_back(self, text: str, plan: Undo) -> tuple[str, tuple[Fact, ...]]:
        """Put the old words in the place of the new ones; what else went with them comes back."""
        placed = _placed(text, plan)
        first = plan.facts[0]
        moves = first.section not in (None, placed.fact.section) and placed.tree_end == placed.end
        if moves:
            text = self._with(remove_fact(text, placed), first)[0]
        else:
            first = replace(first, section=placed.fact.section)
            text = replace_fact(text, placed, render_fact(first, self._paths))
        text, more = self._brought_back(text, replace(plan, facts=plan.facts[1:]))
        return text, (first, *more)

    def _brought_back(self, text: str, plan: Undo) -> tuple[str, tuple[Fact, ...]]:
        """Write what was forgotten where it stood."""
        facts = []
        for one in plan.facts:
            text, fact = self._with(text, one)
            facts.append(fact)
        return text, tuple(facts)

    def _restored(self, text: str, plan: Undo) -> tuple[str, tuple[Fact, ...]]:
        """Write an archived fact into the brain."""
        block, today = plan.line.block, self._hands.clock().date()
        moved = restore(text, self._hands.text(self._archive), block, self._limits(today))
        if moved is None:
            raise _Stopped(f"^{block} does not stand in {self._archive} as it was moved there.")
        return moved.brain, moved.facts

    def _removed(self, text: str, plan: Undo) -> tuple[str, tuple[Fact, ...]]:
        """Take a fact, which stands in the archive by now, out of the brain."""
        if not any(fact.block == plan.line.block for fact in parse_brain(text).all()):
            raise _Stopped(f"“{plan.line.after}” stands in the archive already.")
        return self._taken_out(text, plan)

    def _added(self, plan: Undo) -> tuple[Fact, ...]:
        """Write a fact of the brain into the archive; return it as it reads there."""
        facts = self._at(self._brain, plan.line.block)
        added: list[Fact] = []

        def take(file: FileText | None) -> str | None:
            text = file.text if file else self._new(self._archive)
            added[:] = []
            for one in facts:
                text, fact = self._with(text, one)
                added.append(fact)
            return text

        if facts:
            self._hands.edit(self._archive, take)
        return tuple(added)

    def _out_of_archive(self, facts: tuple[Fact, ...]) -> None:
        self._hands.edit(self._archive, lambda file: take_out(file.text, facts) if file else None)

    def _with(self, text: str, fact: Fact) -> tuple[str, Fact]:
        """Return a text with a fact in its section, under an id that is free there."""
        taken = block_ids(text)
        if not fact.block or fact.block in taken:
            fact = replace(fact, block=new_block(taken, self._hands.rng))
        line = render_fact(fact, self._paths)
        return add_fact(text, line, fact.section or "user", self._language), fact

    def _new(self, path: str) -> str:
        if path == self._brain:
            return new_brain(self._agent, self._language)
        return f"# {self._agent.capitalize()} - Archive\n"

    def _limits(self, today: date) -> Limits:
        return Limits(self._paths, self._agent, today, self._language)

    # --- what is said and kept of it ------------------------------------------------------

    def _outcome(self, done: _Done, counts: tuple[int, int, int]) -> Outcome:
        """Return what an undo comes to; `counts` of what is shown, hidden, and stays hidden."""
        plan, home, facts = done.plan, done.home, done.facts
        line = plan.line
        text = JOINT.join(fact.text for fact in facts)
        path = self._archive if plan.way == "archive" else home
        ways = {
            "take_out": f"{quoted(text)} is taken out of {home}.",
            "put_back": f"{quoted(line.after)} is {quoted(text)} again (in {home}).",
            "bring_back": f"{quoted(text)} is back (in {home}).",
            "restore": f"{quoted(text)} is back from the archive (in {home}).",
            "archive": f"{quoted(text)} is in {self._archive} again.",
        }
        shown, hidden, stay = counts
        said = [ways.get(plan.way, "")]
        said += [f"{_messages(shown)} shown again."] if shown else []
        said += [f"{_messages(hidden)} hidden again."] if hidden else []
        said += [f"{_messages(stay)} still hidden for another change's sake."] if stay else []
        first = facts[0] if facts else Fact("", None, line.block)
        before = {"take_out": text, "put_back": line.after}.get(plan.way, "")
        return Outcome(
            "written",
            self._agent,
            section=first.section,
            fact=mask(text).text,
            path=path if facts else line.path,
            block=first.block,
            before=mask(before).text,
            message=mask(" ".join(one for one in said if one) or "Nothing was hidden.").text,
            hidden_messages=hidden,
        )

    def _written(self, plan: Undo, outcome: Outcome) -> Outcome:
        """Write the audit line of an undo."""
        line, why = plan.line, f"undo of {plan.line.id}"
        ops = {"take_out": "forget", "put_back": "replace", "bring_back": "remember"}
        if plan.way in ops:
            write = MemoryWrite("forget", self._agent, self._caller, outcome.fact, reason=why)
            evidence = plan.facts[0].evidence if plan.facts else None
            safe = replace(write, op=ops[plan.way], evidence=evidence)  # type: ignore[arg-type]
            return self._hands.ledger.wrote(safe, outcome, plan.hide, line.id)
        self._note(
            plan.way,
            "written",
            before=outcome.fact,
            after=outcome.fact,
            section=outcome.section or "",
            path=outcome.path,
            block=outcome.block,
            reason=why,
            undoes=line.id,
        )
        return outcome

    def _stopped(self, plan: Undo, *, dry_run: bool) -> Outcome:
        """Return a conflict, and keep that it was asked for."""
        line, reason = plan.line, mask(plan.conflict).text
        if not dry_run:
            self._note("undo", "unchanged", path=line.path, block=line.block, reason=reason)
        message = f"{reason} Nothing was changed."
        return Outcome("unchanged", self._agent, message=message, reason=reason, path=line.path)

    def _denied(self) -> Outcome:
        reason = "only the person undoes, on the command line"
        self._note("undo", "denied", reason=reason)
        message = f"Not allowed: {reason}. Nothing was changed."
        return Outcome("denied", self._agent, message=message, reason=reason)

    def _note(self, op: str, outcome: str, **more: str) -> None:
        self._hands.ledger.note(self._caller, self._agent, op, outcome, **more)


def _placed(text: str, plan: Undo) -> PlacedFact:
    """Return where the fact of a plan stands."""
    block = plan.line.block
    placed = next((one for one in parse_brain(text).facts if one.fact.block == block), None)
    if placed is None:
        raise _Stopped(f"^{block} was moved a moment ago; ask again.")
    return placed


def _alone(text: str, plan: Undo) -> PlacedFact:
    """Return where a fact stands that nobody wrote anything under."""
    placed = _placed(text, plan)
    if placed.tree_end != placed.end:
        raise _Stopped(f"Other lines stand under “{placed.fact.text}” now; move them first.")
    return placed


def _facts(number: int) -> str:
    return f"{counted(number, 'fact')} {'is' if number == 1 else 'are'}"


def _messages(number: int) -> str:
    return f"{counted(number, 'message')} {'is' if number == 1 else 'are'}"

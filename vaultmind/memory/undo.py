"""Taking a change back: the lines that came with it go, the lines that left come back.

Pure: texts in, texts out. Only what still stands as the change left it is turned round; whatever
was changed since is a conflict, which is explained, and nothing happens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vaultmind.memory.audit import UNDOABLE, AuditLine, Move
from vaultmind.memory.brain import (
    PlacedFact,
    add_bullet,
    block_ids,
    damage,
    new_block,
    new_brain,
    parse_brain,
    remove_fact,
    render_fact,
    replace_fact,
)
from vaultmind.memory.changes import Ask, Step, with_moves
from vaultmind.memory.doubts import quoted
from vaultmind.memory.limits import restore
from vaultmind.memory.match import same_fact
from vaultmind.plural import counted
from vaultmind.types import Fact
from vaultmind.vault.bullets import MARKER
from vaultmind.vault.oneline import one_line

_NEVER = {
    "erase": "An erasure cannot be undone: nothing of what was erased is kept anywhere.",
    "model": "What ranks is no fact: `vaultmind model rollback` takes its last change back.",
}


class Conflict(Exception):
    """Why a change cannot be taken back, in words."""


@dataclass(slots=True)
class _Texts:
    """Brain and archive while lines come and go."""

    brain: str
    archive: str

    def of(self, *, archive: bool) -> str:
        return self.archive if archive else self.brain

    def put(self, text: str, *, archive: bool) -> None:
        if archive:
            self.archive = text
        else:
            self.brain = text

    def facts(self) -> tuple[Fact, ...]:
        return (*parse_brain(self.brain).all(), *parse_brain(self.archive).all())


def check_undoable(line: AuditLine) -> None:
    """Raise Conflict for a line that cannot be undone, whatever brain and archive say."""
    if line.op not in UNDOABLE:
        other = f"Only changes of facts can be undone; {line.id} is “{line.op}”."
        raise Conflict(_NEVER.get(line.op, other))
    if line.outcome != "written":
        raise Conflict(f"There is nothing to undo: {line.id} came to “{line.outcome}”.")
    if line.erased:
        raise Conflict(f"The words of {line.id} were erased, so that it cannot be undone.")
    if line.undone_by:
        raise Conflict(f"{line.id} is undone already, by {line.undone_by}.")
    if not (line.moves or line.hidden or line.shown):
        raise Conflict(f"The log does not say what {line.id} changed, so that it cannot be undone.")
    if any(not move.whole for move in line.moves if not move.came):
        raise Conflict(
            f"What is masked in “{line.before}” is kept nowhere: it cannot be brought back."
        )


def take_back(line: AuditLine, brain: str | None, archive: str, ask: Ask) -> Step:
    """Return the step that turns a change round. Raises Conflict where it cannot be done."""
    start = new_brain(line.agent, ask.language) if brain is None else brain
    texts = _Texts(start, archive)
    for path, text in ((ask.path, start), (ask.paths.archive(line.agent), archive)):
        if reason := damage(text):
            raise Conflict(f"{path} is damaged: {reason}. Mend it first.")
    left = [move for move in line.moves if not move.came and not move.room]
    came = [move for move in line.moves if move.came and not move.room]
    in_place = _is_exchange(left, came) and _exchange(line, left, came[0], texts)
    for move in came:
        if not (in_place and not move.archive):
            _take_out(line, move, texts)
    if not in_place:
        _check_again(line, left, texts)
    for move in left:
        if not (in_place and not move.archive):
            _put_back(move, texts, ask)
    step = Step(ask.outcome("written", ""), texts.brain, texts.archive)
    step = with_moves(step, start, archive)
    message, where = _told(step, left, line, ask)
    facts = [move.fact for move in left] or [move.fact for move in came]
    first = facts[0] if facts else Fact("", None)
    outcome = replace(
        step.outcome, message=message, path=where, section=first.section, block=first.block,
        fact="; ".join(dict.fromkeys(one.text for one in facts)),
        before=line.after if came else "",
    )  # fmt: skip
    return _make_room_again(line, replace(step, outcome=outcome), ask)


def _is_exchange(left: Sequence[Move], came: Sequence[Move]) -> bool:
    """Tell whether one line took one other's place, where it stood."""
    out, new = ([one for one in some if not one.archive] for some in (left, came))
    same = len(out) == len(new) == 1 and out[0] == left[0] and new[0] == came[0]
    return same and out[0].section == new[0].section and "\n" not in out[0].line


def _exchange(line: AuditLine, left: Sequence[Move], new: Move, texts: _Texts) -> bool:
    """Put the old words in the place of the new ones; False where these stand elsewhere."""
    placed = _find(texts.brain, new.fact)
    if placed is None:
        return False
    _check_again(line, left, _Texts(remove_fact(texts.brain, placed), texts.archive))
    old = left[0].line
    mark = MARKER.match(old)
    said = old[mark.end() :] if mark else old
    texts.brain = replace_fact(texts.brain, placed, said)
    return True


def _take_out(line: AuditLine, move: Move, texts: _Texts) -> None:
    """Take out a line that came. One that the archive was to keep may be gone since."""
    fact = move.fact
    for archive in (move.archive, not move.archive):
        placed = _find(texts.of(archive=archive), fact)
        if placed is None:
            continue
        if placed.tree_end != placed.end and "\n" not in move.line:
            raise Conflict(f"Other lines stand under “{placed.fact.text}” now; move them first.")
        texts.put(remove_fact(texts.of(archive=archive), placed), archive=archive)
        return
    if move.archive:
        return
    now = next((one for one in texts.facts() if fact.block and one.block == fact.block), None)
    if now is None:
        gone = f"“{fact.text}” (^{fact.block}) is not in the memory any more"
        raise Conflict(f"{gone}: it was changed or removed since {line.time}.")
    since = f"^{fact.block} was “{fact.text}” after this change and is “{now.text}” now"
    raise Conflict(f"{since}; somebody changed it since.")


def _check_again(line: AuditLine, left: Sequence[Move], texts: _Texts) -> None:
    """Raise Conflict where what would come back stands there, or is contradicted by now."""
    from vaultmind.memory.contradictions.contradict import contradicted  # a fifth of a second

    held = [fact for fact in texts.facts() if not fact.until]
    for move in left:
        text = move.fact.text
        again = next((one for one in held if same_fact(one.text, text)), None)
        if again and not move.fact.until:
            raise Conflict(f"“{again.text}” is in the memory again already.")
        against = contradicted(text, [one.text for one in held]) if line.op == "forget" else ()
        if against:
            says = f"“{held[against[0]].text}” says otherwise now"
            raise Conflict(f"{says}: forget or correct that first, to have “{text}” again.")


def _put_back(move: Move, texts: _Texts, ask: Ask) -> None:
    """Put a line back where it stood, under an id that is free there."""
    text = texts.of(archive=move.archive)
    fact, line = move.fact, move.line
    taken = block_ids(text)
    if fact.block in taken and fact.block:
        fact = replace(fact, block=new_block(taken, ask.rng))
        line = f"- {render_fact(fact, ask.paths)}"
    text = text or f"# {ask.write.agent.capitalize()} - Archive\n"
    texts.put(add_bullet(text, line, fact.section or "user", ask.language), archive=move.archive)


def _make_room_again(line: AuditLine, step: Step, ask: Ask) -> Step:
    """Bring back what the change had moved to the archive to have room: one act, one undo."""
    moves = [move for move in line.moves if move.room and not move.came and not move.archive]
    before, brain, archive = step.brain or "", step.brain or "", step.archive
    back = 0
    for move in moves:
        found = _find(archive, move.fact) or _by_text(archive, move.fact)
        restored = restore(brain, archive, found.fact.block, ask.weighing) if found else None
        if restored is not None:
            brain, archive, back = restored.brain, restored.archive, back + 1
    said = [step.outcome.message]
    said += [f"{_facts(back)} that it had moved to the archive back in {ask.path}."] if back else []
    said += [f"{_facts(len(moves) - back)} not: changed or gone since."] * (back < len(moves))
    outcome = replace(step.outcome, message=" ".join(said), restored=back)
    after = replace(step, outcome=outcome, brain=brain, archive=archive)
    return with_moves(after, before, step.archive, room=True)


def _told(step: Step, left: Sequence[Move], line: AuditLine, ask: Ask) -> tuple[str, str]:
    """Return what taking a change back came to, and in which file."""
    archive = ask.paths.archive(line.agent)
    gone = [move for move in step.moves if not move.came]
    back = [move for move in step.moves if move.came]
    old = quoted("; ".join(dict.fromkeys(move.fact.text for move in left)))
    in_brain = [move for move in back if not move.archive]
    from_brain = [move for move in gone if not move.archive]
    if in_brain and from_brain:
        return f"{quoted(line.after)} is {old} again (in {ask.path}).", ask.path
    if in_brain:
        how = "back from the archive" if any(move.archive for move in gone) else "back"
        return f"{old} is {how} (in {ask.path}).", ask.path
    if back and from_brain:
        return f"{quoted(from_brain[0].fact.text)} is in {archive} again.", archive
    if back:
        return f"{old} is back (in {archive}).", archive
    if gone:
        where = ask.path if from_brain else archive
        return f"{quoted(gone[0].fact.text)} is taken out of {where}.", where
    return "", line.path


def _find(text: str, fact: Fact) -> PlacedFact | None:
    """Return where a fact stands as it did: its words and its id."""
    said = one_line(fact.text)
    places = (one for one in parse_brain(text).facts if one.fact.block == fact.block)
    return next((one for one in places if one_line(one.fact.text) == said), None)


def _by_text(text: str, fact: Fact) -> PlacedFact | None:
    return next((one for one in parse_brain(text).facts if one.fact.text == fact.text), None)


def _facts(number: int) -> str:
    return f"{counted(number, 'fact')} {'is' if number == 1 else 'are'}"

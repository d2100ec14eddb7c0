"""Generate a project of any size: Python modules that import each other, and their tests.

Names and words follow Zipf's law, one module in five has a test, a module imports three others and
derives from what it imports. The same seed gives the same bytes. `tasks` are asked of it: each
speaks of one module in the words of its documentation and, one in three, by a name in it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

_VERBS = (
    "load save send parse render merge split check count find open close match read write sort "
    "filter store fetch update remove add reset plan charge refund ship pack sign verify retry"
)
_NOUNS = (
    "cart order price tax coupon invoice customer address session token cookie page image search "
    "index cache queue job report export inbox ledger payment refund parcel label route stock "
    "warehouse supplier product variant review rating message mail template theme locale currency "
    "exchange audit role permission webhook event metric alert backup snapshot migration schema"
)
_ADJECTIVES = (
    "pending empty nested partial stale shared remote local signed hidden archived default broken "
    "duplicate expired frozen lazy missing monthly open optional parallel public recent rejected"
)
TROUBLES = (
    "is wrong after a retry", "takes too long for large shops", "loses the last line",
    "must not be shown to guests", "should say what is allowed", "is counted twice",
    "ignores the time zone", "fails when nothing is there", "needs a test", "is hard to follow",
)  # fmt: skip
SYLLABLES = "ba den tor mil sha ver con pre ling ful ter ron gar sil wen mor pha lin der kin"
PER_PACKAGE = 25
TEST_EVERY = 5
_STEEP = 0.35
VERBS, ADJECTIVES = _VERBS.split(), _ADJECTIVES.split()
NOUNS = _NOUNS.split() + [
    f"{a}{b}{c}" for a, b, c in product(*[SYLLABLES.split()[:10]] * 3) if len({a, b, c}) == 3
]
"""Those that a shop has, and 720 of its own: no two projects call their things alike."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module that is to be written."""

    package: str
    name: str
    noun: str
    adjective: str
    verbs: tuple[str, ...]
    others: tuple[str, ...]
    """Nouns that its functions speak of."""

    @property
    def path(self) -> str:
        """Return where it lies."""
        return f"src/shop/{self.package}/{self.name}.py"

    @property
    def dotted(self) -> str:
        """Return what it is imported by."""
        return f"shop.{self.package}.{self.name}"

    @property
    def type_name(self) -> str:
        """Return the class that it defines."""
        return "".join(part.title() for part in self.name.split("_"))


def make_code(folder: Path, files: int, seed: int = 7) -> list[str]:
    """Write a project of so many files; return tasks that are asked of it."""
    chance = random.Random(seed)
    modules = _modules(files - files // (TEST_EVERY + 1), chance)
    written = 0
    for number, module in enumerate(modules):
        imported = [modules[int(number * chance.random() ** 2)] for _ in range(3)] if number else []
        _write(folder / module.path, _source(module, imported, chance))
        written += 1
        if number % TEST_EVERY == 0 and written < files:
            _write(folder / f"tests/{module.package}/test_{module.name}.py", _test(module))
            written += 1
    _write(folder / "README.md", "# Shop\n\nA shop: `src/shop/`, with its tests in `tests/`.\n")
    _write(folder / "pyproject.toml", '[project]\nname = "shop"\ndependencies = ["httpx>=0.27"]\n')
    return list(_tasks(modules, chance))


def _modules(count: int, chance: random.Random) -> list[Module]:
    found: dict[str, Module] = {}
    while len(found) < count:
        package = NOUNS[len(found) // PER_PACKAGE % len(NOUNS)]
        noun, adjective = _zipf(NOUNS, chance), _zipf(ADJECTIVES, chance)
        name = f"{adjective}_{noun}_{len(found) % PER_PACKAGE}"
        verbs = tuple(dict.fromkeys(_zipf(VERBS, chance) for _ in range(6)))
        others = tuple(_zipf(NOUNS, chance) for _ in verbs)
        found[f"{package}.{name}"] = Module(package, name, noun, adjective, verbs, others)
    return list(found.values())


def _zipf(words: list[str], chance: random.Random) -> str:
    return words[min(len(words) - 1, int(chance.paretovariate(_STEEP)) - 1)]


def _source(module: Module, imported: list[Module], chance: random.Random) -> str:
    lines = [f'"""Keeps the {module.adjective} {module.noun} of a shop in step."""', ""]
    seen = {one.dotted: one for one in imported}
    lines += [f"from {one.dotted} import {one.type_name}" for one in seen.values()]
    base = next(iter(seen.values())).type_name if seen and chance.random() < 0.4 else ""
    lines += [
        "",
        "",
        f"class {module.type_name}({base}):" if base else f"class {module.type_name}:",
    ]
    lines += [f'    """One {module.adjective} {module.noun}."""', ""]
    for verb, other in zip(module.verbs, module.others, strict=True):
        lines += _function(verb, other, module, chance)
    used = ", ".join(one.type_name for one in seen.values())
    lines += ["", f"def make_{module.name}():", f'    """Return a {module.noun} that is ready."""']
    lines += [f"    parts = [{used}]", f"    return {module.type_name}(), parts", ""]
    return "\n".join(lines)


def _function(verb: str, other: str, module: Module, chance: random.Random) -> list[str]:
    limit = chance.randrange(2, 90)
    return [
        f"    def {verb}_{other}(self, {other}s, limit={limit}):",
        f'        """{verb.title()} every {other} of a {module.adjective} {module.noun}."""',
        "        kept = []",
        f"        for one in {other}s[:limit]:",
        f"            if one.{_zipf(ADJECTIVES, chance)}:",
        f"                kept.append(self.{module.verbs[0]}_{module.others[0]}(one))",
        f'                log.debug("a {other} of the {_zipf(NOUNS, chance)} was seen")',
        f"        return sorted(kept, key=lambda one: one.{_zipf(NOUNS, chance)})",
        "",
    ]


def _test(module: Module) -> str:
    verb, other = module.verbs[0], module.others[0]
    return (
        f"from {module.dotted} import {module.type_name}, make_{module.name}\n\n\n"
        f"def test_{verb}_{other}_of_a_{module.noun}():\n"
        f"    made, _ = make_{module.name}()\n"
        f"    assert made.{verb}_{other}([]) == []\n"
    )


def _tasks(modules: list[Module], chance: random.Random) -> Iterator[str]:
    for number in range(400):
        module = chance.choice(modules)
        at = chance.randrange(len(module.verbs))
        verb, other = module.verbs[at], module.others[at]
        what = f"`{module.type_name}.{verb}_{other}`" if number % 3 == 0 else f"{verb} {other}"
        yield f"{what} of the {module.adjective} {module.noun} {chance.choice(TROUBLES)}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")

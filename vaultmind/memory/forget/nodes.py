"""Taking single values out of front matter, by where they stand. Pure; every other byte is kept.

An item of a list goes, and so does an entry of a mapping inside a property; what is left empty
goes with it. A property itself keeps its name.
"""

from __future__ import annotations

import re

import yaml

from vaultmind.memory.forget.wanted import Wanted
from vaultmind.vault.properties import nodes_of

_BEFORE_ITEM = re.compile(r"[ \t]*-[ \t]+")

Cut = tuple[int, int, str]
"""From where to where, and what stands there instead."""


def without_values_of(source: str, key: str, wanted: Wanted) -> tuple[str, tuple[str, ...]] | None:
    """Return the YAML of a mapping without what says it in one property, and what that was.

    None where that cannot be done value by value: for a plain value, or where nothing would be
    left of a list or a mapping.
    """
    root = nodes_of(source)
    pairs = root.value if isinstance(root, yaml.MappingNode) else ()
    node = next((value for name, value in pairs if name.value == key), None)
    if not isinstance(node, yaml.CollectionNode):
        return None
    cutting = _Cutting(source, wanted)
    cuts = cutting.inside(node)
    if not cuts:
        return None
    for start, end, instead in reversed(cuts):
        source = source[:start] + instead + source[end:]
    return source, tuple(cutting.gone)


class _Cutting:
    """Finds what is to be cut out of one property."""

    def __init__(self, source: str, wanted: Wanted) -> None:
        self._source = source
        self._wanted = wanted
        self.gone: list[str] = []

    def inside(self, node: yaml.CollectionNode) -> list[Cut] | None:
        """Return the cuts in a list or mapping, in order; None where nothing would be left."""
        children = [_Child(child) for child in node.value]
        owns = [self._of(child) for child in children]
        if all(own is None for own in owns):
            return None
        cuts: list[Cut] = []
        last = 0
        for place, (child, own) in enumerate(zip(children, owns, strict=True)):
            if own is not None:
                cuts += own
                last = _end(child.value)
                continue
            if node.flow_style:
                more = place + 1 < len(children)
                stop = children[place + 1].start if more else _end(child.value)
                start = child.start if more else last
                cuts = [one for one in cuts if one[0] < start]  # they stand in what goes now
                cuts.append((start, stop, ""))
            else:
                cuts.append(self._lines(child))
        return cuts

    def _of(self, child: _Child) -> list[Cut] | None:
        """Return the cuts inside an item or entry; None where it goes whole."""
        if self._wanted.says(child.text):
            self.gone.append(child.text)
            return None
        if isinstance(child.value, yaml.CollectionNode) and child.value.value:
            return self.inside(child.value)
        return []

    def _lines(self, child: _Child) -> Cut:
        """Return the cut of the lines of a block's item or entry, where it has its own."""
        source, end = self._source, _end(child.value)
        first = source.rfind("\n", 0, child.start) + 1
        before = source[first : child.start]
        own = not before.strip() if child.is_entry else _BEFORE_ITEM.fullmatch(before)
        if not own:  # it begins on the line of what it is in
            return child.value.start_mark.index, end, "null"
        stop = source.find("\n", max(end - 1, child.start)) + 1
        return first, stop or len(source), ""


class _Child:
    """An item of a list, or an entry of a mapping."""

    def __init__(self, child: yaml.Node | tuple[yaml.Node, yaml.Node]) -> None:
        key, self.value = child if isinstance(child, tuple) else (None, child)
        self.is_entry = key is not None
        self.start: int = (key or self.value).start_mark.index
        words = [one.value for one in (key, self.value) if isinstance(one, yaml.ScalarNode)]
        self.text = ": ".join(words)


def _end(node: yaml.Node) -> int:
    """Return where a value's own text ends: a block's marks reach to what comes after it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    end: int = node.end_mark.index
    return end

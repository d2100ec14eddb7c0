"""An estimate of how many tokens a text costs a language model.

Tokenizers disagree by ten or twenty per cent (and Claude's newest counts half as much again);
this follows the median of six whose data are public. Short and common-looking words are one
token; a longer one costs more, the more so the less its pairs of letters look like those that
tokenizers learned as one. The tables are a least-squares fit to how those six cut the words of
some 900 passages; `tests/test_tokens.py` holds the estimate to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from operator import add

LETTER_COSTS = {"han": 0.78, "kana": 0.8, "hangul": 0.85, "letter": 0.5}
"""`letter` is one of a script that has no table here: Greek, Arabic, Hindi, ..."""
DIGITS_PER_TOKEN = 3
WIDE_PUNCTUATION_COST = 1.0
"""Of East Asian marks, which join nothing."""
MARK_COSTS = {".": 0.7, ",": 0.8, "'": 0.4, "(": 0.3, "[": 0.3, "{": 0.3, '"': 0.4, "<": 0.4}
MARK_COSTS |= {"…": 0.8, "—": 0.9, "–": 0.9, "’": 0.9, "«": 0.9, "»": 0.9}
PLAIN_MARK_COST, OTHER_MARK_COST = 0.5, 1.3
"""Of the other ASCII marks, which often join what stands beside them; and of all the rest."""
RUN_COST = 0.8
"""Of a mark that is repeated (`----`), however often up to `LONG_RUN`."""
LONG_RUN = 16
NEWLINE_COST, BLANK_LINE_COST, SPACES_COST, LONE_SPACE_COST = 1.2, 1.3, 0.9, 0.2
EXTRA_SCALE = 1.1
"""Of what the tables say: passages they were not made from cost so much more."""
MAX_CACHED = 64
"""Characters of a piece whose cost is kept: longer ones are no words, and could be megabytes."""
LONG_TEXT = 20_000
"""Characters of a text that is looked through for such pieces before it is counted."""
MAX_WORD = 24
"""Letters of a word whose pairs are looked at."""
MAX_KEPT = 2_500
"""What lines of up to so many characters cost is remembered for a while."""


@dataclass(frozen=True, slots=True)
class _Script:
    """What a word of a script costs beyond its one token, where the sum is above 0."""

    base: float
    letter: float
    unspaced: float
    """Where no space stands before it: a word's usual token has one."""
    title: float
    capital: float
    """Of each letter of a word in capitals."""
    pairs: dict[str, float]


def _pairs(table: str) -> dict[str, float]:
    """Return the cost of each pair of letters: rows by the first, columns by the second.

    `^` and `$` are a word's ends. `A` is -0.55, `L` 0, each letter 0.05 more.
    """
    rows = [line.split() for line in table.split("\n") if line.strip()]
    seconds = "".join(first for first, _ in rows[1:]) + "$"
    return {
        first + second: (ord(value) - ord("L")) / 20
        for first, values in rows
        for second, value in zip(seconds, values, strict=True)
    }


_LATIN_PAIRS = """
    ^ HJJHJJKKIILKJIMKPIJJKLIONPLVL
    a LFHIKQDOFOLEHEMIQFJDJHRIDMJPO
    b LLTOIVPMJBMGPPJQNJKQIKPLNUPIP
    c ITHPFLNJJIEDMXFJOIPADRLLQMOOM
    d JNLJFKHVIJIMJIJNLLIQIMLNLLNVF
    e EGHGIHIQLKUJJGIGGEGGJILEMLPLG
    f LROQIFSQDNPLLOFRLHOAKRNLMLNLM
    g NSLPHPICKLJJGIIOLJLQIPRLOKPQH
    h GILKFPSLELLRPOGNLNOEHOVLNNNTH
    i ICEHLEFJJPMGLECDLKHDNJPIUGNLP
    j MKRIKLLNMLMIILKSLSLPLLJLLLGLM
    k KQIIINLMLLOMPKMNLRJKNLNLNLONK
    l HRNKHEQJHNHHNPHILMKHILLLANQNH
    m HCQQBGMLJLONGMIDLSHQJLNLTOLUK
    n KOFFKNEMLEMOLHKQTNGDGHSLQPLUJ
    o HHKIPFFNKIHHIDHGLDLIEIHKLPLLN
    p HUPHENDFKLPIGSGJLDLJHVMLHLOSL
    q LNLLQLLQLLLKLWLLLOLLDTLLLLRLK
    r IOIIGRIPENKPJGIPOJJIIOINHPPVK
    s LQHMFHPGGSOMLKHGQLDEHQHMGOINF
    t IPJMHNMCELIOMOIILIJEKLJLKLIRH
    u EFMMILIPGQPELGHFLFJGLKQDMOMMN
    v HOLMBQRLFLLLKQIQQTRTMOMLPQLLP
    w KLNKJRLILLOLNGKOLODUTMJVQNQRI
    x KNHLKMLLJLLNKLOHLSNIOLLJDNVLJ
    y RPHOOPTMFPMHNMEJLNHMLUMPTJLIH
    z KPLMKMNRJRRROLOLLUDQOPKLLIMKM
    * MJMRQOOPOQOLKMILMHTQOJPLQNRJO
    + PWKONLQLULPMVLNILLOVPLOLQPONQ
"""
"""`*` is a letter of Latin-1 with a diacritic, `+` any other."""

_CYRILLIC_PAIRS = """
    ^ MHHNIILKKLGNJKHIHJMKKPOIPOLLLKLOLPL
    а LNJNKIOEJOJMIJLILMKRKRDJOILLLLMQOLM
    б QLNLLPLNPLIINNHLMILLLDLLLLIHMLLILML
    в ILLLMLLLMLGBOLKNKJHILNMLPLLMMLLLOLP
    г NLLLAMLLKLMJORHLKLLKLLLOLLLLLLLLLLP
    д JLOLGJOLMLOGLKKKJJKJLLMLMLLKMLLQLLI
    е PGNHIMPOOJFJHEGNIIJRLNOMMMLLLLPMMLI
    ж RPLLGHLLLLPLLDOLLLLNLLLILLLLLLLLLLK
    з JLLMKPLLOLQSFHGLILLOLLLLLLLFNLMNNLH
    и JPPOOJPJKMMPFLLNQFILKIMFKPLLLLMHOLH
    й LLMLPLLLLLNFOKMLLKLLLLLGKLLLLLLLLLK
    к ILLLLUFOKLLNLKGLOOINLLGLLLLLLNLLLLJ
    л ILLLPLHQILMMMGLQLLNKLLLSLLLSFLHGNLM
    м KPNLLHLLNLNOAMJNOPLILLLMLLLKNLLGRLN
    н GLLOLKLRILKLLIHLNEHIDLPMLHLKKLKMOMK
    о LIHIDOJIPJLHJMGJIIFPMOBNKHLLLHLKNLI
    п LLLLLILLPLMQLJIGDOOPLLLULLLLNLLNLLI
    р HKGLNJDLNLPKJOLSLKIHOJLMGLLJLLRKPLJ
    с JMIOLLLLFLIEOIGGJJFLLMQOJLLNLLPIORM
    т JLDLOJLLLLLNNIFMIEPKLLLGLLLOGLRLNLI
    у QPOGHENMLNMQPJLKNIOLNPLHOHLLLLIQLLM
    ф JLLLLMLLLLLMPLHLKLLOOLLLLLLLLLLLLLN
    х OLQLLJLLNLLPNOILKIMNLLLLLLLLLLLLLLG
    ц PLJLLJLLBLLLLLOLLLLNLLMLLLLLLLLLLLM
    ч KLLLLHLLMLLLLJNLLLJMLLLLILLLPLLLNLN
    ш MLLLLKLLKLLOLJIKKLOLLLLLLLLLMLLLPLK
    щ NLLLLLLLJLLLLNLLLLLOLLLLLLLLCLLLLLL
    ъ LLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLKLLL
    ы LINLOKLMLILMNNLDIRMLLKLMLLLLLLLLLLJ
    ь LLLKPVLALLGLNCLOLNKLLLMMKLLLLLESNLK
    э LLLLLLLLLLJDLSLNMLFLLLLLLLLLLLLLLLN
    ю LLLLLLLLLLOLPNLLNPJLLLLILILLLLJLLLN
    я LCGMPINKLNMONNLLKNPLLIMNLLLLLLNOLLG
    ё LLNLLLLPLLMLRPLQUPRLLLLLNLLLLLLLLLK
    * LLLLMLLOLNLOLLLLLLLLLLLLLLLLLLLLLLQ
"""
"""`*` is any letter that Russian does not have."""

_LATIN = _Script(-0.87, 0.39, 0.22, 0.23, 0.08, _pairs(_LATIN_PAIRS))
_CYRILLIC = _Script(-0.83, 0.38, 0.42, 0.66, 0.46, _pairs(_CYRILLIC_PAIRS))

_LATIN_LETTERS = r"A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
_CYRILLIC_LETTERS = r"\u0400-\u052f"
_PIECES = re.compile(
    rf"'(?:s|t|m|d|re|ve|ll)\\b| ?[{_LATIN_LETTERS}]+| ?[{_CYRILLIC_LETTERS}]+| ?\d+"
    r"|[\u3040-\u30ff]+|[\u3400-\u9fff\uf900-\ufaff]+|[\uac00-\ud7af]+| ?[^\W\d_]+"
    r"|\s*\n\s*|[^\S\n]+|-+|=+|\*+|_+|#+|\.+|~+|.",
    re.DOTALL,
)
_BETWEEN_LINES = re.compile(r"(\n\s*)")
"""With the spaces before it this is the one piece in `_PIECES` with a line's end in it."""
_PLAIN_WORD = re.compile(r" ?[A-Za-z]?[a-z]+")
_HALF_UP = 0.5 + 1e-9
_CASES = re.compile(r" ?(?:[A-Z]+(?![a-z])|[A-Z]?[^A-Z ]+|[A-Z]+)")
_KINDS = re.compile(
    rf" ?(?:(?P<latin>[{_LATIN_LETTERS}])|(?P<cyrillic>[{_CYRILLIC_LETTERS}])|(?P<digit>\d)"
    r"|(?P<kana>[\u3040-\u30ff])|(?P<han>[\u3400-\u9fff\uf900-\ufaff])"
    r"|(?P<hangul>[\uac00-\ud7af])|(?P<letter>[^\W\d_]))"
)


def count(text: str) -> int:
    """Return the estimated number of tokens in a text, at least 1 for any non-empty text."""
    return max(1, _rounded(size_of(text))) if text else 0


def clip(text: str, max_tokens: int, *, mark: str = " …") -> str:
    """Return the longest prefix within `max_tokens`, cut at a space, with a mark if cut.

    The mark is within the budget too; where not even it fits, nothing is returned.
    """
    too_much, spare = max_tokens + 1 - _HALF_UP, size_of(mark)  # as `_rounded` has it
    total, end = 0.0, -1
    for match in _PIECES.finditer(text):
        piece = match[0]
        cost = _cost(piece) if len(piece) <= MAX_CACHED else _priced(piece)
        if end < 0 and total + spare + cost >= too_much:
            end = match.start() + _part(piece, total + spare, max_tokens)
        total += cost
        if total >= too_much:
            break
    else:
        return text if max_tokens > 0 else ""
    if max_tokens < max(1, count(mark)):
        return ""
    space = text.rfind(" ", 0, end)
    return text[: space if space > end // 2 else end].rstrip() + mark


def _rounded(cost: float) -> int:
    """Return a cost as a whole number; halves go up, in whatever order they were added up."""
    return int(cost + _HALF_UP)


def size_of(text: str) -> float:
    """Return the tokens of a text, not rounded: line by line, since those of a context are counted
    again and again.

    What stands between lines is a piece of its own, so that the lines' costs add up to the text's.
    """
    if "\n" not in text:
        return _line_cost(text) if len(text) <= MAX_KEPT else _line_sum(text)
    parts = _BETWEEN_LINES.split(text)
    total = 0.0
    for at in range(0, len(parts) - 1, 2):
        line = parts[at].rstrip()
        total += _line_cost(line) if len(line) <= MAX_KEPT else _line_sum(line)
        total += _cost(parts[at][len(line) :] + parts[at + 1])
    last = parts[-1]
    return total + (_line_cost(last) if len(last) <= MAX_KEPT else _line_sum(last))


def _line_sum(text: str) -> float:
    pieces: list[str] = _PIECES.findall(text)
    if len(text) > LONG_TEXT and len(max(pieces, key=len)) > MAX_CACHED:
        return sum(_cost(one) if len(one) <= MAX_CACHED else _priced(one) for one in pieces)
    return sum(map(_cost, pieces))


_line_cost = lru_cache(maxsize=4096)(_line_sum)


def _part(piece: str, spent: float, most: int) -> int:
    """Return how many characters of a piece fit; of a contraction none, since it has no parts.

    Every beginning of a word is tried. A run that is longer than any word, where a character more
    never costs less, is halved instead: to try them all would take minutes.
    """

    def fits(at: int) -> bool:
        return _rounded(spent + _priced(piece[:at])) <= most

    if piece[0] == "'":
        return 0
    if len(piece) <= MAX_CACHED or not fits(MAX_CACHED):
        return max(filter(fits, range(1, min(len(piece), MAX_CACHED))), default=0)
    low, high = MAX_CACHED, len(piece)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _priced(piece: str) -> float:
    """Return the cost of a piece; it is not kept."""
    if piece.isascii() and _PLAIN_WORD.fullmatch(piece):  # most pieces of most texts
        return _word_cost(piece, _LATIN, _latin_class)
    kind = _KINDS.match(piece)
    if kind is None:
        return _space_cost(piece) if piece.isspace() else _mark_cost(piece)
    name, length = kind.lastgroup or "", len(piece.strip(" "))
    if name == "latin":
        return sum(_word_cost(part, _LATIN, _latin_class) for part in _CASES.findall(piece))
    if name == "cyrillic":
        return _word_cost(piece, _CYRILLIC, _cyrillic_class)
    if name == "digit":
        return piece.startswith(" ") + float(-(-length // DIGITS_PER_TOKEN))
    return max(1.0, length * LETTER_COSTS[name])


_cost = lru_cache(maxsize=50_000)(_priced)
"""The same, kept for the words that come again and again."""


def _word_cost(word: str, script: _Script, shape: Callable[[str], str]) -> float:
    """Return the tokens of a word, with the space before it if there is one."""
    bare = word.strip(" ")
    lowered = bare[:MAX_WORD].lower()
    letters = lowered if lowered.isascii() else "".join(map(shape, lowered))
    extra = script.base + script.letter * len(bare) + script.unspaced * (bare == word)
    pairs = map(add, f"^{letters}", f"{letters}$")
    extra += sum(map(script.pairs.get, pairs, repeat(0.0)))
    if len(bare) > 1 and bare.isupper():
        extra += script.capital * len(bare)
    elif bare[:1].isupper():
        extra += script.title
    return 1.0 + max(0.0, EXTRA_SCALE * extra)


def _latin_class(letter: str) -> str:
    return letter if letter.isascii() else "*" if letter < "\u0100" else "+"


def _cyrillic_class(letter: str) -> str:
    return letter if "а" <= letter <= "я" or letter == "ё" else "*"


def _space_cost(piece: str) -> float:
    if "\n" in piece:
        return BLANK_LINE_COST if piece.count("\n") > 1 else NEWLINE_COST
    return LONE_SPACE_COST if piece == " " else SPACES_COST


def _mark_cost(piece: str) -> float:
    if len(piece) > 1 and piece.isascii():
        return RUN_COST * -(-len(piece) // LONG_RUN)
    if piece >= "\u2e80":
        return WIDE_PUNCTUATION_COST * len(piece)
    other = PLAIN_MARK_COST if piece.isascii() else OTHER_MARK_COST
    return MARK_COSTS.get(piece, other * len(piece))

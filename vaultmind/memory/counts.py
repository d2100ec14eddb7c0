"""Words that count, in six languages: "two", "dwie", "twice", "dreimal", "trois fois"."""

from __future__ import annotations

from vaultmind.memory.words import fold

_CARDINALS = """
    one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty half
    jeden jedna jedno jedną jednego dwa dwie dwoje dwóch trzy troje trzech cztery czworo czterech
    pięć pięciu pięcioro sześć sześciu siedem siedmiu osiem ośmiu dziewięć dziewięciu dziesięć
    dziesięciu jedenaście dwanaście dwadzieścia trzydzieści pół
    один одна одно одну одного два две двое двух двоих три трое трёх троих четыре четверо четырёх
    пять пяти шесть шести семь семи восемь восьми девять девяти десять десяти одиннадцать двенадцать
    двадцать тридцать
    ein eine einen eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig
    uno una dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta
    un une deux trois quatre cinq sept huit neuf dix onze douze vingt trente
"""
_ONCE = """
    once twice thrice raz jednokrotnie dwukrotnie trzykrotnie czterokrotnie
    раз однажды дважды трижды четырежды
    einmal zweimal dreimal viermal fünfmal sechsmal siebenmal zehnmal
"""
_TIMES = "times time razy raz raza раз раза mal male vez veces fois"


def _set(text: str) -> frozenset[str]:
    return frozenset(fold(word) for word in text.split())


_NUMBERS, _MULTIPLES, _TURNS = _set(_CARDINALS), _set(_ONCE), _set(_TIMES)


def is_count(word: str) -> bool:
    """Tell whether a word is a number, in digits or not, or says how often."""
    return word[:1].isdigit() or fold(word) in _NUMBERS or fold(word) in _MULTIPLES


def is_multiple(word: str) -> bool:
    """Tell whether a word alone says how often: "twice"."""
    return fold(word) in _MULTIPLES


def is_turns(word: str) -> bool:
    """Tell whether a word after a number says how often: "times"."""
    return fold(word) in _TURNS

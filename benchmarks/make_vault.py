"""Generate a vault of any size: notes in English, Polish and Russian, linked and tagged.

    python benchmarks/make_vault.py OUT --notes 1000 --seed 7

Words follow Zipf's law over a vocabulary of real function words and made-up content words, so
that an index meets realistic term statistics. The same seed gives the same bytes. Every note
holds one code word of its own (`needle` in needles.jsonl beside the vault), so that a benchmark
can ask for exactly that note.
"""

from __future__ import annotations

import argparse
import bisect
import itertools
import json
import random
from dataclasses import dataclass
from pathlib import Path

FUNCTION_WORDS = {
    "en": "the of and to in is that for it was on are with as be at this have from or had by not "
    "but some what there we can out other were all your when up use word how said each which "
    "their time will way about many then them would like so these her long make thing see him "
    "two has look more day could go come did my sound no most number who over know water than "
    "call first people may down side been now find any new work part take get place made live",
    "pl": "i w nie na się z do to że jest o jak a po co tak za od przez ale dla być tylko był już "
    "ze czy przed może ten jego jej ich jeszcze kiedy bardzo tego pod albo więc gdy bez nad "
    "gdzie coś ktoś zawsze nigdy teraz potem dzisiaj jutro wczoraj dom praca rok dzień czas "
    "ludzie życie miejsce sprawa strona ręka droga woda chleb rower książka rozmowa notatka",
    "ru": "и в не на что с по это как но из у за от так же для вы мы он она они быть был уже или "
    "если чтобы когда где кто ещё только очень можно надо после перед между под над без день "
    "год время дом работа жизнь дело рука дорога вода хлеб книга разговор заметка человек "
    "сегодня завтра вчера потом сейчас всегда никогда здесь там потому этот тот свой весь",
}
SYLLABLES = {
    "en": "ba den tor mil sha ver con pre ling ful ter ron gar sil wen mor pha lin der kin",
    "pl": "wie cho ską prze roz łań dzi ka no wró bla szcz mia go tów nik rze żół pa lec",
    "ru": "про рас ка ло ве тер ник сто мо ри на за дер жи вос пре бо лот ска чи ту лен",
}
LANGUAGES = ("en", "en", "en", "pl", "ru")
"""Three notes in five are English."""
CONTENT_WORDS = 9000
HEADINGS = {"en": "Notes on", "pl": "Uwagi o", "ru": "Заметки о"}
FOLDERS = (
    "Projects",
    "Daily",
    "Ludzie",
    "Книги",
    "Reading",
    "Recipes",
    "🌱 Garden",
    "Work/Clients",
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How long a note is: sections per note, sentences per section."""

    sections: tuple[int, int] = (1, 4)
    sentences: tuple[int, int] = (3, 8)


class Words:
    """A vocabulary with Zipf's distribution."""

    def __init__(self, lang: str, rng: random.Random) -> None:
        syllables = SYLLABLES[lang].split()
        made = {"".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(CONTENT_WORDS)}
        self.content = sorted(made)
        rng.shuffle(self.content)
        words = FUNCTION_WORDS[lang].split() + self.content
        self._words = words
        self._sums = list(itertools.accumulate(1.0 / (rank + 3) for rank in range(len(words))))

    def draw(self, rng: random.Random) -> str:
        """Return a word, frequent ones often."""
        return self._words[bisect.bisect(self._sums, rng.random() * self._sums[-1])]

    def sentence(self, rng: random.Random) -> str:
        """Return a sentence of 6 to 16 words."""
        words = [self.draw(rng) for _ in range(rng.randint(6, 16))]
        return " ".join(words).capitalize() + "."


def make_note(number: int, rng: random.Random, words: dict[str, Words], sizes: Sizes) -> str:
    """Return the text of a note; `needle-<number>` occurs in it once."""
    lang = LANGUAGES[number % len(LANGUAGES)]
    source = words[lang]
    lines = [
        "---",
        f"tags: [{lang}, topic/{rng.choice(source.content)}]",
        f"created: 2026-{number % 12 + 1:02d}-{number % 28 + 1:02d}",
        "---",
        f"# {HEADINGS[lang]} {source.draw(rng)} {number}",
        "",
        f"This is needle{number:06d}x. {source.sentence(rng)}",
        "",
    ]
    for _ in range(rng.randint(*sizes.sections)):
        lines += [f"## {source.draw(rng).capitalize()} {source.draw(rng)}", ""]
        text = " ".join(source.sentence(rng) for _ in range(rng.randint(*sizes.sentences)))
        lines += [
            f"{text} See [[note-{rng.randrange(max(1, number)):06d}|{source.draw(rng)}]].",
            "",
        ]
        if rng.random() < 0.2:
            lines += [f"- [ ] {source.sentence(rng)} #{lang}/{source.draw(rng)}", ""]
    return "\n".join(lines)


def make_vault(out: Path, notes: int, seed: int = 7, sizes: Sizes | None = None) -> None:
    """Write a vault of `notes` notes below `out`, and needles.jsonl beside it."""
    rng = random.Random(seed)
    words = {lang: Words(lang, rng) for lang in FUNCTION_WORDS}
    (out / ".obsidian").mkdir(parents=True, exist_ok=True)
    needles = []
    for number in range(notes):
        folder = out / FOLDERS[number % len(FOLDERS)] / f"{number // 200:03d}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"note-{number:06d}.md"
        path.write_text(make_note(number, rng, words, sizes or Sizes()), "utf-8")
        query = f"needle{number:06d}x"
        needles.append({"id": str(number), "query": query, "path": str(path.relative_to(out))})
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in needles)
    out.with_name(f"{out.name}-needles.jsonl").write_text(lines, "utf-8")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--sections", type=int, nargs=2, default=(1, 4), metavar=("MIN", "MAX"))
    parser.add_argument("--sentences", type=int, nargs=2, default=(3, 8), metavar=("MIN", "MAX"))
    args = parser.parse_args()
    sizes = Sizes(tuple(args.sections), tuple(args.sentences))
    make_vault(args.out, args.notes, args.seed, sizes)
    print(f"{args.notes} notes in {args.out}")


if __name__ == "__main__":
    main()

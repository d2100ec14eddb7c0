"""Measure which credentials are taken out of sentences, and what it takes that is none.

    python benchmarks/credentials.py [FILE] [--show]

Each line holds a text, its language, its kind and the secrets in it (none: `[]`). Recall: of the
lines with secrets, those of which no secret is left. Precision: of the lines where something was
masked, those that hold a secret. Codes of the household are left out: they are kept when asked for,
and it is said that they stand there. The kinds of missed and of wrongly masked lines stand below.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from example import DATA, read

from vaultmind.language.secrets import mask_secrets

KEPT = ("household", "door")
"""Kinds of lines whose codes may be kept: they are not measured."""
BLIND = ("cred_blind6.jsonl", "cred_blind7.jsonl", "cred_blind8.jsonl", "cred_tools.jsonl")
"""The last: lines of tools, logs, code and searches, of which one in five holds a credential."""


def share(part: int, whole: int) -> str:
    """Return a share with two decimals and what it is made of."""
    return f"{part / whole:.3f} ({part}/{whole})" if whole else "-"


def row(name: str, lines: list[dict[str, Any]]) -> str:
    """Return one language's line of the table."""
    held = [line for line in lines if line["secrets"]]
    masked = [line for line in lines if line["masked"] != line["text"]]
    found = [one for one in held if not any(part in one["masked"] for part in one["secrets"])]
    right = [line for line in masked if line["secrets"]]
    recall, precision = share(len(found), len(held)), share(len(right), len(masked))
    return f"| {name} | {len(lines)} | {recall} | {precision} |"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="other lines")
    parser.add_argument("--show", action="store_true", help="print the lines that went wrong")
    options = parser.parse_args()
    paths = [options.file] if options.file else [DATA / name for name in BLIND]
    lines = [one for path in paths for one in read(path) if one["kind"] not in KEPT]
    for line in lines:
        line["masked"] = mask_secrets(line["text"]).text
    print("| Language | Lines | Recall | Precision |\n|---|---|---|---|")
    for lang in sorted({line["lang"] for line in lines}):
        print(row(lang, [line for line in lines if line["lang"] == lang]))
    print(row("all", lines))
    missed = [one for one in lines if any(part in one["masked"] for part in one["secrets"])]
    wrong = [one for one in lines if not one["secrets"] and one["masked"] != one["text"]]
    for name, some in (("Missed", missed), ("Masked wrongly", wrong)):
        kinds = Counter(line["kind"] for line in some)
        print(f"\n{name}: {', '.join(f'{kind} {n}' for kind, n in kinds.most_common()) or 'none'}")
        for line in some if options.show else ():
            print(f"- {line['masked']}")


if __name__ == "__main__":
    main()

"""How often lasting memory brings the evidence into a new conversation, within its share.

    python benchmarks/lasting.py PATH/locomo.json [--embedder use|e5|none] [--keep FOLDER] [--json]

LoCoMo (Maharana et al., ACL 2024) is CC BY-NC 4.0 and is not part of this repository. Each
conversation is imported into a vault of its own, session by session; each question (categories 1
to 4) is the first message of a new conversation, with nothing but past sessions to recall from.
A share is the mean over questions of how much of their evidence stands in the part that recalls
(three pieces and 300 tokens at most, the defaults).
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from locomo import AGENT, Question, imported, load, name_of, questions

from vaultmind.app import App, local_now, open_app
from vaultmind.config import Config, IndexConfig
from vaultmind.session.context.build import BuildRequest
from vaultmind.types import PERSON
from vaultmind.vault.transcript import parse_session

_WAIT_SECONDS = 3600.0
_ADVERSARIAL = 5


def keys_of(app: App) -> dict[str, str]:
    """Return the id of each message of past sessions by its place, as sources name it."""
    folder = app.paths.sessions(AGENT)
    keys = {}
    for file in sorted((app.paths.root / folder).glob("*.md")):
        for placed in parse_session(file.read_text("utf-8")).messages:
            message = placed.message
            keys[f"{folder}/{file.name}#^{message.block}"] = message.id
    return keys


def measured(app: App, asked: list[Question]) -> dict[str, float]:
    """Return the share of the evidence and the tokens, over the questions of a conversation."""
    keys = keys_of(app)
    shares, sizes = [], []
    for question in asked:
        built = app.builder.build(BuildRequest(AGENT, pending=(question.text,)), PERSON)
        parts = [part for part in built.parts if part.name == "memory"]
        shown = {keys.get(source, "") for part in parts for source in part.sources}
        shares.append(len(question.evidence & shown) / len(question.evidence))
        sizes.append(sum(part.tokens for part in parts))
    return {"evidence": statistics.fmean(shares), "tokens": statistics.fmean(sizes)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="LoCoMo's JSON file")
    parser.add_argument("--embedder", default="use", choices=("use", "e5", "none"))
    parser.add_argument("--keep", type=Path, help="keep vaults and indexes here, to measure again")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    talks = load(arguments.data)
    asked = [one for one in questions(talks) if one.category != _ADVERSARIAL]
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="vaultmind-lasting-") as passing:
        for number, talk in enumerate(talks):
            name = name_of(number)
            folder = (arguments.keep or Path(passing)) / name
            vault = imported(talk, folder)
            settings = IndexConfig(embedder=arguments.embedder, watch=False)
            app = open_app(Config(vault, folder / "state", index=settings), clock=local_now)
            app.start()
            try:
                app.index.wait_ready(_WAIT_SECONDS, vectors=True)
                rows[name] = measured(app, [one for one in asked if one.conversation == name])
            finally:
                app.close()
    names = ("evidence", "tokens")
    rows["mean"] = {key: statistics.fmean(row[key] for row in rows.values()) for key in names}
    if arguments.json:
        print(json.dumps(rows, indent=1))
        return
    for name, row in rows.items():
        print(f"{name:12} evidence {row['evidence']:.3f}   tokens {row['tokens']:.0f}")


if __name__ == "__main__":
    main()

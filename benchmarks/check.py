"""Whether the quality is what it was: every figure that has a floor, measured anew.

    python benchmarks/check.py [--locomo PATH] [--only NAME ...] [--record] [--keep FOLDER]

Floors stand in benchmarks/floors.toml: what was measured when they were recorded, less a
hundredth. A figure below its floor ends the program with exit code 1. More is always better: of
errors and distances the rest to 1 is told. What search, contexts and voice do is asked of the
program itself, by its command line; the rest of the functions that do it.

LoCoMo (Maharana et al., ACL 2024) is CC BY-NC 4.0 and is not part of this repository: without
`--locomo` or VAULTMIND_LOCOMO its figures are left out, and the table says so. The shipped ranker
has learnt from some of what is asked here: these figures say that nothing broke.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import claims
import consolidation
import contradictions
import credentials
import extraction
import ordinary_requests
import reader
import replay
import when
from example import DATA, EXAMPLE, NOTE_QUESTIONS, QUESTIONS, ROOT, read, read_word_sets
from history import run as git
from large_vault import write_vault
from locomo import imported, load, name_of, questions, turns
from summary_talks import LENGTHS, WORDS, make_talk, summarised
from vault_history import write_history

from vaultmind.language.secrets import mask_secrets
from vaultmind.planner.task import understand

FLOORS = ROOT / "benchmarks" / "floors.toml"
ALLOWANCE = 0.01
FAIR = 0.45
"""Score below which a hit is said to be weak."""
EMBEDDER = "use"
PLANNED_UNTIL = "efa754f4b5d0"
"""The commit of this project up to which plans are replayed: later ones are other tasks."""
Figures = dict[str, float]


class Place:
    """Where a check keeps its vaults, and the conversations it is given."""

    def __init__(self, folder: Path, data: Path | None) -> None:
        self.folder = folder
        self.data = data

    def ask(self, vault: Path, *words: str, queries: Iterable[Mapping[str, str]] = ()) -> list[Any]:
        """Return the JSON that the program answers with, a document a line of queries."""
        command = [sys.executable, "-m", "vaultmind", "--vault", str(vault), "--json"]
        command += ["--in-process", "--state-dir", str(self.folder / "state"), *words]
        if queries:
            file = self.folder / "asked.jsonl"
            file.write_text("".join(f"{json.dumps(one)}\n" for one in queries), "utf-8")
            command.append(str(file))
        env = {key: value for key, value in os.environ.items() if "VAULTMIND_" not in key}
        env |= {
            "VAULTMIND_INDEX_EMBEDDER": EMBEDDER,
            "VAULTMIND_CONFIG": str(self.folder / "none.toml"),
            "PYTHONPATH": str(ROOT),
        }
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 5):
            raise SystemExit(f"{' '.join(words)}: {done.stdout[-500:]}{done.stderr[-2000:]}")
        return [json.loads(line) for line in done.stdout.splitlines()] if queries else []

    def search(self, vault: Path, texts: Sequence[str], *words: str) -> list[list[dict[str, Any]]]:
        """Return the hits of each question."""
        asked = [{"id": str(at), "query": text} for at, text in enumerate(texts)]
        answers = self.ask(vault, "search", *words, "--queries", queries=asked)
        return [one["hits"] for one in answers]


def search(place: Place) -> Figures:
    """Find the evidence of LoCoMo's questions, each conversation in a vault of its own."""
    rows: defaultdict[str, list[Figures]] = defaultdict(list)
    for number, talk in enumerate(load(place.data) if place.data else []):
        vault = imported(talk, place.folder / name_of(number))
        own = questions([talk])
        limits = ("--kind", "message", "--limit", "20", "--per-note", "20", "--max-tokens", "20000")
        answers = place.search(vault, [one.text for one in own], *limits)
        for group, categories in (("1 to 4", {1, 2, 3, 4}), ("5", {5})):
            found = [
                ranked(one.evidence, [hit["message"] for hit in hits])
                for one, hits in zip(own, answers, strict=True)
                if one.category in categories
            ]
            rows[group].append(mean(found))
    return {
        f"LoCoMo {group}, {key}": value
        for group, figures in rows.items()
        for key, value in mean(figures).items()
    }


def notes(place: Place) -> Figures:
    """Find notes: by what is asked over them, by other forms of words, typos, identifiers."""
    lines = read(NOTE_QUESTIONS)
    example = [one for one in lines if one["vault"] == "example"]
    groups = {"example vault": read(QUESTIONS) + example}
    figures = _notes(place, EXAMPLE, groups)
    large = place.folder / "large-vault"
    texts, words = read_word_sets()
    if not large.is_dir():
        write_vault(large)
        for name, text in texts.items():
            (large / f"{name}.md").write_text(f"{text}\n", "utf-8")
    groups = {"large vault": [one for one in lines if one["vault"] == "large"]}
    titles = {"morphology_pl": "Polish forms", "morphology_ru": "Russian forms"}
    for one in words:
        asked = {"query": one.query, "paths": [f"{name}.md" for name in one.right]}
        groups.setdefault(titles.get(one.group, one.group), []).append(asked)
    return figures | _notes(place, large, groups)


def _notes(place: Place, vault: Path, groups: Mapping[str, list[dict[str, Any]]]) -> Figures:
    every = [one for some in groups.values() for one in some]
    answers = iter(place.search(vault, [one["query"] for one in every], "--limit", "50"))
    figures: Figures = {}
    for name, some in groups.items():
        rows = []
        for one in some:
            paths = list(dict.fromkeys(hit["path"] for hit in next(answers)))
            place_of = next((at for at, path in enumerate(paths, 1) if path in one["paths"]), 0)
            rows.append({"R@5": float(0 < place_of <= 5), "MRR": 1 / place_of if place_of else 0.0})
        figures |= {f"{name}, {key}": value for key, value in mean(rows).items()}
    return figures


def nothing(place: Place) -> Figures:
    """Answer what the example vault cannot answer with nothing, or with weak hits."""
    asked = [one["query"] for one in read(DATA / "unrelated_questions.jsonl")]
    answers = place.search(EXAMPLE, asked)
    strong = [any(hit["score"] >= FAIR for hit in hits) for hits in answers]
    return {
        "unrelated, nothing found": share(not hits for hits in answers),
        "unrelated, weak hits at most": share(not one for one in strong),
    }


def context(place: Place) -> Figures:
    """Bring the evidence of LoCoMo's questions into a context: of this conversation, of others."""
    figures: defaultdict[str, list[float]] = defaultdict(list)
    for number, talk in enumerate(load(place.data) if place.data else []):
        own = [one for one in questions([talk]) if one.category in {1, 2, 3, 4}]
        asked = [{"id": str(at), "query": one.text} for at, one in enumerate(own)]
        vault = place.folder / f"talk-{number}" / "vault"
        if not vault.exists():
            vault.mkdir(parents=True)
            file = vault.parent / "talk.jsonl"
            file.write_text("".join(turns(talk["conversation"])), "utf-8")
            place.ask(vault, "init")
            place.ask(vault, "import", str(file), "--one-session")
        session = next(vault.rglob("sessions/*.md")).stem
        for budget in ("1800", "4000"):
            words = ("context", "--session", session, "--budget", budget, "--queries")
            answers = place.ask(vault, *words, queries=asked)
            whole = [{key for part in one["parts"] for key in part["messages"]} for one in answers]
            figures[f"evidence in {budget} tokens"].append(_covered(own, whole))
        apart = imported(talk, place.folder / name_of(number))
        keys = keys_of(apart)
        lasting = []
        for one in place.ask(apart, "context", "--queries", queries=asked):
            sources = [part["sources"] for part in one["parts"] if part["name"] == "memory"]
            lasting.append({keys.get(source, "") for some in sources for source in some})
        figures["evidence from lasting memory"].append(_covered(own, lasting))
    return {name: statistics.fmean(values) for name, values in figures.items()}


def _covered(asked: Sequence[Any], shown: Sequence[set[str]]) -> float:
    pairs = zip(asked, shown, strict=True)
    return statistics.fmean(len(one.evidence & held) / len(one.evidence) for one, held in pairs)


def keys_of(vault: Path) -> dict[str, str]:
    """Return the id of each message by where it stands."""
    keys = {}
    for file in vault.rglob("sessions/*.md"):
        path, text = file.relative_to(vault).as_posix(), file.read_text("utf-8")
        for key, block in re.findall(r'%%\{"id":"([^"]+)".*?^\^(m\d+)$', text, re.S | re.M):
            keys[f"{path}#^{block}"] = key
    return keys


def facts(place: Place) -> Figures:
    """Find the facts of labelled dialogues, and leave out what must not be kept."""
    figures: Figures = {}
    for part in (*(f"round{number}" for number in range(10, 17)), "traps"):
        results = [extraction.run(one) for one in extraction.load(part)]
        right, junk = (
            sum(len(getattr(one, kind)) for one in results) for kind in ("right", "junk")
        )
        gold, missed = (
            sum(len(one.dialogue["gold"]) for one in results),
            sum(len(one.missed) for one in results),
        )
        never = sum(len(one.dialogue["never"]) for one in results)
        leaks = sum(len(one.leaks) for one in results)
        figures |= {
            f"{part}, precision": right / (right + junk),
            f"{part}, recall": (gold - missed) / gold,
            f"{part}, not leaked": 1 - leaks / max(1, never),
        }
    return figures


def requests(place: Place) -> Figures:
    """Lose nothing by ordinary requests, and forget what is asked."""
    found = [
        ordinary_requests.measure(one, "none", each=False)
        for one in read(ROOT / "tests/data/requests_tuned.jsonl")
    ]
    lost = ("deleted", "moved", "hidden", "others lost")
    return {
        "lines that lost nothing": share(not any(one[name] for name in lost) for one in found),
        "forgotten as asked": share(one["forgotten as asked"] == 1 for one in found),
    }


def reported(place: Place) -> Figures:
    """Keep the true claims of agents, and refuse those that are made up."""
    done = claims.measure(read(DATA / "claims.jsonl"))
    figures: defaultdict[str, list[bool]] = defaultdict(list)
    for _, claim, fate in done:
        written = fate["outcome"] in ("written", "unchanged")
        if claim["label"]:
            figures["true claims, kept or asked about"].append(fate["outcome"] != "dropped")
        else:
            figures[f"made up, {claim['sort']}, not written"].append(not written)
    return {name: share(flags) for name, flags in figures.items()}


def voice(place: Place) -> Figures:
    """Understand what is asked of the memory, on sentences that taught nothing."""
    told = reader.figures(reader.answered(DATA / name for name in reader.BLIND))
    told["no false alarm"] = 1 - told.pop("false alarms")
    return told


def secrets(place: Place) -> Figures:
    """Mask credentials, and nothing else."""
    every = [one for name in credentials.BLIND for one in read(DATA / name)]
    lines = [one for one in every if one["kind"] not in credentials.KEPT]
    rows = [(one, mask_secrets(one["text"]).text) for one in lines]
    held = [(one, masked) for one, masked in rows if one["secrets"]]
    changed = [one for one, masked in rows if masked != one["text"]]
    return {
        "credentials, recall": share(
            not any(secret in masked for secret in one["secrets"]) for one, masked in held
        ),
        "credentials, precision": share(bool(one["secrets"]) for one in changed),
    }


def contradicting(place: Place) -> Figures:
    """Find facts that exclude each other: only where it is certain, so precision is what counts."""
    found = contradictions.score(contradictions.load(contradictions.DEFAULT))
    return {"contradicts, precision": found.precision, "contradicts, recall": found.recall}


def plans(place: Place) -> Figures:
    """Tell what a commit changes: of a vault's edits, and of this project."""
    history = place.folder / "vault-history"
    if not history.exists():
        write_history(history)
    figures = _replayed("vault", history, [])
    own = place.folder / "project"
    if not own.exists() and known(PLANNED_UNTIL):
        git(ROOT, "clone", "-q", str(ROOT), str(own))
        git(own, "checkout", "-q", "-B", "asked", PLANNED_UNTIL)
    if own.exists():
        figures |= _replayed("project", own, ["--half", "second", "--every", "16", "--last", "0"])
    return figures


def known(commit: str) -> bool:
    """Tell whether this repository holds a commit: an archive of it has no history."""
    words = ["git", "-C", str(ROOT), "cat-file", "-e", commit]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def _replayed(name: str, repo: Path, words: Sequence[str]) -> Figures:
    parser = argparse.ArgumentParser()
    replay.add_options(parser)
    done = replay.replayed_repo(repo, parser.parse_args([*words, "--rows", "planner"]))
    row = next(iter(replay.figures(done).values()))
    return {f"{name}, {key}": row[key] for key in replay.MEASURES}


def tasks(place: Place) -> Figures:
    """Understand the kind and the risk of a task."""
    labels = read(DATA / "intents_train.jsonl")
    found = [understand(label["task"], "bench") for label in labels]
    each = list(zip(found, labels, strict=True))
    return {
        "kind": statistics.fmean(one.predicted == label["kind"] for one, label in each),
        "risk": statistics.fmean(one.risk == label["risk"] for one, label in each),
    }


def times(place: Place) -> Figures:
    """Find the times that texts name."""
    figures: Figures = {}
    for name in ("tuned", "blind", "hard"):
        score = when.score(read(DATA / f"when_{name}.jsonl"))
        figures[f"{name}, precision"] = score.right / score.found
        figures[f"{name}, recall"] = score.right / score.labelled
    return figures


def summaries(place: Place) -> Figures:
    """Keep in summaries what matters: planted facts, and what people say of a session."""
    figures: Figures = {}
    for length, number in LENGTHS.items():
        talks = [make_talk(language, length, number, 0) for language in WORDS]
        told = [(talk, summarised(talk)) for talk in talks]
        for kind in ("decision", "number"):
            figures[f"{kind}s in {length} messages"] = share(
                one.value in text for talk, text in told for one in talk.planted if one.kind == kind
            )
    if place.data:
        sessions, levels = consolidation.measured(consolidation.locomo(place.data))
        figures["session, ROUGE-L"] = statistics.fmean(sessions["our summary"].rouge)
        figures["session, coverage"] = statistics.fmean(sessions["our summary and facts"].covered)
        figures["L1, ROUGE-L"] = statistics.fmean(levels[0].rouge)
        figures["L1, coverage"] = statistics.fmean(levels[0].covered)
    return figures


CHECKS: dict[str, Callable[[Place], Figures]] = {
    "search": search,
    "notes": notes,
    "nothing": nothing,
    "context": context,
    "facts": facts,
    "requests": requests,
    "claims": reported,
    "voice": voice,
    "secrets": secrets,
    "contradictions": contradicting,
    "plans": plans,
    "tasks": tasks,
    "times": times,
    "summaries": summaries,
}


def share(flags: Iterable[bool]) -> float:
    """Return the share of true ones."""
    listed = list(flags)
    return sum(listed) / len(listed)


def ranked(right: frozenset[str], found: Sequence[str]) -> Figures:
    """Return the share of what is right among the first five, and the reciprocal rank."""
    first = next((at for at, name in enumerate(found, 1) if name in right), 0)
    return {"R@5": len(right & set(found[:5])) / len(right), "MRR": 1 / first if first else 0.0}


def mean(rows: Sequence[Figures]) -> Figures:
    """Return the means of figures."""
    return {key: statistics.fmean(row[key] for row in rows) for key in rows[0]} if rows else {}


def line(check: str, name: str, value: float, floor: float | None) -> str:
    """Return a figure's line of the table."""
    told = "new" if floor is None else "holds" if value >= floor else "**below**"
    return (
        f"| {check} | {name} | {value:.3f} | {'–' if floor is None else f'{floor:.3f}'} | {told} |"
    )


def floors() -> dict[str, Figures]:
    """Return the floors of each check."""
    return tomllib.loads(FLOORS.read_text("utf-8")) if FLOORS.exists() else {}


def record(check: str, figures: Figures) -> None:
    """Make figures, less a hundredth, the floors of a check."""
    kept = floors()
    less = {name: max(0.0, value - ALLOWANCE) for name, value in figures.items()}
    kept[check] = kept.get(check, {}) | less
    parts = ["# What check.py may not fall below: figures less a hundredth. `check.py --record`.\n"]
    for name in (one for one in CHECKS if one in kept):
        rows = "".join(f'"{figure}" = {value:.3f}\n' for figure, value in kept[name].items())
        parts.append(f"[{name}]\n{rows}")
    FLOORS.write_text("\n".join(parts), "utf-8")


def main() -> int:
    """Measure, print the table, and record floors if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    data = os.environ.get("VAULTMIND_LOCOMO")
    parser.add_argument("--locomo", type=Path, default=Path(data) if data else None)
    parser.add_argument("--only", action="append", choices=CHECKS, help="only these; repeatable")
    parser.add_argument("--record", action="store_true", help="make today's figures the floors")
    parser.add_argument("--keep", type=Path, help="keep vaults and indexes in this folder")
    given = parser.parse_args()
    if given.locomo and not given.locomo.is_file():
        parser.error(f"There is no {given.locomo}.")
    folder = given.keep or Path(tempfile.mkdtemp(prefix="vaultmind-check-"))
    folder.mkdir(parents=True, exist_ok=True)
    place, below = Place(folder.resolve(), given.locomo), 0
    print("| check | figure | today | floor | |\n|---|---|---|---|---|", flush=True)
    try:
        for check in given.only or CHECKS:
            began, own = time.monotonic(), floors().get(check, {})
            figures = CHECKS[check](place)
            for name, value in figures.items():
                print(line(check, name, value, own.get(name)), flush=True)
                below += value < own.get(name, 0.0)
            for name in own.keys() - figures.keys():
                print(f"| {check} | {name} | not measured | {own[name]:.3f} | |")
            print(f"{check}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
            if given.record:
                record(check, figures)
    finally:
        if not given.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return int(below > 0 and not given.record)


if __name__ == "__main__":
    sys.exit(main())

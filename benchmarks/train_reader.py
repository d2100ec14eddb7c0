"""Train the network of `vaultmind/language`, and write the weights that ship.

    pip install torch && python benchmarks/train_reader.py
    python benchmarks/train_reader.py --held-out asked_d,sayings_b --out /tmp/weights.npz
    python benchmarks/train_reader.py --only secrets     # anew over words as they are read already
    python benchmarks/train_reader.py --only secrets --new cred_r,cred_s,cred_t    # in minutes

Each writer's lines are a file; held out, a writer's lines are measured by a network that learnt
from the others. The blind sets are only measured, by `benchmarks/reader.py`. Needs torch, which
the package does not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from credentials import KEPT
from extraction import PARTS
from extraction import load as dialogues
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from vaultmind.consolidate.extract import own_words
from vaultmind.language.encoder import (
    FEATURES,
    SPELLINGS,
    SPELT,
    Word,
    encoded,
    spellings,
    words_of,
)
from vaultmind.language.network import WEIGHTS
from vaultmind.language.text import plain_sentences
from vaultmind.redact import mask

_Net, _Some = TypeVar("_Net", bound=nn.Module), TypeVar("_Some")
DATA = Path(__file__).parent / "data"
LANGUAGES = ["en", "pl", "ru", "de", "es", "fr"]
ASKS = ["none", "remember", "forget", "forget_topic", "correct", "recall", "show"]
ASKS += ["skip_this", "skip_before", "skip_after"]
OLD_NAMES = {"forget_that": "forget", "show_memory": "show"}
MEMBERS = 2
"""Networks that learn from another start."""
HIDDEN, EPOCHS, BATCH, RATE, DECAY = 128, 6, 48, 1.5e-3, 0.05
SLOW = 0.998
"""Share of the mean of all steps that each step leaves as it is."""
TAGGED = 0.7
"""What the words' tags count beside the text's labels."""
OFTEN = 14
"""How often each of the plainest ways to ask is shown, each time about something else."""
BESIDE, LONGEST = 0.4, 120
"""Share of requests that are also shown beside a sentence of at most so many letters."""
LONG, SHORT = 2500, 25
"""Requests that are shown in a long message; letters of a sentence of a talk that may ask."""
ASKED = re.compile(
    r"remember|remind|forget|keep|sav|stor|note|record|memor|pami|zapomn|zapis|notuj|przypom|"
    r"помн|забы|забудь|сохран|запис|^(?:no|nope|not anymore|actually|sorry|wait|nie|jednak|нет|"
    r"не|вообще)\b",
    re.IGNORECASE,
)
"""Messages of talks with such words may ask something of the memory."""
PLAIN = 4000
"""Sentences without a secret that are taken from other data, beside those of talks."""
FACTS = {
    "fact": ["CORE", "PREFERENCE", "DECISION", "PROJECT", "SKIP"],
    "alone": ["unclear", "alone"],
}
NO_FACT = {"fact": [FACTS["fact"].index("SKIP")]}
TAUGHT = ("taught", "tuned", "round7", "round8", "round9")
"""Parts of the dialogues that are learnt; the others are measured by."""
BALANCE = 0.5
"""Power of how rare a label is by which its lines count for more."""
OWN = 2.0
"""What a line counts that was labelled for everything asked of it."""
BARE = ("asked_a", "asked_b", "asked_c", "asked_d", "asked_m", "asked_s", "utterances")
"""Writers who marked the bare value of a correction where the others marked the whole clause."""
TERSE, CLAUSE = ("asked_w",), 3
"""Writers who did so only in short replies; words of a clause at least."""
WEAK = 0.5
"""What a line counts that was labelled for something else."""


@dataclass(slots=True)
class Row:
    """A labelled text. `labels`: for each head the places of the labels that are right."""

    text: str
    writer: str
    labels: dict[str, list[int]]
    spans: list[tuple[int, int, int]] | None
    """Begin, end and tag of what is marked; None where nothing is known of it."""
    weight: float = 1.0
    words: list[Word] = field(default_factory=list)
    features: Any = None
    spelt: Any = None

    def tags(self) -> list[int]:
        """Return the tag of each word; -1 where none is known."""
        if self.spans is None:
            return [-1] * len(self.words)
        return [
            next((tag for a, b, tag in self.spans if word.start < b and word.end > a), 0)
            for word in self.words
        ]


@dataclass(frozen=True, slots=True)
class Task:
    """What a network learns."""

    heads: dict[str, list[str]]
    tags: int
    rows: list[Row]


def lines(pattern: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the lines of data files, each with its file's name."""
    for path in sorted(DATA.glob(pattern)):
        for line in path.read_text("utf-8").splitlines():
            yield path.stem, json.loads(line)


def span(text: str, words: str, tag: int) -> list[tuple[int, int, int]]:
    """Return where some words stand in a text."""
    at = text.find(words) if words else -1
    return [(at, at + len(words), tag)] if at >= 0 else []


def asks() -> Task:
    """Return what is asked of the memory, and in which language."""
    rows, skips = [], [at for at, label in enumerate(ASKS) if label.startswith("skip_")]
    for stem, line in (*lines("asked_?.jsonl"), *lines("utterances.jsonl")):
        label = line.get("asks") or line["intent"]
        label = OLD_NAMES.get(label, label)
        if label in ("do_not_keep", "skip"):
            scope = line.get("scope", "")
            right = [ASKS.index(f"skip_{scope}")] if scope in ("this", "before", "after") else skips
        else:
            right = [ASKS.index(label)]
        text = line["text"]
        spans = span(text, line.get("new") or line.get("payload") or "", 1)
        spans += span(text, line.get("old") or "", 2)
        silent = label in ("none", "show", "do_not_keep", "skip")
        new = (line.get("new") or "").split()
        silent |= label == "correct" and (stem in BARE or (stem in TERSE and len(new) < CLAUSE))
        rows.append(Row(text, stem, {"asks": right, **language(line)}, None if silent else spans))
    for stem, line in lines("unkept_train.jsonl"):
        scope, others = line.get("scope") or "", list(range(len(ASKS) - 3))
        skip = [ASKS.index(f"skip_{scope}")] if f"skip_{scope}" in ASKS else skips
        right = skip if line["label"] else others
        rows.append(Row(line["text"], stem, {"asks": right, **language(line)}, None, WEAK))
    for stem, line in lines("facts_*.jsonl"):
        labels = {"asks": [0], **language({"lang": stem.removeprefix("facts_")})}
        rows.append(Row(line["text"], stem, labels, None, WEAK))
    for stem, line in (
        *lines("../../tests/data/requests_tuned.jsonl"),
        *lines("forgett*_t*.jsonl"),
    ):
        said = line["requests"]
        both = (f"{one.rstrip('.')}. {other}" for one, other in pairwise(said))
        rows += [Row(one, stem, {"asks": [0], **language(line)}, None) for one in (*said, *both)]
        forget = {"asks": [ASKS.index("forget_topic")], **language(line)}
        rows.append(Row(line["forget"]["text"], stem, forget, None))
    every = [*rows, *varied(rows), *plain(rows), *long(rows), *talk()]
    return Task({"asks": ASKS, "lang": LANGUAGES}, 3, every)


def talk() -> Iterator[Row]:
    """Yield what people say to an assistant in whole conversations: nearly all asks nothing."""
    said = [(part, one) for part in PARTS if part.startswith(TAUGHT) for one in dialogues(part)]
    said += [(stem, one) for stem, one in (*lines("claims.jsonl"), *lines("talks_?.jsonl"))]
    for stem, one in said:
        for message in (each for each in one["messages"] if each["role"] == "user"):
            whole = message["text"]
            for text in dict.fromkeys((whole, *plain_sentences(whole))):
                if not ASKED.search(text) and (text == whole or len(text) > SHORT):
                    labels = {"asks": [0], **language(one)}
                    yield Row(text, stem, labels, None, WEAK if text == whole else WEAK / 2)


def long(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield messages of several sentences, half of them with a request somewhere in them."""
    dice = random.Random(4)
    quiet: dict[str, list[str]] = {}
    for row in rows:
        if row.labels["asks"] == [0] and len(row.text) < LONGEST and "lang" in row.labels:
            quiet.setdefault(str(row.labels["lang"]), []).append(row.text)
    asking = [row for row in rows if row.weight == 1 and row.labels["asks"] != [0]]
    for row in dice.sample([row for row in asking if str(row.labels.get("lang")) in quiet], LONG):
        said = dice.sample(quiet[str(row.labels["lang"])], dice.randint(2, 5))
        said = [one if one[-1:] in ".!?" else f"{one}." for one in said]
        yield Row(" ".join(said), "long", {**row.labels, "asks": [0]}, None, WEAK)
        at = dice.randint(0, len(said))
        first = "".join(f"{one} " for one in said[:at])
        spans = row.spans and [(a + len(first), b + len(first), tag) for a, b, tag in row.spans]
        end = row.text if row.text[-1:] in ".!?" or at == len(said) else f"{row.text}."
        text = " ".join([f"{first}{end}", *said[at:]])
        yield Row(text, row.writer, row.labels, spans, WEAK)


def plain(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the plainest ways to ask, each of many things: these must be heard, whatever it is."""
    dice = random.Random(3)
    told: dict[str, list[str]] = {}
    for _, line in lines("sayings_?.jsonl"):
        if line["kind"] != "none" and line["alone"] and len(line["text"]) < LONGEST:
            told.setdefault(line["lang"], []).append(line["text"].rstrip(".!"))
    for row in rows:
        if row.writer.startswith("facts_") and len(row.text) < LONGEST:
            told.setdefault(row.writer[-2:], []).append(row.text.rstrip(".!"))
    for _, line in lines("plain_asks.jsonl"):
        label = f"skip_{line['scope']}" if "scope" in line else line["asks"]
        labels = {"asks": [ASKS.index(label)], **language(line)}
        for frame in line["frames"] * OFTEN:
            said = [dice.choice(told[line["lang"]]) for _ in range(frame.count("{}"))]
            if not frame.startswith("{}"):
                said = [one if one.startswith("I ") else one[:1].lower() + one[1:] for one in said]
            text, begun = frame.format(*said), frame.index("{}")
            end = len(text) - len(frame) + frame.rindex("{}") + 2
            yield Row(text, "plain", labels, None if "scope" in line else [(begun, end, 1)])


def varied(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield requests about something else, and requests beside a sentence that asks nothing.

    What is asked for is taken from another request of the same kind and language.
    """
    dice = random.Random(1)
    marked = [row for row in rows if row.spans and len(row.spans) == 1 and "lang" in row.labels]
    quiet = [row for row in rows if row.labels["asks"] == [0] and len(row.text) < LONGEST]
    others: dict[str, list[str]] = {}
    for row in marked:
        (start, end, _), kind = row.spans[0], str(row.labels)  # type: ignore[index]
        others.setdefault(kind, []).append(row.text[start:end])
    for row in marked:
        (start, end, tag), kind = row.spans[0], str(row.labels)  # type: ignore[index]
        new = dice.choice(others[kind])
        text = f"{row.text[:start]}{new}{row.text[end:]}"
        yield Row(text, row.writer, row.labels, [(start, start + len(new), tag)])
    for row in rows:
        if row.weight < 1 or row.labels["asks"] == [0] or dice.random() > BESIDE:
            continue
        one = dice.choice(quiet)
        while one.labels.get("lang") != row.labels.get("lang"):
            one = dice.choice(quiet)
        first = f"{one.text.rstrip('.!?')}. " if dice.random() > BESIDE else ""
        spans = row.spans and [(a + len(first), b + len(first), tag) for a, b, tag in row.spans]
        text = f"{first}{row.text}" if first else f"{row.text.rstrip('.!?')}. {one.text}"
        yield Row(text, row.writer, row.labels, spans)


def language(line: dict[str, Any]) -> dict[str, list[int]]:
    """Return the label of a line's language."""
    return {"lang": [LANGUAGES.index(line["lang"])]} if line.get("lang") in LANGUAGES else {}


def secrets() -> Task:
    """Return which words are a credential's value."""
    rows = []
    for stem, line in (*lines("cred*_[a-z].jsonl"), *lines("credentials.jsonl")):
        text, own = line["text"], () if line["kind"] in KEPT else line["secrets"]
        found = [where for one in own for where in span(text, one, 1)]
        rows.append(Row(text, stem, {"secret": [int(bool(found))]}, found))
    single = [row for row in rows if row.spans and len(row.spans) == 1]
    values = [row.text[start:end] for row in single for start, end, _ in row.spans or ()]
    dice = random.Random(2)
    for row, (start, end, tag) in ((row, row.spans[0]) for row in single if row.spans):
        kind = row.text[start:end].isdigit()
        new = dice.choice([one for one in values if one.isdigit() == kind])
        text = f"{row.text[:start]}{new}{row.text[end:]}"
        rows.append(Row(text, row.writer, row.labels, [(start, start + len(new), tag)]))
    plain = [*lines("asked_?.jsonl"), *lines("facts_*.jsonl"), *lines("sayings_?.jsonl")]
    said = [line["text"] for _, line in random.Random(1).sample(plain, PLAIN)]
    said += [one.text for one in talk() if len(one.text) < LONGEST and not mask(one.text).kinds]
    rows += [Row(text, "plain", {"secret": [0]}, [], WEAK) for text in said]
    return Task({"secret": ["no", "yes"]}, 2, rows)


def facts() -> Task:
    """Return what is worth keeping, and what can be understood by itself."""
    rows = [*sayings(), *marked()]
    for head, labels in FACTS.items():  # what is rare counts for more
        counts = [sum(row.labels.get(head) == [at] for row in rows) for at in range(len(labels))]
        for row in rows:
            if (right := row.labels.get(head, [])) and len(row.labels) == 1:
                row.weight *= (sum(counts) / len(counts) / counts[right[0]]) ** BALANCE
    return Task(FACTS, len(FACTS["fact"]), rows)


def sayings() -> Iterator[Row]:
    """Yield single sentences with what they are; nothing in a joke or a role is to be kept."""
    fact, alone = ({label: [at] for at, label in enumerate(x)} for x in FACTS.values())
    said = [(stem, one) for stem, talk in lines("talks_?.jsonl") for one in talk["labels"]]
    for stem, line in (*lines("sayings_[a-z].jsonl"), *lines("sayings_said_?.jsonl"), *said):
        kind, worth = line["kind"].upper(), [*range(len(FACTS["fact"]) - 1)]
        right = fact["SKIP"] if kind == "NONE" else fact.get(kind, worth)
        marks = [] if kind == "NONE" else None
        yield Row(line["text"], stem, {"fact": right, "alone": [int(line["alone"])]}, marks, OWN)
    for stem, line in lines("facts_*.jsonl"):
        labels = {"fact": fact[line["category"]]}
        marks = []
        if line["category"] != "SKIP":
            marks = [(0, len(line["text"].rstrip(".! ")), labels["fact"][0] + 1)]
        yield Row(line["text"], stem, labels, marks)
        if line["category"] in ("CORE", "PREFERENCE"):  # short and plain: "I live in Leeds"
            yield Row(line["text"].rstrip(".!"), stem, {"alone": alone["alone"]}, None, WEAK)
    for stem, line in (*lines("alone_t*.jsonl"), *lines("alone_[a-z].jsonl")):
        yield Row(line["text"].rstrip(".!"), stem, {"alone": [int(line["alone"])]}, None)
    for stem, line in lines("dialogues_alone.jsonl"):
        for one in line["facts"]:
            yield Row(one["text"].rstrip("."), stem, {"alone": alone["alone"]}, None)
    for stem, line in lines("manner.jsonl"):
        if line["label"] not in ("plain", "back"):  # a joke, a role, somebody else's words
            yield Row(line["text"], stem, NO_FACT, [])


def marked() -> Iterator[Row]:
    """Yield the sentences of messages, with the stretches marked that are facts by themselves."""
    sorts = {name: at for at, name in enumerate(FACTS["fact"])}
    for stem, line in lines("marked_*.jsonl"):
        facts = [
            (" ".join(one["text"].split()), sorts[one["kind"]], one.get("maybe", False))
            for one in line["facts"]
        ]
        for sentence in plain_sentences(own_words(line["text"])[0]):
            found = [
                (*where, sort)
                for text, sort, maybe in facts
                for where in span(sentence, text, -1 if maybe else sort + 1)
            ]
            kinds = {"fact": sorted({sort for *_, sort in found})} if found else {}
            yield Row(sentence, stem, kinds if facts else NO_FACT, [where[:3] for where in found])
        for text, sort, maybe in facts:
            yield Row(text, stem, {"fact": [sort], "alone": [int(not maybe)]}, None, WEAK)


TASKS = {"asks": asks, "secrets": secrets, "facts": facts}


class Part(nn.Module):
    """What is done for one task with words that were read."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.main = len(next(iter(task.heads.values())))
        self.att = nn.Linear(3 * HIDDEN, 1)
        self.out = nn.Linear(6 * HIDDEN, sum(map(len, task.heads.values())))
        self.t1 = nn.Linear(3 * HIDDEN + self.main, HIDDEN)
        self.tag = nn.Linear(HIDDEN, task.tags)
        self.some = nn.Dropout(0.4)

    def forward(self, state: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
        """Return scores of labels, and of each word's tags."""
        weight = self.att(state).squeeze(-1).masked_fill(there == 0, -1e4).softmax(-1)
        most = state.masked_fill(there[..., None] == 0, -1e4).max(1).values
        scores = self.out(self.some(torch.cat([most, (weight[..., None] * state).sum(1)], -1)))
        beside = scores[:, : self.main].softmax(-1).detach()[:, None]
        beside = beside.expand(-1, state.shape[1], -1)
        hidden = functional.relu(self.t1(torch.cat([self.some(state), beside], -1)))
        return scores, self.tag(hidden)


def both_ways(gru: nn.Module, state: Tensor, shown: Tensor, there: Tensor) -> Tensor:
    """Return the states of words with what a recurrent layer makes of them as they are shown."""
    ends = (there * torch.arange(1, there.shape[1] + 1)).max(1).values.clamp(min=1).long()
    packed = nn.utils.rnn.pack_padded_sequence(shown, ends, batch_first=True, enforce_sorted=False)
    read, _ = nn.utils.rnn.pad_packed_sequence(
        gru(packed)[0], batch_first=True, total_length=there.shape[1]
    )
    return torch.cat([state, read], -1)


class Net(nn.Module):
    """The network of `vaultmind.language.network`, to be trained: all tasks read with one eye."""

    def __init__(self, tasks: dict[str, Task]) -> None:
        super().__init__()
        self.proj = nn.Linear(FEATURES, HIDDEN)
        self.emb = nn.EmbeddingBag(SPELLINGS, HIDDEN, mode="sum")
        nn.init.normal_(self.emb.weight, std=0.1)
        self.gru = nn.GRU(HIDDEN, HIDDEN, batch_first=True, bidirectional=True)
        self.parts = nn.ModuleDict({name: Part(task) for name, task in tasks.items()})
        self.some, self.few = nn.Dropout(0.4), nn.Dropout(0.3)

    def forward(
        self, name: str, seen: Tensor, spelt: Tensor, there: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return scores of a task's labels, and of each word's tags."""
        size, length, _ = seen.shape
        spelling = self.emb(spelt.view(size * length, -1)).view(size, length, -1)
        state = functional.relu(self.proj(self.few(seen)) + spelling) * there[..., None]
        state = both_ways(self.gru, state, self.some(state), there)
        found: tuple[Tensor, Tensor] = self.parts[name](state, there)
        return found


def batch(rows: Sequence[Row]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return features, spellings, where words are, and tags of some rows."""
    size, length = len(rows), max(1, *(len(row.words) for row in rows))
    seen = np.zeros((size, length, FEATURES), np.float32)
    spelt = np.zeros((size, length, SPELT), np.int64)
    there, tags = np.zeros((size, length), np.float32), np.full((size, length), -1, np.int64)
    for at, row in enumerate(rows):
        count = len(row.words)
        there[at, : max(1, count)] = 1
        if count:
            seen[at, :count], spelt[at, :count] = row.features, row.spelt
            tags[at, :count] = row.tags()
    return tuple(map(torch.from_numpy, (seen, spelt, there, tags)))  # type: ignore[return-value]


def loss_of(net: Net, name: str, task: Task, rows: Sequence[Row]) -> Tensor:
    """Return how wrong a network is about some rows of a task."""
    seen, spelt, there, tags = batch(rows)
    kept = there * (torch.rand(there.shape) > 0.05).float()
    kept[:, 0] = 1
    scores, told = net(name, seen, spelt, kept)
    weight = torch.tensor([row.weight for row in rows])
    loss, first = torch.zeros(()), 0
    for head, labels in task.heads.items():
        share = scores[:, first : first + len(labels)].log_softmax(-1)
        first += len(labels)
        right = torch.zeros(len(rows), len(labels))
        for at, row in enumerate(rows):
            right[at, row.labels.get(head, range(len(labels)))] = 1
        loss = loss - (torch.logsumexp(share.masked_fill(right == 0, -1e4), 1) * weight).mean()
    if (tags >= 0).any():
        flat = told.reshape(-1, task.tags), tags.reshape(-1)
        loss = loss + TAGGED * functional.cross_entropy(*flat, ignore_index=-1)
    return loss


def train(tasks: dict[str, Task], seed: int, start: dict[str, Tensor]) -> Net:
    """Return a network trained on the rows of all tasks.

    From a `start` the words are read as they were, and only what is made of them is learnt.
    """
    torch.manual_seed(seed)
    shuffle = random.Random(seed).shuffle
    net = Net(tasks)
    if start:
        net.load_state_dict({**net.state_dict(), **start}, strict=False)
        for name, values in net.named_parameters():
            values.requires_grad = name.startswith("parts.")

    def batches() -> list[tuple[str, list[Row]]]:
        found = [(name, some) for name in tasks for some in batched(tasks[name].rows, shuffle)]
        shuffle(found)
        return found

    return learn(net, batches, lambda one: loss_of(net, one[0], tasks[one[0]], one[1]), EPOCHS)


def learn(
    net: _Net, batches: Callable[[], list[_Some]], loss: Callable[[_Some], Tensor], epochs: int
) -> _Net:
    """Return the mean of all that a network was while it learnt, from batches drawn every time."""
    drawn = [batches() for _ in range(epochs)]
    mean = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(SLOW))
    steer = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    pace = torch.optim.lr_scheduler.OneCycleLR(steer, RATE, total_steps=sum(map(len, drawn)))
    for epoch, each in enumerate(drawn, 1):
        net.train()
        for some in each:
            steer.zero_grad()
            loss(some).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            steer.step()
            pace.step()
            mean.update_parameters(net)
        print(f"{epoch} of {epochs}", flush=True)
    best: _Net = mean.module.eval()
    return best


_learnt: dict[str, Task] = {}
"""What is learnt: the processes that learn have it from the one that read it."""
_new: list[str] = []
"""Writers whose lines are learnt beside twice as many of all."""


def trained(seed: int) -> dict[str, Any]:
    """Return the weights of a network trained from a start of its own."""
    torch.set_num_threads(1)
    start = stored(seed) if len(_learnt) < len(TASKS) else {}
    found = {**start, **train(_learnt, seed, start).state_dict()}
    return {key: value.numpy() for key, value in found.items()}


def read(row: Row) -> Row:
    """Return a row with what its words look like."""
    row.words = words_of(row.text)
    if row.words:
        row.features = encoded([row.words]).astype(np.float16)
        row.spelt = np.array([spellings(word.text) for word in row.words])
    return row


def stored(member: int) -> dict[str, Tensor]:
    """Return the weights of a network as they ship."""
    with np.load(WEIGHTS) as file:
        return {
            key.removeprefix(f"{member}."): torch.from_numpy(
                file[key].astype(np.float32) * np.float32(file[f"s_{key}"])
            )
            for key in file.files
            if key.startswith(f"{member}.")
        }


def batched(rows: Sequence[Row], shuffle: Callable[[list[Row]], None]) -> Iterator[list[Row]]:
    """Yield rows in batches of about the same length."""
    rows = list(rows)
    shuffle(rows)
    alike = [
        row
        for at in range(0, len(rows), BATCH * 20)
        for row in sorted(rows[at : at + BATCH * 20], key=lambda row: len(row.words))
    ]
    yield from (alike[at : at + BATCH] for at in range(0, len(alike), BATCH))


def save(nets: Sequence[dict[str, Any]], tasks: dict[str, Task], path: Path) -> None:
    """Write networks' weights as signed bytes, with what they were learnt from."""
    rows = [row for task in tasks.values() for row in task.rows]
    said = "\n".join(sorted(f"{row.text} {row.labels}" for row in rows))
    digest = hashlib.sha256(said.encode()).hexdigest()[:16]
    heads = {name: task.heads for name, task in tasks.items()}
    if len(tasks) < len(TASKS):
        with np.load(WEIGHTS) as file:
            heads = {**json.loads(str(file["about"]))["heads"], **heads}
    about = {"heads": heads, "version": 3, "members": len(nets), "rows": len(rows), "data": digest}
    write(nets, about, path)


def write(nets: Sequence[dict[str, Any]], about: dict[str, Any], path: Path) -> None:
    """Write networks' weights as signed bytes, a scale for each array."""
    held: dict[str, Any] = {"about": json.dumps(about)}
    for at, net in enumerate(nets):
        for key, value in net.items():
            if key.startswith(("parts.facts.t1", "parts.facts.tag")):
                continue  # `train_marks.py` learns which words tell a fact
            scale = float(np.abs(value).max()) / 127 or 1.0
            held[f"{at}.{key}"] = np.round(value / scale).astype(np.int8)
            held[f"s_{at}.{key}"] = np.float32(scale)
    np.savez_compressed(path, **held)


def main() -> None:
    """Train the network; measured on writers held out, or written for the package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", default="", help="files to leave out: asked_d,asked_e")
    parser.add_argument("--out", type=Path, default=WEIGHTS, help="file of the weights")
    parser.add_argument("--only", default="", help="tasks to learn anew: asks,secrets,facts")
    parser.add_argument("--new", default="", help="with --only: these files, and a sample of all")
    given = parser.parse_args()
    torch.set_num_threads(1)
    _new.extend(filter(None, given.new.split(",")))
    tasks = _learnt
    for name in given.only.split(",") if given.only else TASKS:
        task = TASKS[name]()
        rows = [row for row in task.rows if row.writer not in given.held_out.split(",")]
        if _new:
            new = [row for row in rows if row.writer in _new]
            rows = new + random.Random(5).sample(rows, min(len(rows), 2 * len(new)))
        with multiprocessing.get_context("fork").Pool(MEMBERS) as pool:
            rows = pool.map(read, rows, chunksize=500)
        print(f"{name}: {len(rows)} of {len(task.rows)} lines.", flush=True)
        tasks[name] = replace(task, rows=rows)
    with multiprocessing.get_context("fork").Pool(MEMBERS) as pool:
        nets = pool.map(trained, range(MEMBERS))
    save(nets, tasks, given.out)


if __name__ == "__main__":
    main()

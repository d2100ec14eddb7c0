"""What each feature is, in words: for the page in the docs, for `--explain`, and for checks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from vaultmind.types import Reason

Family = Literal[
    "words", "title", "beside", "whole", "speaker", "answer", "time", "written", "links", "kind",
    "meaning", "meaning_beside", "meaning_whole",
]  # fmt: skip

WHY: dict[Family, str] = {
    "words": "it has words of the question",
    "title": "its title, headings or tags name the subject",
    "beside": "it and what stands beside it have words of the question",
    "whole": "its note or session is about the subject",
    "speaker": "the question names who said it",
    "answer": "it answers rather than asks",
    "time": "it names a time or a number, as the question wants",
    "written": "it is as long as answers mostly are",
    "links": "other notes link to it, or it to others",
    "kind": "it is of a kind that answers such questions: a note, a fact, a message",
    "meaning": "it means something close to the question",
    "meaning_beside": "what stands beside it means something close to the question",
    "meaning_whole": "its note or session means something close to the question",
}
"""What a person is told of each family of features."""
WHY_OF_A_FILE: dict[str, str] = {
    "title": "its name, headings or definitions name the subject",
    "whole": "its file is about the subject",
    "links": "other files link to it, or it to others",
    "kind": "it is of a kind that answers such questions",
    "meaning_whole": "its file means something close to the question",
}
"""What is told instead of a file in a linked folder, which has no notes and no sessions."""


def of_a_file(reason: Reason) -> Reason:
    """Return a reason in the words for a file of a linked folder."""
    return replace(reason, words=WHY_OF_A_FILE.get(reason.family, reason.words))


@dataclass(frozen=True, slots=True)
class Feature:
    """What a number is; from 0 to 1 unless `least` says otherwise."""

    family: Family
    about: str
    least: float = 0.0

    @property
    def is_meaning(self) -> bool:
        """Tell whether it is known only where there are vectors."""
        return self.family.startswith("meaning")


FEATURES: dict[str, Feature] = {
    "bm25": Feature("words", "BM25 of the chunk, as a share of the best in sight"),
    "bm25_rank": Feature("words", "its rank by BM25: 1 for the first, .63, .5, ...; 0 unmatched"),
    "topic": Feature("words", "BM25 without the names of those who speak, as a share of the best"),
    "topic_rank": Feature("words", "its rank by the same"),
    "coverage": Feature("words", "share of the telling words it holds, each by its rarity"),
    "subject": Feature("words", "the same without speakers' names, its title counting as well"),
    "rarest": Feature("words", "whether it holds the rarest word"),
    "near": Feature("words", "share of the query's pairs of words that stand close in it"),
    "exact": Feature("words", "share of the query that is an identifier it has to the letter"),
    "title": Feature(
        "title", "share of the telling words in its title, headings, tags and folders"
    ),
    "topic_before": Feature("beside", "`topic` of the chunk before it"),
    "topic_after": Feature("beside", "`topic` of the chunk after it"),
    "topic_two_away": Feature("beside", "the better `topic` of those two places away"),
    "subject_around": Feature("beside", "`subject` of it and both neighbours together"),
    "subject_around_two": Feature("beside", "the same with two neighbours on each side"),
    "answers_topic": Feature("beside", "`topic` of the chunk before it if that asks something"),
    "whole_best": Feature("whole", "best `topic` in its note or session"),
    "whole_top3": Feature("whole", "mean of the best three `topic`s there"),
    "whole_subject": Feature("whole", "share of the telling words there"),
    "best_of_whole": Feature("whole", "whether it is the best of its note or session"),
    "speaker": Feature("speaker", "1: the query names who said it; -1: somebody else here", -1.0),
    "mentioned": Feature("speaker", "whether it holds the name of a speaker that the query names"),
    "first_person": Feature("speaker", "whether somebody speaks of themselves"),
    "asks": Feature("answer", "whether it ends with a question"),
    "says_time": Feature("time", "whether it names a time, if the query asks when"),
    "says_number": Feature("time", "whether it has a number, if the query asks how many"),
    "when": Feature("time", "how near its time is to the one that the query names"),
    "recent": Feature("time", "1 for the latest in sight, 0 for the first, .5 without a time"),
    "length": Feature(
        "written", "logarithm of its length, 1 from 2,000 letters on; 0 of a message"
    ),
    "message_length": Feature("written", "the same of a message; 0 of anything else"),
    "start": Feature("written", "whether nothing stands before it in its file"),
    "foreign": Feature("kind", "whether it is in another language than the query"),
    "note": Feature("kind", "whether it is of the user's own notes"),
    "message": Feature("kind", "whether it is a message"),
    "fact": Feature("kind", "whether it is a fact of the brain"),
    "summary": Feature("kind", "whether it is of a summary"),
    "links_in": Feature("links", "logarithm of the files that link to its note; 1 from 30 on"),
    "links_out": Feature("links", "logarithm of the links in its note; 1 from 30 on"),
    "meaning": Feature("meaning", "closeness to the query on the embedder's scale"),
    "meaning_of_best": Feature("meaning", "closeness between the median in sight and the best"),
    "meaning_rank": Feature("meaning", "its rank by closeness"),
    "meaning_feedback": Feature("meaning", "closeness to the three closest together"),
    "meaning_subject": Feature("meaning", "`meaning` times `subject`"),
    "meaning_speaker": Feature("meaning", "`meaning` times `speaker`", -1.0),
    "meaning_foreign": Feature("meaning", "`meaning` of a chunk in another language"),
    "no_vector": Feature("meaning", "whether it has no vector: the shortest messages"),
    "meaning_before": Feature("meaning_beside", "`meaning` of the chunk before it"),
    "meaning_after": Feature("meaning_beside", "`meaning` of the chunk after it"),
    "meaning_around": Feature("meaning_beside", "mean of its own and both neighbours'"),
    "meaning_two_away": Feature("meaning_beside", "the better of those two places away"),
    "meaning_whole_best": Feature("meaning_whole", "best `meaning` in its note or session"),
    "meaning_whole_top3": Feature("meaning_whole", "mean of the best three there"),
}
"""Every feature by name, in the order of the models' files."""

ALL = frozenset(FEATURES)
WITHOUT_MEANING = frozenset(name for name, one in FEATURES.items() if not one.is_meaning)

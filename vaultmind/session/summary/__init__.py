"""The sliding summary of a running conversation, and what is left of one that ended."""

from vaultmind.session.summary.closing import active_context, is_slight
from vaultmind.session.summary.due import Window, due, unfolded
from vaultmind.session.summary.file import render_rolling, rewritten
from vaultmind.session.summary.fold import fold
from vaultmind.session.summary.parsing import parse_rolling
from vaultmind.session.summary.rolling import KINDS, Kind, Line, Rolling, TopicMark, visible
from vaultmind.session.summary.showing import fitting, shown, tokens_of
from vaultmind.session.summary.standing import astray, without
from vaultmind.session.summary.told import Told, ToldLine
from vaultmind.session.summary.unkept import keeping, keeps_out, unkept

__all__ = [
    "KINDS",
    "Kind",
    "Line",
    "Rolling",
    "Told",
    "ToldLine",
    "TopicMark",
    "Window",
    "active_context",
    "astray",
    "due",
    "fitting",
    "fold",
    "is_slight",
    "keeping",
    "keeps_out",
    "parse_rolling",
    "render_rolling",
    "rewritten",
    "shown",
    "tokens_of",
    "unfolded",
    "unkept",
    "visible",
    "without",
]

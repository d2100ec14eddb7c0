"""The composition root: builds every adapter and wires it; nothing else does."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmind import overview
from vaultmind.config import Config, device_name
from vaultmind.consolidate.extract import in_own_words
from vaultmind.consolidate.types import Resources
from vaultmind.consolidate.worker import Consolidation
from vaultmind.episodes.files import EpisodeFiles
from vaultmind.episodes.forgetting import EPISODES, EpisodesErasing, episodes_said
from vaultmind.episodes.gains import Figures, figures_of, works
from vaultmind.episodes.recorder import Episodes
from vaultmind.errors import VaultMindError
from vaultmind.index.embed import open_embedder
from vaultmind.index.folder import VaultFolder
from vaultmind.index.index import Index
from vaultmind.index.outlet import Outlet
from vaultmind.language.reader import Reader
from vaultmind.learn.feedback import FEEDBACK, SearchFeedback
from vaultmind.learn.learning import Learning
from vaultmind.memory.forget.erasing import ERASABLES
from vaultmind.memory.forget.hiding import Tombstones
from vaultmind.memory.gate import Gate, GateSettings
from vaultmind.memory.rights import Authority, grants_file
from vaultmind.memory.wording import begun, default_identity, page, shipped
from vaultmind.minion.choice import Minion
from vaultmind.planner.episodes import open_watching
from vaultmind.planner.sources import Sources, described, folder_indexes
from vaultmind.polling import Polling, look_once, when_changed
from vaultmind.ports import Clock, Embedder
from vaultmind.redact import use_patterns
from vaultmind.session import files, subagents
from vaultmind.session.capture import Capture
from vaultmind.session.context import START, ContextBuilder
from vaultmind.session.conversation import Conversations
from vaultmind.session.log import SessionLog
from vaultmind.session.parts import PART_NAMES, BuildRequest, BuiltContext
from vaultmind.session.recall import Recall
from vaultmind.session.voice import Voice
from vaultmind.tally import Tally
from vaultmind.types import Caller, Hit, Kind, SearchRequest
from vaultmind.vault.files import VaultReader
from vaultmind.vault.paths import VaultPaths, agent_name

if TYPE_CHECKING:
    from vaultmind.consolidate.levels import Levels
    from vaultmind.consolidate.model import Thinker
    from vaultmind.consolidate.settle import Reported
    from vaultmind.episodes.store import Tables
    from vaultmind.episodes.watch import Watching
    from vaultmind.planner.plan import Planner


GAIN_DAYS = 30
"""Days of which it is told what plans saved, where nobody names a time."""
log = logging.getLogger(__name__)


def local_now() -> datetime:
    """Return the present in the person's time zone."""
    return datetime.now().astimezone()


class App:
    """Everything VaultMind does with one vault, as calls. One per vault at a time."""

    def __init__(
        self,
        config: Config,
        clock: Clock,
        embedder: Embedder | None,
        minion: Minion | None = None,
    ) -> None:
        config.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.config = config
        self.minion = minion or Minion(config.minion, config.state_dir, clock=clock)
        """The models, none of which is opened before it is needed."""
        self._models = ExitStack()
        self.operated = Tally()
        """How often each operation was asked for, and what came of it."""
        self.clock = clock
        self.paths = VaultPaths(config.vault, config.memory_dir)
        self.reader = VaultReader(self.paths, config.index.max_file_bytes)
        self.tombstones = Tombstones(self.paths)
        level = config.memory.autonomy
        self.authority = Authority(self.reader, grants_file(config.state_dir), level)
        self.noticing = Polling("identities", self.authority.notice)
        folder = VaultFolder(self.paths, config.index.exclude, config.index.max_file_bytes)
        outlet, named = Outlet(folder, self.tombstones, self.authority), config.index.embedder
        lend = cache(lambda: embedder or self._embedder_named(named))
        self.index = Index(config, outlet, clock=clock, embedder=lend, describe=described)
        opens = folder_indexes(config, outlet, lend, clock)
        self.sources = Sources(config, self.index, opens, clock)
        """The vault and the folders linked to it, for those that plan over them."""
        use_patterns(config.redact.patterns)
        self._started, self._tends = False, True
        self._device_name = device_name(config.state_dir)
        self._open_gate()
        self.episodes = Episodes(config, self.gate, self.reader, clock, self._device_name)
        """What agents do for tasks."""
        self.erasing = EpisodesErasing(self.index.erasing, self.episodes, lambda: self.watching)
        self.watching: Watching = open_watching(self.episodes, self.sources, clock)
        self._open_talks()
        self._open_outlets()
        most, idle = config.extraction.max_facts, self.sessions.end_idle
        self.consolidation = Consolidation(
            self._resources(), lambda: (self.thinker, self.levels), config.consolidation, most, idle
        )

    def _open_gate(self) -> None:
        """Open the one way in which memory is changed."""
        config = self.config
        feedback = self.search_feedback = SearchFeedback(
            self.reader, self._device_name, lambda it: self.target(it, ""), self.clock,
            float(config.retention.days),
        )  # fmt: skip
        sizes = config.memory.brain_max_tokens, config.memory.brain_target_tokens
        settings = GateSettings(
            self._device_name,
            caution=config.memory.caution,
            sizes=sizes,
            state_dir=config.state_dir,
            notes=config.notes.folder,
            erasables=(*ERASABLES, *EPISODES, FEEDBACK),
        )
        notes = EpisodeFiles(self.paths, self.reader)
        kinds = (
            partial(files.messages_said, self.index.erasing),
            partial(files.summaries, self.paths),
            partial(subagents.runs_said, self.paths),
            feedback.said,
            partial(episodes_said, notes, lambda: self.watching),
        )
        self.gate = Gate(self.paths, settings, kinds, self.index, self.authority, self.clock)
        feedback.gate = self.gate
        self.learning = Learning(self.gate, self.reader, self.index, feedback, self.clock, config)
        self.following = Polling(
            "suggestions",
            when_changed(
                lambda: self.reader.stat(self.paths.suggestions),
                self.gate.queue.settle,
                lambda: bool(self.gate.queue.due()),
            ),
        )

        self._overlooked: object = None
        self.overlooking = Polling("overview", self._overlook, overview.SECONDS)

    def _open_talks(self) -> None:
        """Open what writes conversations down and follows them as they grow."""
        idle, listeners = self.config.session.idle_minutes, (self._ended, self._grew)
        self.sessions = SessionLog(self.gate, self.reader, self.clock, idle, *listeners)
        self.sessions.own = in_own_words
        self.talks = Conversations(self.sessions, self.gate, self.config)
        self.capture = Capture(self.sessions)

    def _open_outlets(self) -> None:
        """Open what hears requests and gives back what is known."""
        config = self.config
        self.words = Reader(config.vault / config.memory_dir, self.paths.agent_names)
        shows = self.index.outlet.shows
        self.voice = Voice(self.words, self.sessions, shows, self._near)
        recall = Recall(self.index.search, self.index.relations)
        self.builder = ContextBuilder(shows, self.talks, recall, self.index.outlet.excludes)

    def start(self, *, tends: bool = True) -> None:
        """Begin to load and to follow the vault, in the background; returns at once.

        Unless it `tends` to memory, too, nothing in the vault is written that nobody asked for.
        """
        self._started, self._tends = True, tends
        self.index.start()
        self.sources.start()
        self.noticing.start()
        self.episodes.follow(tends=tends)
        for one in (self.following, self.overlooking, self.consolidation) if tends else ():
            one.start()

    def look(self) -> None:
        """Do what was left: identities, what a crash cut short, what was ticked meanwhile."""
        looks = ((self.gate.sweep, "what was cut short"), (self.following.look, "suggestions"))
        look_once(((self.noticing.look, "identities"), *looks))

    def close(self) -> None:
        """End what is idle, finish what is being written and let go of every file."""
        self._started = False
        self.consolidation.stop()
        self.learning.close()
        self.capture.close(finish=False)
        self.minion.close()  # first of all that may wait for a model
        self.consolidation.close()
        self.watching.close()
        self.episodes.close()
        if self._tends:
            self.sessions.end_idle()
        self.talks.close(finish=False)
        self.noticing.close()
        self.following.close()
        self.overlooking.close()
        self.sources.close()
        self.index.close()
        self._models.close()

    def _embedder_named(self, name: str) -> Embedder | None:
        """Return an embedder by its configured name: one in a file lives as long as the app."""
        if not name.lower().endswith(".gguf"):
            return open_embedder(name, self.config.index.embedder_key_env)
        from vaultmind.gguf_embedder import GgufEmbedder

        embedder = GgufEmbedder(Path(name), self.config.minion, self.config.state_dir)
        self._models.callback(embedder.close)
        return embedder

    @cached_property
    def planner(self) -> Planner:
        """Plan contexts over the sources; made when it is first asked."""
        from vaultmind.planner.earlier import Earlier
        from vaultmind.planner.plan import Planner

        files, outlet = self.episodes.files, self.index.outlet

        def stands(tables: Tables, name: str) -> bool:
            """Tell whether the tables hold an episode as its note says it now."""
            return tables.holds(files, name)

        earlier = Earlier(
            lambda: self.episodes.tables, outlet, self.paths, self.clock, stands, self.config.agent
        )
        weights = self.learning.models.weights
        return Planner(self.sources, self.clock, self.minion, weights, earlier)

    @cached_property
    def thinker(self) -> Thinker:
        """Return what understands conversations, by a model or by rules."""
        from vaultmind.consolidate.model import Thinker

        return Thinker(self.minion)

    def _near(self, agent: str, words: str, caller: Caller, kind: Kind) -> Sequence[Hit]:
        """Return an agent's facts, or the notes, that are nearest to some words in meaning."""
        request = SearchRequest(words, kinds=(kind,), agent=agent, apart=kind == "fact")
        try:
            return self.index.search(request, caller).hits
        except VaultMindError as error:  # an agent without files yet; an index that is damaged
            log.debug("nothing by meaning: %s", error)
            return ()

    def _overlook(self) -> None:
        """Date what was reworded, and make Overview.md anew: where something changed, each day."""
        seen = (self.index.journal.version, self.clock().date())
        if seen != self._overlooked:
            self.gate.notice()
            language = self.authority.identity(self.config.agent).language
            overview.keep(self._resources(), lambda: self.gain(self.paths.agent_names()), language)
            self._overlooked = seen

    def gain(self, agents: Collection[str]) -> Figures:
        """Return what plans of some agents saved in the last days."""
        since = self.clock() - timedelta(days=GAIN_DAYS)
        return figures_of(works(self.episodes.tables, agents, since))

    def _grew(self, agent: str, session: str) -> None:
        self.talks.heard(agent, session)

    def _ended(self, agent: str, session: str) -> None:
        self.consolidation.start()

    @cached_property
    def levels(self) -> Levels:
        """Return what makes summaries of several sessions."""
        from vaultmind.consolidate.levels import Levels

        return Levels(self._resources(), self.thinker.summarise, self.config.levels)

    def _resources(self) -> Resources:
        return Resources(
            self.gate,
            self.reader,
            self.tombstones.hides,
            self.sessions.heads,
            self.clock,
            self._device_name,
        )

    @cached_property
    def reported(self) -> Reported:
        """Return what takes an agent's own recap and facts, made when the first one comes."""
        from vaultmind.consolidate.settle import Reported

        return Reported(self._resources(), self.config.extraction.max_facts)

    @property
    def device(self) -> str:
        """Return what this device is called in sessions, summaries and file names."""
        return self._device_name

    def target(self, caller: Caller, agent: str) -> str:
        """Return whose memory is meant: the agent named, the caller's own, the configured."""
        return agent_name(agent or caller.agent or self.config.agent)

    def init(self, agent: str, language: str, caller: Caller) -> tuple[str, ...]:
        """Make what is missing of the memory folder; return the files that were made."""
        identity = default_identity(agent, language, self.config.memory.autonomy)
        home = self.paths.memory_dir
        files = {
            f"{home}/README.md": page("README", language),
            self.paths.suggestions: begun(language),
            self.paths.overview: f"{overview.BEGIN}\n{overview.END}\n",
            f"{home}/Memory.base": shipped("Memory.base").replace("VaultMind/", f"{home}/"),
            self.paths.identity(agent): identity,
        }
        missing = [path for path in files if not self.reader.exists(path)]
        for path in missing:
            self.gate.save(path, lambda _, text=files[path]: text, caller, "init")  # type: ignore[misc]
        self.overlooking.look()
        return tuple(missing)

    def add_snippet(self) -> tuple[str, ...]:
        """Add our style for conversations to Obsidian's snippets; a file that is there stays."""
        path = ".obsidian/snippets/vaultmind.css"
        file = self.config.vault / path
        if file.exists():
            return ()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(shipped("vaultmind.css"), "utf-8")
        return (path,)

    def start_context(
        self, agent: str, caller: Caller, reserved: int = 0, session: str = ""
    ) -> BuiltContext:
        """Return what an agent should know when a conversation begins, or its `session` goes on.

        `reserved` tokens are kept free for what a surface puts around the parts.
        """
        budget = max(1, self.config.context.start_tokens - reserved)
        others = self.sessions.recent(agent, session)  # first: it may end what was the last one
        without = frozenset({*PART_NAMES} - {*START})
        request = BuildRequest(
            agent, session, budget=budget, without=without, fresh=True, others=others, untitled=True
        )
        return self.builder.build(request, caller)


def open_app(
    config: Config,
    *,
    clock: Clock = local_now,
    embedder: Embedder | None = None,
    minion: Minion | None = None,
) -> App:
    """Return the app of a vault, not yet started. The caller holds the vault's lock.

    What the person ticked in Suggestions.md meanwhile is done before it can be asked anything.
    `embedder` and `minion` replace the configured ones. Raises IndexUnavailable, ConfigError.
    """
    app = App(config, clock, embedder, minion)
    app.look()
    return app

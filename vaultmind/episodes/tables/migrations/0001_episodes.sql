-- Episodes and what was done in them, as their notes say. Times are whole seconds since 1970.

-- What tells that a note may have changed, in the order of tables.Stamp. A note that cannot be
-- read has its reason here, and no episode.
CREATE TABLE notes (
    episode TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    sha TEXT NOT NULL,
    fault TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE episodes (
    id INTEGER PRIMARY KEY,
    episode TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    source TEXT NOT NULL,
    session_id TEXT NOT NULL,
    client TEXT NOT NULL,
    device TEXT NOT NULL,
    task_text TEXT NOT NULL,
    task_fingerprint TEXT NOT NULL,
    query_type TEXT NOT NULL,
    risk TEXT NOT NULL,
    issues TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    state TEXT NOT NULL,
    outcome TEXT NOT NULL,
    rationale TEXT NOT NULL,
    token_budget INTEGER NOT NULL,
    token_used INTEGER NOT NULL,
    latency_ms INTEGER NOT NULL,
    events INTEGER NOT NULL,
    reads INTEGER NOT NULL,
    edits INTEGER NOT NULL,
    decisions INTEGER NOT NULL
);
CREATE INDEX idx_episodes_project_time ON episodes (source, started_at DESC);
CREATE INDEX idx_episodes_time ON episodes (started_at DESC);
CREATE INDEX idx_episodes_fingerprint ON episodes (task_fingerprint);

CREATE TABLE episode_events (
    id INTEGER PRIMARY KEY,
    episode_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    event_type TEXT NOT NULL,
    file_path TEXT NOT NULL,
    symbol TEXT NOT NULL,
    payload_json TEXT NOT NULL,
    timestamp INTEGER NOT NULL
);
CREATE UNIQUE INDEX idx_episode_events_order ON episode_events (episode_id, ordinal);
CREATE INDEX idx_episode_events_session ON episode_events (episode_id, timestamp);

-- A row a file of an episode: what affinity is counted from.
CREATE TABLE episode_files (
    episode_id INTEGER NOT NULL,
    file_path TEXT NOT NULL,
    reads INTEGER NOT NULL,
    edits INTEGER NOT NULL,
    hits INTEGER NOT NULL,
    change_kind TEXT NOT NULL,
    committed INTEGER NOT NULL,
    causal REAL NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (episode_id, file_path)
) WITHOUT ROWID;

-- `tasks` grows whenever the task of an episode that is over becomes another: those who keep them
-- in memory ask for it.
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counters VALUES ('tasks', 0);

-- What episodes' notes say. Times are whole seconds since 1970, ISO where they are told again.
CREATE TABLE notes (
    episode TEXT PRIMARY KEY,  -- agent/id
    stamp TEXT NOT NULL,       -- differs once the note, or what was offered in it, may have changed
    fault TEXT NOT NULL        -- why it cannot be read, or not be relied on
);
CREATE TABLE episodes (
    episode TEXT PRIMARY KEY, agent TEXT, source TEXT, session_id TEXT, device TEXT,
    task_text TEXT, task_fingerprint TEXT, query_type TEXT, started_at INTEGER, ended_at INTEGER,
    state TEXT, outcome TEXT, flaw TEXT,
    token_budget INTEGER, token_used INTEGER, latency_ms INTEGER,
    rest_json TEXT             -- all of it but the events, as it is told again
);
CREATE INDEX idx_episodes_project_time ON episodes (source, started_at DESC);
CREATE INDEX idx_episodes_state ON episodes (state, agent);
CREATE INDEX idx_episodes_session ON episodes (session_id);
CREATE TABLE episode_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT, episode TEXT, event_type TEXT, file_path TEXT,
    symbol TEXT, payload_json TEXT, timestamp INTEGER
);
CREATE INDEX idx_episode_events_session ON episode_events (episode, timestamp);
CREATE TABLE causal_links (
    id INTEGER PRIMARY KEY AUTOINCREMENT, episode TEXT, source TEXT, issue_ref TEXT,
    commit_sha TEXT, change_path TEXT, change_kind TEXT, rationale TEXT, confidence REAL,
    timestamp INTEGER
);
CREATE INDEX idx_causal_episode ON causal_links (episode);
CREATE INDEX idx_causal_commit ON causal_links (commit_sha);
CREATE INDEX idx_causal_issue ON causal_links (source, issue_ref);
CREATE TABLE offers (id INTEGER PRIMARY KEY, episode TEXT, offer_json TEXT);
CREATE INDEX idx_offers_episode ON offers (episode);
-- What was done for tasks of one fingerprint. An edit counts for more than a read.
CREATE VIEW task_file_affinity AS
SELECT task_fingerprint, file_path, sum(read) AS reads, sum(edited) AS edits,
    sum(edited AND outcome = 'success') AS success_edits, max(last_at) AS last_seen,
    round(sum(worth) / (sum(worth) + 0.5), 4) AS weight
FROM (
    SELECT task_fingerprint, file_path, outcome, max(event_type = 'read') AS read,
        max(event_type != 'read') AS edited, max(timestamp) AS last_at,
        CASE WHEN max(event_type != 'read') = 0 THEN 0.3
             WHEN outcome = 'success' THEN 1.0 ELSE 0.3 END AS worth
    FROM episodes JOIN episode_events USING (episode)
    WHERE state != 'running' AND task_fingerprint != '' AND file_path != ''
        AND event_type IN ('read', 'edit', 'delta', 'commit')
    GROUP BY episode, file_path
)
GROUP BY task_fingerprint, file_path;

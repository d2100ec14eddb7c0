-- What episodes' notes say. Times are whole seconds since 1970.
CREATE TABLE episodes (
    episode TEXT PRIMARY KEY,  -- agent/id
    stamp TEXT NOT NULL,       -- differs once the note, or what was offered in it, may have changed
    fault TEXT NOT NULL,       -- why it cannot be read, or not be relied on
    episode_json TEXT,         -- all of the note; NULL for one that cannot be read
    links_json TEXT, offers_json TEXT,
    agent TEXT AS (episode_json ->> 'agent'), source TEXT AS (episode_json ->> 'source'),
    session_id TEXT AS (episode_json ->> 'session'), device TEXT AS (episode_json ->> 'device'),
    state TEXT AS (episode_json ->> 'state'), outcome TEXT AS (episode_json ->> 'outcome'),
    task_text TEXT AS (episode_json ->> '$.task.text'),
    query_type TEXT AS (episode_json ->> '$.task.kind'),
    task_fingerprint TEXT AS (episode_json ->> '$.task.fingerprint'),
    started_at INTEGER AS (unixepoch(episode_json ->> 'started')) STORED,
    ended_at INTEGER AS (unixepoch(episode_json ->> 'ended')) STORED
);
CREATE INDEX idx_episodes_project_time ON episodes (source, started_at DESC);
CREATE INDEX idx_episodes_state ON episodes (state, agent);
CREATE VIEW episode_events AS
SELECT episode, one.key AS id, one.value ->> 'kind' AS event_type, one.value ->> 'path' AS file_path,
    one.value ->> 'symbol' AS symbol, one.value AS payload_json,
    unixepoch(one.value ->> 'time') AS timestamp
FROM episodes, json_each(episode_json, '$.events') AS one;
CREATE VIEW causal_links AS
SELECT episode, source, one.value ->> 'issue' AS issue_ref, one.value ->> 'commit' AS commit_sha,
    one.value ->> 'path' AS change_path, one.value ->> 'change' AS change_kind,
    one.value ->> 'rationale' AS rationale, one.value ->> 'confidence' AS confidence,
    unixepoch(one.value ->> 'time') AS timestamp
FROM episodes, json_each(links_json) AS one;
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

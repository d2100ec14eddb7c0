-- What was done for tasks of one fingerprint, kept up to date as episodes end.
CREATE TABLE task_file_affinity (
    task_fingerprint TEXT NOT NULL,
    file_path TEXT NOT NULL,
    reads INTEGER NOT NULL DEFAULT 0,
    edits INTEGER NOT NULL DEFAULT 0,
    success_edits INTEGER NOT NULL DEFAULT 0,
    last_seen INTEGER NOT NULL,
    weight REAL NOT NULL DEFAULT 0.0,
    PRIMARY KEY (task_fingerprint, file_path)
) WITHOUT ROWID;
CREATE INDEX idx_affinity_task_weight ON task_file_affinity (task_fingerprint, weight DESC);

CREATE TABLE causal_links (
    id INTEGER PRIMARY KEY,
    episode_id INTEGER NOT NULL,
    source TEXT NOT NULL,
    issue_ref TEXT NOT NULL,
    commit_sha TEXT NOT NULL,
    change_path TEXT NOT NULL,
    change_kind TEXT NOT NULL,
    rationale TEXT NOT NULL,
    block TEXT NOT NULL,
    confidence REAL NOT NULL,
    timestamp INTEGER NOT NULL
);
CREATE INDEX idx_causal_episode ON causal_links (episode_id);
CREATE INDEX idx_causal_commit ON causal_links (commit_sha);
CREATE INDEX idx_causal_issue ON causal_links (source, issue_ref);

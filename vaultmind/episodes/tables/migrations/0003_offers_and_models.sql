-- What plans offered: what reports are made of. Of the features only the affinity is kept here;
-- all of them stay in the files beside the notes.
CREATE TABLE offers (
    id INTEGER PRIMARY KEY,
    episode_id INTEGER NOT NULL,
    timestamp INTEGER NOT NULL,
    task_fingerprint TEXT NOT NULL,
    weights TEXT NOT NULL,
    chosen_json TEXT NOT NULL,
    affinity_json TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    whole_tokens INTEGER NOT NULL,
    took_ms REAL NOT NULL,
    rerank TEXT NOT NULL,
    cache TEXT NOT NULL
);
CREATE INDEX idx_offers_episode ON offers (episode_id);
CREATE INDEX idx_offers_time ON offers (timestamp DESC);

CREATE TABLE model_registry (
    model_id TEXT PRIMARY KEY,
    model_kind TEXT NOT NULL,
    version TEXT NOT NULL,
    params_json TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    active INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE UNIQUE INDEX idx_models_active ON model_registry (model_kind) WHERE active = 1;

-- A row a file and a row a chunk, whose rowid always has the same text and tokens; `chunks.tags` is ` a/b c ` (a space around each), `tokens` see
-- `sync.tokens_of`, `flags` see `asking.flags_of`, `embeds` is 1 for a chunk that gets a vector, `cost` how many tokens of a model its text is.
-- `files.name` is what links call it, `records` holds what plans know of a note's or code's file, as JSON. `embeddings` caches vectors (float32) by the hash of their text; `ties` see `sync._ties`.
CREATE TABLE files (
    path TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, agent TEXT NOT NULL,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, size INTEGER NOT NULL,
    sha TEXT NOT NULL, lang TEXT NOT NULL, fault TEXT NOT NULL, severity TEXT NOT NULL,
    links INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE records (path TEXT PRIMARY KEY, record BLOB NOT NULL);
CREATE INDEX files_by_name ON files (name);
CREATE TABLE chunks (
    rowid INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL,
    kind TEXT NOT NULL, agent TEXT NOT NULL, anchor TEXT NOT NULL, title TEXT NOT NULL,
    text TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, lang TEXT NOT NULL,
    tags TEXT NOT NULL, time TEXT NOT NULL, session TEXT NOT NULL, message TEXT NOT NULL,
    speaker TEXT NOT NULL, role TEXT NOT NULL, ordinal INTEGER NOT NULL, block TEXT NOT NULL,
    text_hash BLOB NOT NULL, embeds INTEGER NOT NULL, flags INTEGER NOT NULL,
    letters INTEGER NOT NULL, cost INTEGER NOT NULL, tokens TEXT NOT NULL
);
CREATE INDEX chunks_by_path ON chunks (path, ordinal);
CREATE INDEX chunks_by_hash ON chunks (text_hash);
CREATE TABLE embeddings (
    text_hash BLOB NOT NULL, embedder TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (text_hash, embedder)
) WITHOUT ROWID;
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ties (
    rowid INTEGER PRIMARY KEY, path TEXT NOT NULL, kind TEXT NOT NULL,
    name TEXT NOT NULL, target TEXT NOT NULL, anchor TEXT NOT NULL, chunk TEXT NOT NULL
);
CREATE INDEX ties_by_path ON ties (path);
CREATE INDEX ties_by_name ON ties (name, kind);

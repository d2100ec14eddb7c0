-- Who keeps in memory what episodes that are over did with files asks which have changed since:
-- those with a greater number than `uses` had then. Once one was dropped, `dropped` is another.
ALTER TABLE episodes ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX idx_episodes_changed ON episodes (changed);
INSERT INTO counters VALUES ('uses', 0), ('dropped', 0);

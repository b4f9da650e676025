-- Managing the collection: which seeds are wanted, which command ran a cycle, what a person had deleted.

-- Since when the operator does not want the seed any more, or not for now.
ALTER TABLE seed ADD COLUMN removed_at INTEGER;
ALTER TABLE seed ADD COLUMN paused_at INTEGER;
-- A seeds file named it. Else the operator asked for this page alone.
ALTER TABLE seed ADD COLUMN in_file INTEGER NOT NULL DEFAULT 1;

-- The command that began the cycle: crawl, monitor or only. Nothing: an earlier release, which did not say.
ALTER TABLE cycle ADD COLUMN command TEXT;

-- What a person had deleted, without names: the one exception to the log being append-only. The last numbers that pages,
-- versions and observations had then: none is given a second time.
CREATE TABLE forgotten (
    id               INTEGER PRIMARY KEY,
    at               INTEGER NOT NULL,
    pages            INTEGER NOT NULL,
    observations     INTEGER NOT NULL,
    versions         INTEGER NOT NULL,
    last_page        INTEGER NOT NULL,
    last_version     INTEGER NOT NULL,
    last_observation INTEGER NOT NULL
) STRICT;

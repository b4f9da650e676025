-- Counts that are kept beside the rows they count, in the same transaction, so that looking at a store takes no pass over its pages,
-- versions or visits. All of them can be made again from the rows. Each has the host in its key where there is one: a store that is
-- spread over several machines by host keeps the counts of a host where its pages are, and two writers never share a row.

-- Pages by host, seed, and state; the outcome is that of the last visit, empty if there was none.
CREATE TABLE page_count (
    host_id  INTEGER NOT NULL,
    seed_id  INTEGER NOT NULL,
    is_alias INTEGER NOT NULL,
    state    TEXT    NOT NULL,
    outcome  TEXT    NOT NULL,
    pages    INTEGER NOT NULL,
    -- those that have a last visit, and those of which something was ever brought
    visited  INTEGER NOT NULL,
    seen     INTEGER NOT NULL,
    PRIMARY KEY (host_id, seed_id, is_alias, state, outcome)
) STRICT, WITHOUT ROWID;

-- Pages by the cycle that they were last visited in, aliases left out.
CREATE TABLE cycle_life (
    cycle_id INTEGER NOT NULL,
    host_id  INTEGER NOT NULL,
    state    TEXT    NOT NULL,
    pages    INTEGER NOT NULL,
    PRIMARY KEY (cycle_id, host_id, state)
) STRICT, WITHOUT ROWID;

-- Pages that were found since a cycle began and before the next one did, aliases left out.
CREATE TABLE cycle_found (
    cycle_id INTEGER NOT NULL,
    host_id  INTEGER NOT NULL,
    pages    INTEGER NOT NULL,
    PRIMARY KEY (cycle_id, host_id)
) STRICT, WITHOUT ROWID;

-- The visits of a cycle.
CREATE TABLE cycle_visit (
    cycle_id INTEGER NOT NULL,
    host_id  INTEGER NOT NULL,
    outcome  TEXT    NOT NULL,
    visits   INTEGER NOT NULL,
    changed  INTEGER NOT NULL,
    bytes    INTEGER NOT NULL,
    PRIMARY KEY (cycle_id, host_id, outcome)
) STRICT, WITHOUT ROWID;

-- The visits of a day (UTC, days since 1970-01-01) by what they brought. The divergence of the visits that found a change is added up in
-- millionths: whole numbers give the same sum in every order.
CREATE TABLE day_tally (
    day          INTEGER NOT NULL,
    host_id      INTEGER NOT NULL,
    first        INTEGER NOT NULL,
    changed      INTEGER NOT NULL,
    unchanged    INTEGER NOT NULL,
    not_modified INTEGER NOT NULL,
    moved        INTEGER NOT NULL,
    gone         INTEGER NOT NULL,
    failed       INTEGER NOT NULL,
    refused      INTEGER NOT NULL,
    divergence   INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,
    PRIMARY KEY (day, host_id)
) STRICT, WITHOUT ROWID;

-- Pages of a host whose last visits name this page in their place and that are not known to have its text; those whose text is known to
-- be another one.
CREATE TABLE naming (
    page_id INTEGER NOT NULL,
    host_id INTEGER NOT NULL,
    pages   INTEGER NOT NULL,
    unlike  INTEGER NOT NULL,
    PRIMARY KEY (page_id, host_id)
) STRICT, WITHOUT ROWID;

-- Observations, gains, versions and their bytes.
CREATE TABLE total (
    name  TEXT    PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The latest visits of a host, in a compact form, and the last one that brought or confirmed anything.
CREATE TABLE host_visit (
    host_id         INTEGER PRIMARY KEY,
    last_success_at INTEGER,
    ticks           BLOB    NOT NULL
) STRICT;

-- The last visit to a page of a seed.
CREATE TABLE seed_visit (
    seed_id       INTEGER PRIMARY KEY,
    last_visit_at INTEGER NOT NULL
) STRICT;

-- Lists of pages in an order that people ask for. An index that every visit would have to write stands only for the last visit; the
-- others hold what rarely moves. `docs/performance.md` has what each costs.
CREATE INDEX page_host ON page (host_id);
CREATE INDEX page_found ON page (found_at);
CREATE INDEX page_last_visit ON page (last_visit_at DESC) WHERE last_visit_at IS NOT NULL;
CREATE INDEX page_changes ON page (changes DESC) WHERE changes > 0;
CREATE INDEX page_failures ON page (failures DESC) WHERE failures > 0;
CREATE INDEX page_due ON page (due_at) WHERE due_at > 0;
CREATE INDEX page_state ON page (state) WHERE state <> 'new' AND state <> 'alive';

-- Length of the stored body, which lists are ordered by: versions lie far apart.
ALTER TABLE page ADD COLUMN body_bytes INTEGER;
UPDATE page SET body_bytes = (SELECT body_bytes FROM version WHERE version.id = version_id) WHERE version_id IS NOT NULL;

-- The last page that was found before the cycle began.
ALTER TABLE cycle ADD COLUMN last_page INTEGER NOT NULL DEFAULT 0;
UPDATE cycle SET last_page = coalesce(
    (SELECT id FROM page WHERE found_at < cycle.started_at ORDER BY found_at DESC, id DESC LIMIT 1), 0);

-- How far the counts of an earlier release's rows have come; the program does the rest when it opens the store, and removes the note.
INSERT INTO note (name, value) VALUES ('counts-kept-to', 'pages 0');

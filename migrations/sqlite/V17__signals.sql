-- What sites and people tell of changes: signals, the lists that they come from, and how often they were right.

-- A hint that a page changed. Append-only; ids are in the order in which signals were learnt.
CREATE TABLE signal (
    id         INTEGER PRIMARY KEY,
    page_id    INTEGER NOT NULL REFERENCES page (id),
    -- sitemap, feed, hub, ping
    kind       TEXT    NOT NULL,
    -- when the page changed, as the signal says; nothing if it gives no date
    dated_at   INTEGER,
    learnt_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX signal_page ON signal (page_id, learnt_at);

CREATE TRIGGER signal_is_never_changed BEFORE UPDATE ON signal
BEGIN SELECT RAISE (ABORT, 'the log of signals is append-only'); END;
CREATE TRIGGER signal_is_never_deleted BEFORE DELETE ON signal
BEGIN SELECT RAISE (ABORT, 'the log of signals is append-only'); END;

-- The signals of the page, counted by kind, in their compact form: derived from the logs. Nothing: it never had one.
ALTER TABLE page ADD COLUMN signals BLOB;
-- The last date that a feed gave for the page.
ALTER TABLE page ADD COLUMN feed_lastmod_seconds INTEGER;

-- How often the signals of a kind were right for the pages of a host: derived from the logs.
CREATE TABLE trust (
    host_id INTEGER NOT NULL REFERENCES host (id),
    kind    TEXT    NOT NULL,
    -- the first signal; earlier visits don't count
    since   INTEGER NOT NULL,
    -- visits: told and changed, told and not changed, changed and not told, neither
    right   INTEGER NOT NULL,
    wrong   INTEGER NOT NULL,
    missed  INTEGER NOT NULL,
    quiet   INTEGER NOT NULL,
    -- right ones that gave a date, and the time from that date until we learnt of it, added up
    dated   INTEGER NOT NULL,
    late_ms INTEGER NOT NULL,
    PRIMARY KEY (host_id, kind)
) STRICT, WITHOUT ROWID;

-- A file that lists pages of a host (a sitemap or an index of sitemaps), as it was last read.
CREATE TABLE list (
    url             TEXT    PRIMARY KEY,
    -- the host whose pages it lists; it may lie on another host of the domain
    host_id         INTEGER NOT NULL REFERENCES host (id),
    -- the index that names it, and the date that the index gave for it then
    named_by        TEXT,
    listed_seconds  INTEGER,
    -- the last answer, and the last that brought the file itself
    read_at         INTEGER NOT NULL,
    fetched_at      INTEGER NOT NULL,
    -- a hash of what decided which of its links were taken, and one of its bytes
    rules           INTEGER NOT NULL,
    body_hash       BLOB    NOT NULL,
    etag            TEXT,
    last_modified   TEXT,
    is_index        INTEGER NOT NULL,
    entries         INTEGER NOT NULL,
    -- why its dates are not believed
    flaw            TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX list_host ON list (host_id);

-- Pages that somebody says have changed, until a cycle takes them over. Anybody may add to it while a crawl runs.
CREATE TABLE ping (
    url TEXT    PRIMARY KEY,
    at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The links of a page are in the order in which they stand there; those of earlier releases are sorted.
ALTER TABLE link ADD COLUMN in_order INTEGER NOT NULL DEFAULT 0;

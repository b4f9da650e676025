-- What a crawl remembers. Times are UTC milliseconds unless the name says otherwise.

CREATE TABLE seed (
    id          INTEGER PRIMARY KEY,
    fingerprint BLOB    NOT NULL UNIQUE,
    url         TEXT    NOT NULL,
    weight      REAL    NOT NULL,
    max_depth   INTEGER,
    scope       TEXT,
    -- not named by the operator: a seed redirects here
    adopted     INTEGER NOT NULL DEFAULT 0,
    added_at    INTEGER NOT NULL
) STRICT;

CREATE TABLE host (
    id            INTEGER PRIMARY KEY,
    origin        TEXT    NOT NULL UNIQUE,
    delay_ms      INTEGER,
    -- no request before this moment, and why
    not_before    INTEGER,
    waiting_for   TEXT,
    failures      INTEGER NOT NULL DEFAULT 0,
    -- cycles in a row that gave it up
    rests         INTEGER NOT NULL DEFAULT 0,
    robots_at     INTEGER,
    robots_status INTEGER,
    robots_body   BLOB,
    sitemaps_at   INTEGER
) STRICT;

-- A page: a normalised URL under watch. What stands below `due_at` is folded from its observations.
CREATE TABLE page (
    id             INTEGER PRIMARY KEY,
    fingerprint    BLOB    NOT NULL UNIQUE,
    url            TEXT    NOT NULL,
    host_id        INTEGER NOT NULL REFERENCES host (id),
    seed_id        INTEGER NOT NULL REFERENCES seed (id),
    depth          INTEGER NOT NULL,
    -- redirects that led here, and the page it was found on
    hops           INTEGER NOT NULL,
    found_on       INTEGER,
    found_at       INTEGER NOT NULL,
    weight         REAL    NOT NULL,
    sitemap_lastmod_seconds INTEGER,
    -- another spelling of this page (canonical link, permanent redirect)
    alias_of       INTEGER REFERENCES page (id),
    -- the page it redirected to when it was last visited
    redirects_to   INTEGER REFERENCES page (id),
    -- not before: a page that failed waits
    due_at         INTEGER NOT NULL DEFAULT 0,
    state          TEXT    NOT NULL DEFAULT 'new',
    last_outcome   TEXT,
    visits         INTEGER NOT NULL DEFAULT 0,
    changes        INTEGER NOT NULL DEFAULT 0,
    failures       INTEGER NOT NULL DEFAULT 0,
    last_visit_at  INTEGER,
    last_cycle_id  INTEGER,
    version_id     INTEGER REFERENCES version (id),
    -- a hash of what decided which of its links were taken when it was last read
    read_by_rules  INTEGER,
    content_type   TEXT,
    charset        TEXT,
    etag           TEXT,
    last_modified  TEXT,
    noindex        INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX page_alias ON page (alias_of) WHERE alias_of IS NOT NULL;

-- A content, held once: body and text one after the other in one zstd frame, so that the text, which the body
-- holds already, costs almost nothing.
CREATE TABLE version (
    id           INTEGER PRIMARY KEY,
    body_hash    BLOB    NOT NULL,
    -- the same bytes may be read in another way (another type, another charset)
    text_hash    BLOB    NOT NULL,
    first_seen   INTEGER NOT NULL,
    body_bytes   INTEGER NOT NULL,
    text_bytes   INTEGER NOT NULL,
    content      BLOB    NOT NULL,
    UNIQUE (body_hash, text_hash)
) STRICT;

-- The atomic fact that a visit leaves behind. Append-only.
CREATE TABLE observation (
    id         INTEGER PRIMARY KEY,
    page_id    INTEGER NOT NULL REFERENCES page (id),
    cycle_id   INTEGER NOT NULL REFERENCES cycle (id),
    at         INTEGER NOT NULL,
    outcome    TEXT    NOT NULL,
    status     INTEGER,
    changed    INTEGER,
    bytes      INTEGER NOT NULL,
    took_ms    INTEGER NOT NULL,
    version_id INTEGER REFERENCES version (id),
    detail     TEXT
) STRICT;

CREATE INDEX observation_page ON observation (page_id, at);

CREATE TRIGGER observation_is_never_changed BEFORE UPDATE ON observation
BEGIN SELECT RAISE (ABORT, 'the log of observations is append-only'); END;
CREATE TRIGGER observation_is_never_deleted BEFORE DELETE ON observation
BEGIN SELECT RAISE (ABORT, 'the log of observations is append-only'); END;

CREATE TABLE cycle (
    id         INTEGER PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    policy     TEXT    NOT NULL,
    budget     INTEGER,
    requests   INTEGER NOT NULL DEFAULT 0,
    bytes      INTEGER NOT NULL DEFAULT 0,
    fetched    INTEGER NOT NULL DEFAULT 0,
    new_pages  INTEGER NOT NULL DEFAULT 0,
    changed    INTEGER NOT NULL DEFAULT 0,
    unchanged  INTEGER NOT NULL DEFAULT 0,
    failed     INTEGER NOT NULL DEFAULT 0,
    deferred   INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What the open cycle has planned and not visited yet. A visit takes its row away as it is recorded.
CREATE TABLE plan (
    page_id  INTEGER PRIMARY KEY REFERENCES page (id),
    cycle_id INTEGER NOT NULL REFERENCES cycle (id),
    score    REAL    NOT NULL
) STRICT;

-- Links that were not taken, by reason.
CREATE TABLE refusal (
    reason TEXT    PRIMARY KEY,
    count  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

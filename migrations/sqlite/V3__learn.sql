-- What visits teach of how often pages change.

-- The last visit that brought or confirmed what is held.
ALTER TABLE page ADD COLUMN seen_at INTEGER;
UPDATE page SET seen_at =
    (SELECT max(at) FROM observation WHERE observation.page_id = page.id AND observation.version_id IS NOT NULL);
-- Pages count what the seed does that they were found from.
UPDATE page SET weight = coalesce((SELECT weight FROM seed WHERE seed.id = page.seed_id), weight);
-- What the policy learnt of the page, in its compact form, folded from the page's observations.
ALTER TABLE page ADD COLUMN learnt BLOB;

-- When the page itself said it had last changed: Last-Modified, else lastmod of the sitemap.
ALTER TABLE observation ADD COLUMN dated_at INTEGER;
-- Entries of a feed since the visit before, if none can have been missed.
ALTER TABLE observation ADD COLUMN events INTEGER;
-- Pages that were found on it and that nobody knew.
ALTER TABLE observation ADD COLUMN new_links INTEGER;

-- What is believed of pages before they were visited twice.
CREATE TABLE prior (
    kind    TEXT    NOT NULL,
    -- nothing: of all pages that no group has a prior for
    "group" INTEGER,
    first   REAL    NOT NULL,
    second  REAL    NOT NULL,
    pages   INTEGER NOT NULL
) STRICT;

-- Links from a page to pages that are known, as the high halves of their fingerprints, sorted.
CREATE TABLE link (
    page_id INTEGER PRIMARY KEY REFERENCES page (id),
    targets BLOB    NOT NULL
) STRICT;

-- Single facts: what made the memories of pages, what the priors group by.
CREATE TABLE note (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

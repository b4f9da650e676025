-- The signals that a page had at the visit, counted; NULL if it never had one.
ALTER TABLE observation ADD COLUMN signals BLOB;

-- The plans of policies that learn from all pages together: the visits behind `after_id` in the log, up to the next plan's, are
-- those that this plan led to. What they teach depends on the moment of the plan. Plans of other policies have no mean lag.
CREATE TABLE plan_moment (
    after_id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    cycle_seconds REAL NOT NULL,
    mean_lag REAL
);

-- What such a policy knows of the collection after the visits up to `upto_id`. It follows from the log and the plans.
CREATE TABLE collection_memory (
    version TEXT PRIMARY KEY,
    upto_id INTEGER NOT NULL,
    content BLOB NOT NULL
) WITHOUT ROWID;

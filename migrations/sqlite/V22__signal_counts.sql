-- Signals by host and kind, added up over the pages of the host; kept as the counts of V19 are. `unused` are those that no visit has looked
-- into.
CREATE TABLE signal_count (
    host_id INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    signals INTEGER NOT NULL,
    unused  INTEGER NOT NULL,
    PRIMARY KEY (host_id, kind)
) STRICT, WITHOUT ROWID;

-- The signals of rows that are there are counted with all other counts.
INSERT OR REPLACE INTO note (name, value) VALUES ('counts-kept-to', 'pages 0');

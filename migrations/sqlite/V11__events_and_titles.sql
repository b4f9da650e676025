-- Events of pages (new, changed, gone …), derived from the log, and titles of versions.

-- One row a visit that made an event. It can be made again from the log.
CREATE TABLE event (
    observation_id INTEGER PRIMARY KEY REFERENCES observation (id),
    at             INTEGER NOT NULL,
    kind           TEXT    NOT NULL,
    cycle_id       INTEGER NOT NULL REFERENCES cycle (id),
    host_id        INTEGER NOT NULL REFERENCES host (id)
) STRICT;
-- Lists and counts of events are read from here alone, the latest first.
CREATE INDEX event_at ON event (at, observation_id, kind, cycle_id, host_id);
-- Changes are events now.
DROP INDEX observation_changed;

-- What the page's events said of it last: failing, gone, moved. Nothing: it answers.
ALTER TABLE page ADD COLUMN condition TEXT;

-- Empty: it has none. Nothing: it was not looked for.
ALTER TABLE version ADD COLUMN title TEXT;

-- Pages up to this number have their events; the program does the rest when it opens the store, and removes the note.
INSERT INTO note (name, value) VALUES ('events-derived-to', '0');

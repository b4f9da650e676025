-- Which changes a person has read. Anybody who may write to the file may mark one while a crawl runs.

-- By the visit that found the change: events can be made again from the log, and marks stay. A change without a mark of its own was
-- read if its visit is not behind the one that the note `read-to` names.
CREATE TABLE read_mark (
    observation_id INTEGER PRIMARY KEY,
    is_read        INTEGER NOT NULL,
    at             INTEGER NOT NULL
) STRICT;

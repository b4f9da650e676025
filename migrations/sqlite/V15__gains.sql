-- What a refresh gained in search results, by one workload of queries and one way to score pages. The search index measures it when it
-- takes the new copy in. It depends on all other pages, so it can't be derived from the page's own visits again.
CREATE TABLE gain (
    page_id INTEGER NOT NULL REFERENCES page (id),
    -- The workload and the scoring.
    measure INTEGER NOT NULL,
    -- The visit that brought the copy.
    at INTEGER NOT NULL,
    delta REAL NOT NULL,
    -- It was the first copy of the page.
    is_first INTEGER NOT NULL,
    -- The words that moved most, with blanks between them.
    words TEXT NOT NULL,
    PRIMARY KEY (page_id, measure, at)
) WITHOUT ROWID;

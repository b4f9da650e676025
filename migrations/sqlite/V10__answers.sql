-- How the answers came that brought contents: headers, type, address, and the whole hash of the body.

-- SHA-256 of the body. Nothing: an earlier release stored it; its body can be hashed when that is asked for.
ALTER TABLE version ADD COLUMN sha256 BLOB;

-- The first head with a list of header names (SHA-256 of the names, cut to 128 bits): the dictionary of all that have them.
CREATE TABLE answer_model (
    id    INTEGER PRIMARY KEY,
    names BLOB NOT NULL UNIQUE,
    head  BLOB NOT NULL
) STRICT;

-- The answer that first brought a version to a page. Contents are held once and answers are not: two pages may have the same
-- bytes with other headers. Later answers with the same bytes bring a new date and little else, so they are not kept.
CREATE TABLE answer (
    page_id      INTEGER NOT NULL REFERENCES page (id) ON DELETE CASCADE,
    version_id   INTEGER NOT NULL REFERENCES version (id) ON DELETE CASCADE,
    -- when the request was sent
    at           INTEGER NOT NULL,
    -- 4 bytes or 16
    address      BLOB,
    content_type TEXT,
    model_id     INTEGER NOT NULL REFERENCES answer_model (id),
    -- status line and headers, one zstd frame with the model as its dictionary
    head         BLOB    NOT NULL,
    -- there were more headers than are kept
    cut          INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (page_id, version_id)
) STRICT, WITHOUT ROWID;

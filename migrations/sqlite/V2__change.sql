-- How far pages moved.

-- A hash of the rules that left the page's text: texts that other rules left are not compared.
ALTER TABLE page ADD COLUMN text_rules INTEGER;
-- Is what it holds something that has words? A picture is not.
ALTER TABLE page ADD COLUMN has_words INTEGER;
-- Change profiles in their compact form, folded from the page's observations.
ALTER TABLE page ADD COLUMN profiles BLOB;

-- From the version that the visit before found; nothing where there was nothing to compare.
ALTER TABLE observation ADD COLUMN divergence REAL;
-- From each base version of the page's profiles, in their compact form.
ALTER TABLE observation ADD COLUMN bases BLOB;
-- An earlier version of the page that has the same text, if the page changed back to it.
ALTER TABLE observation ADD COLUMN returned_to INTEGER REFERENCES version (id);
-- What the request asked the host to compare: etag, last-modified, or both.
ALTER TABLE observation ADD COLUMN validator TEXT;
ALTER TABLE observation ADD COLUMN text_rules INTEGER;
ALTER TABLE observation ADD COLUMN has_words INTEGER;

CREATE INDEX observation_changed ON observation (at) WHERE changed = 1;
CREATE INDEX version_text ON version (text_hash);

-- What stands for a version's fragments. It can be made again from the version's text.
CREATE TABLE sketch (
    version_id INTEGER PRIMARY KEY REFERENCES version (id),
    -- how the fragments were made: version of the scheme, words of a fragment
    scheme     INTEGER NOT NULL,
    words      INTEGER NOT NULL,
    hashes     BLOB    NOT NULL
) STRICT;

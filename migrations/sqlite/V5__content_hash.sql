-- Contents are told apart by SHA-256, cut to 128 bits, in place of xxh3-128, for which somebody could make a second content.
-- Versions up to this number are hashed in the new way; the program does the rest when it opens the store, and removes the note.
INSERT INTO note (name, value) VALUES ('versions-hashed-to', '0');

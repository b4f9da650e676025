-- Why visits brought nothing, and why hosts wait.

-- The cause in words, where the outcome and the status don't say it all: which fault a certificate has.
ALTER TABLE observation ADD COLUMN reason TEXT;

-- The event behind a host's wait, in words.
ALTER TABLE host ADD COLUMN wait_reason TEXT;
-- How the last request for robots.txt failed; nothing if it was answered.
ALTER TABLE host ADD COLUMN robots_fault TEXT;
ALTER TABLE host ADD COLUMN robots_fault_status INTEGER;

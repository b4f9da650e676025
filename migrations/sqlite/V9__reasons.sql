-- Why visits brought nothing, and why hosts wait.

-- The cause in words, where the outcome and the status don't say it all: which fault a certificate has.
ALTER TABLE observation ADD COLUMN reason TEXT;

-- The event behind a host's wait, in words.
ALTER TABLE host ADD COLUMN wait_reason TEXT;
-- How the last request for robots.txt failed; nothing if it was answered.
ALTER TABLE host ADD COLUMN robots_fault TEXT;
ALTER TABLE host ADD COLUMN robots_fault_status INTEGER;

-- A page that robots.txt forbids waits a day from the first refusal on, then twice as long each time, up to a week.
UPDATE page SET due_at = min(604800000, 86400000 << min(max(failures - 1, 0), 3))
    + (SELECT max(at) FROM observation WHERE observation.page_id = page.id)
WHERE state = 'blocked' AND last_outcome = 'robots'
    AND EXISTS (SELECT 1 FROM observation WHERE observation.page_id = page.id);

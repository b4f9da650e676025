-- Bytes of packed contents that a page, and all pages of a host, were the first to bring. A content of no bytes is one that
-- there was no room for: its hashes and lengths are known.
ALTER TABLE page ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE host ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
UPDATE page SET stored_bytes = found.bytes
FROM (SELECT page_id, sum(length(content)) AS bytes
      FROM (SELECT version_id, min(id) AS id FROM observation WHERE version_id IS NOT NULL GROUP BY version_id) AS first
           JOIN observation ON observation.id = first.id
           JOIN version ON version.id = first.version_id
      GROUP BY page_id) AS found
WHERE found.page_id = page.id;
UPDATE host SET stored_bytes = found.bytes
FROM (SELECT host_id, sum(stored_bytes) AS bytes FROM page GROUP BY host_id) AS found
WHERE found.host_id = host.id;

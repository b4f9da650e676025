-- Hosts that a seed moved to are let go when the seed answers for itself again.

-- The seed that redirects here, and since when it no longer does.
ALTER TABLE seed ADD COLUMN adopted_by INTEGER REFERENCES seed (id);
ALTER TABLE seed ADD COLUMN let_go_at INTEGER;

UPDATE seed SET adopted_by =
    (SELECT page.seed_id FROM page JOIN observation ON observation.page_id = page.id
     WHERE page.depth = 0 AND observation.detail = seed.url AND page.seed_id <> seed.id
     ORDER BY observation.id DESC LIMIT 1)
WHERE adopted = 1;

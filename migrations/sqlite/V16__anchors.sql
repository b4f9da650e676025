-- The words of the link by which a page was found, read until its first visit; kept only by crawls that value new pages by what people
-- search for.
ALTER TABLE page ADD COLUMN anchor TEXT;

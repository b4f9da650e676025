-- One answer makes no alias: what pages say of the page that stands for them is kept until it is confirmed.

-- The page that this visit said it is another spelling of (permanent redirect, canonical link), and how far the texts
-- of the two are apart; nothing where one of them is not known.
ALTER TABLE observation ADD COLUMN same_as INTEGER REFERENCES page (id);
ALTER TABLE observation ADD COLUMN same_apart REAL;

-- The same, folded: the page that the last visits named, in how many cycles in a row, whether by a redirect, and whether
-- the texts agree.
ALTER TABLE page ADD COLUMN same_as INTEGER REFERENCES page (id);
ALTER TABLE page ADD COLUMN same_times INTEGER;
ALTER TABLE page ADD COLUMN same_moved INTEGER;
ALTER TABLE page ADD COLUMN same_text INTEGER;

CREATE INDEX page_same_as ON page (same_as, same_text) WHERE same_as IS NOT NULL;

-- What a page's score had to be for a visit: the least score of a page that was visited again in the cycle.
ALTER TABLE cycle ADD COLUMN threshold REAL;

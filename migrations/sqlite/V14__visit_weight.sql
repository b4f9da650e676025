-- The weight that the page had in the cycle of the visit, where that was not 1. Policies that learn by it can learn again from the log.
ALTER TABLE observation ADD COLUMN weight REAL;

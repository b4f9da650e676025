-- The visits of a cycle in order of time, for `freshet log` and the view of sites. A crawl adds to its end.
CREATE INDEX observation_cycle ON observation (cycle_id, at);

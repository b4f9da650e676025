-- The latest events of one host, for the view of a site: without it they are looked for among those of all hosts.
CREATE INDEX event_host ON event (host_id, at, observation_id, kind);

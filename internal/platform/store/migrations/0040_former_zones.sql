-- +goose Up

-- Former fallback time zones of a user and their ends. Earlier payloads are reprocessed
-- with the zone of their time.
CREATE TABLE former_zones (
	team_id  UUID NOT NULL,
	user_id  UUID NOT NULL,
	until_at BIGINT NOT NULL,
	zone     TEXT NOT NULL, -- IANA name; '' for none
	PRIMARY KEY (user_id, until_at)
);

-- +goose Up

-- Until when a user had another fallback time zone: what came in before is read
-- again with the zone that it came in with.
CREATE TABLE former_zones (
	team_id  UUID NOT NULL,
	user_id  UUID NOT NULL,
	until_at BIGINT NOT NULL,
	zone     TEXT NOT NULL, -- IANA name; '' for none
	PRIMARY KEY (user_id, until_at)
);

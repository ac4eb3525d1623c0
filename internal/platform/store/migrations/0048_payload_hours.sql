-- +goose Up

-- Bodies of samples are ordered by the hour of their samples, then by user. A batch of many
-- users with samples of the last minutes then changes few pages. Ordered by user, it would
-- change a page for each of them. hour counts from 1970. It is 0 for payloads without an
-- hour, and for payloads from before this column. payload_hours has the hours of a user,
-- except 0.
CREATE TABLE payload_hours (
	team_id UUID NOT NULL,
	user_id UUID NOT NULL,
	hour    BIGINT NOT NULL,
	PRIMARY KEY (user_id, hour)
);

-- sqlite: begin
CREATE TABLE payloads_by_hour (
	team_id  UUID NOT NULL,
	user_id  UUID NOT NULL,
	hour     BIGINT NOT NULL,
	id       UUID NOT NULL,
	kind     TEXT NOT NULL,
	provider TEXT NOT NULL,
	resource TEXT NOT NULL,
	mapping  BIGINT NOT NULL,
	size     BIGINT NOT NULL,
	packed   BIGINT NOT NULL,
	chunks   BIGINT NOT NULL,
	whole    BOOLEAN NOT NULL,
	times    BIGINT NOT NULL,
	first_at BIGINT NOT NULL,
	last_at  BIGINT NOT NULL,
	data     BYTEA,
	PRIMARY KEY (hour, user_id, id)
);
INSERT INTO payloads_by_hour SELECT team_id, user_id, 0, id, kind, provider, resource, mapping, size, packed,
	chunks, whole, times, first_at, last_at, data FROM payloads ORDER BY user_id, id;
DROP TABLE payloads;
ALTER TABLE payloads_by_hour RENAME TO payloads;
CREATE INDEX payloads_by_age ON payloads (team_id, last_at);
-- sqlite: end
-- postgres: begin
ALTER TABLE payloads ADD COLUMN hour BIGINT NOT NULL DEFAULT 0;
ALTER TABLE payloads ALTER COLUMN hour DROP DEFAULT;
ALTER TABLE payloads DROP CONSTRAINT payloads_pkey;
ALTER TABLE payloads ADD PRIMARY KEY (hour, user_id, id);
-- postgres: end

-- +goose Up

-- A series has the measurements of one kind from one source. The id counts from 1 for
-- each user and is the source_id of events. Missing parts of the identity are '' or the
-- zero UUID, so that one unique index has all of them.
CREATE TABLE series (
	team_id     UUID NOT NULL,
	user_id     UUID NOT NULL,
	id          BIGINT NOT NULL,
	resource    TEXT NOT NULL,
	provider    TEXT NOT NULL,
	source_type TEXT NOT NULL,
	app_id      TEXT NOT NULL,
	device_id   UUID NOT NULL,
	sample_type TEXT NOT NULL,
	sport       TEXT NOT NULL,
	workout_id  UUID NOT NULL,
	width_us    BIGINT NOT NULL, -- time that one block covers
	created_at  BIGINT NOT NULL,
	PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX series_by_identity ON series
	(user_id, resource, provider, source_type, app_id, device_id, sample_type, sport, workout_id);

-- The samples of one series that start in [bucket, bucket + width), packed
-- (docs/sample-blocks.md) and sealed. rev counts the changes, and a writer names the rev
-- that it read. On SQLite this is a rowid table. Data of a few kilobytes then stays in
-- the page, which it does not with WITHOUT ROWID.
CREATE TABLE sample_blocks (
	team_id   UUID NOT NULL,
	user_id   UUID NOT NULL,
	series_id BIGINT NOT NULL,
	bucket    BIGINT NOT NULL,
	rev       BIGINT NOT NULL,
	n         BIGINT NOT NULL,
	t_min     BIGINT NOT NULL,
	t_max     BIGINT NOT NULL,
	data      BYTEA NOT NULL,
	PRIMARY KEY (user_id, series_id, bucket)
);
-- postgres: begin
-- Packed and sealed bytes do not compress, so the server does not try.
ALTER TABLE sample_blocks ALTER COLUMN data SET STORAGE EXTERNAL;
-- postgres: end

-- Summaries: one sealed JSON document each, and the columns by which they are found.
-- There is no hash of the content. The numbers behind a hash can be guessed, and backups
-- keep the hash longer than the user's key. Versions are compared unsealed.
CREATE TABLE summaries (
	team_id       UUID NOT NULL,
	user_id       UUID NOT NULL,
	id            UUID NOT NULL, -- version 5, of provider, resource and natural key
	resource      TEXT NOT NULL,
	provider      TEXT NOT NULL,
	source_type   TEXT NOT NULL,
	app_id        TEXT NOT NULL,
	device_id     UUID NOT NULL,
	calendar_date TEXT NOT NULL, -- '' for a profile
	start_at      BIGINT,
	end_at        BIGINT,
	version       BIGINT NOT NULL,
	created_at    BIGINT NOT NULL,
	updated_at    BIGINT NOT NULL,
	body          BYTEA NOT NULL,
	PRIMARY KEY (user_id, id)
);
CREATE INDEX summaries_by_day ON summaries (user_id, resource, calendar_date, id);
CREATE INDEX summaries_by_id ON summaries (team_id, id);

-- Streams of workouts, packed and sealed.
CREATE TABLE workout_streams (
	team_id    UUID NOT NULL,
	user_id    UUID NOT NULL,
	workout_id UUID NOT NULL,
	version    BIGINT NOT NULL,
	n          BIGINT NOT NULL,
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	data       BYTEA NOT NULL,
	PRIMARY KEY (user_id, workout_id)
);
-- postgres: begin
ALTER TABLE workout_streams ALTER COLUMN data SET STORAGE EXTERNAL;
-- postgres: end

-- Sent historical.data events, one for each run of a connection and resource.
CREATE TABLE history_announced (
	team_id      UUID NOT NULL,
	user_id      UUID NOT NULL,
	provider     TEXT NOT NULL,
	resource     TEXT NOT NULL,
	run          TEXT NOT NULL,
	start_at     BIGINT NOT NULL,
	end_at       BIGINT NOT NULL,
	announced_at BIGINT NOT NULL,
	PRIMARY KEY (user_id, provider, resource, run)
);

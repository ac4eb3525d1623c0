-- +goose Up

-- A series: measurements of one kind from one source. The id counts from 1
-- inside its user and is the source_id of events. Missing parts of the identity
-- are '' or the zero UUID, so that one unique index holds them all.
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
	width_us    BIGINT NOT NULL, -- how much time one block covers
	created_at  BIGINT NOT NULL,
	PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX series_by_identity ON series
	(user_id, resource, provider, source_type, app_id, device_id, sample_type, sport, workout_id);

-- The samples of one series whose start lies in [bucket, bucket + width),
-- packed (docs/sample-blocks.md) and sealed. rev counts the changes; a writer
-- states the rev it read. An ordinary rowid table on SQLite: data of a few
-- kilobytes stays in the page there, and does not WITHOUT ROWID.
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
-- Packed and sealed bytes do not compress: spare the server the attempt.
ALTER TABLE sample_blocks ALTER COLUMN data SET STORAGE EXTERNAL;
-- postgres: end

-- Summaries: one sealed JSON document each, with what they are found by. There
-- is no hash of the content: a hash of few numbers could be guessed back, and
-- would outlive the user's key in backups. Versions are compared unsealed.
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

-- The course of a workout, packed and sealed.
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

-- Which historical.data events were sent: one per run of a connection and
-- resource.
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

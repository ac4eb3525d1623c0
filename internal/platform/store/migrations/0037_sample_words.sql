-- +goose Up

-- The words that all samples of a series share besides their type, such as the place of a
-- thermometer. They are one text, '' for none, and part of the identity of the series.
ALTER TABLE series ADD COLUMN extra TEXT NOT NULL DEFAULT '';
DROP INDEX series_by_identity;
CREATE UNIQUE INDEX series_by_identity ON series
	(user_id, resource, provider, source_type, app_id, device_id, sample_type, extra, sport, workout_id);

-- +goose Up

-- The words that the samples of a series share besides their type, such as
-- where a thermometer was: one text, '' for none, and a part of what the series
-- is.
ALTER TABLE series ADD COLUMN extra TEXT NOT NULL DEFAULT '';
DROP INDEX series_by_identity;
CREATE UNIQUE INDEX series_by_identity ON series
	(user_id, resource, provider, source_type, app_id, device_id, sample_type, extra, sport, workout_id);

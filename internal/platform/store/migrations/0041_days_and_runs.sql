-- +goose Up

-- Whether the provider stated the day of a session. A day that was derived from the place
-- follows the place of later versions. A stated day stays.
ALTER TABLE summaries ADD COLUMN day_stated BOOLEAN NOT NULL DEFAULT FALSE;

-- The job that has claimed the latest run, until the run ends. It may begin the run again
-- within the minimum gap, which applies to other jobs.
ALTER TABLE continuous_query_states ADD COLUMN run_job UUID;

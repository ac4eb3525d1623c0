-- +goose Up

-- Whether somebody stated the day of a session. A day that was found by the place
-- follows what later versions tell of the place; one that was stated stays.
ALTER TABLE summaries ADD COLUMN day_stated BOOLEAN NOT NULL DEFAULT FALSE;

-- The job that has the latest run in hand, until that run ends: it may begin the
-- run again within the gap that others keep.
ALTER TABLE continuous_query_states ADD COLUMN run_job UUID;

-- +goose Up

-- The stale time that the latest run has claimed, until a run has stored its rows. Data
-- that becomes stale meanwhile is in stale_from.
ALTER TABLE continuous_query_states ADD COLUMN run_from BIGINT;
ALTER TABLE continuous_query_states ADD COLUMN run_to BIGINT;

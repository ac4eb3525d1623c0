-- +goose Up

-- The stale time that the latest run has taken over, until a run has stored its
-- rows. What gets stale meanwhile stands beside it.
ALTER TABLE continuous_query_states ADD COLUMN run_from BIGINT;
ALTER TABLE continuous_query_states ADD COLUMN run_to BIGINT;

-- +goose Up

-- The status of a report without results that waits for an operator: a rejected sample,
-- a cancellation or a block. Empty for results.
ALTER TABLE unassigned_results ADD COLUMN report_status TEXT NOT NULL DEFAULT '';

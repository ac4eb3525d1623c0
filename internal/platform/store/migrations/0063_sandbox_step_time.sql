-- +goose Up
-- The time of the step that the laboratory runs; NULL between turns. It is the
-- time of the clock until the turn ends.
ALTER TABLE sandbox_clocks ADD COLUMN step_at BIGINT; -- microseconds

-- +goose Up
-- The length of the history that a demo connection gets at first.
ALTER TABLE demo_connections ADD COLUMN days BIGINT NOT NULL DEFAULT 30;

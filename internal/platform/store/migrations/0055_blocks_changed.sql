-- +goose Up

-- When a block of samples changed last, UTC microseconds; 0 for older rows. Of
-- several samples of one key the ungrouped series has the latest.
ALTER TABLE sample_blocks ADD COLUMN changed_at BIGINT NOT NULL DEFAULT 0;

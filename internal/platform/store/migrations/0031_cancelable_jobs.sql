-- +goose Up

-- Whether people may cancel the job. Its kind determines it.
ALTER TABLE jobs ADD COLUMN cancelable BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE jobs SET cancelable = TRUE
	WHERE kind IN ('imports.run', 'ledger.renormalise', 'webhooks.replay') AND status IN ('queued', 'running');

-- +goose Up

-- Whom a kept answer is about: a user, or a result that waits for one. The
-- answer is sealed with their key and goes when they are erased. NULL for an
-- answer that is the team's own, and for those kept before there was this
-- column, which end by their age.
ALTER TABLE idempotency_keys ADD COLUMN subject_id UUID;
CREATE INDEX idempotency_keys_by_subject ON idempotency_keys (team_id, subject_id) WHERE subject_id IS NOT NULL;

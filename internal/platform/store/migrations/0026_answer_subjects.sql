-- +goose Up

-- Subject of a stored answer: a user, or a result that waits for one. The answer is sealed
-- with the subject's key and is deleted when the subject is erased. It is NULL for an
-- answer of the team itself, and for answers from before this column, which expire.
ALTER TABLE idempotency_keys ADD COLUMN subject_id UUID;
CREATE INDEX idempotency_keys_by_subject ON idempotency_keys (team_id, subject_id) WHERE subject_id IS NOT NULL;

-- +goose Up

-- A request that is one transaction commits its answer with its change, so a
-- row without an answer (status 0) is of a request that asks somebody between
-- two transactions. node_id is who carries it out; resumes names what the
-- first transaction began, so that whoever hears the request again goes on
-- with that.
ALTER TABLE idempotency_keys ADD COLUMN node_id UUID;
ALTER TABLE idempotency_keys ADD COLUMN resumes TEXT NOT NULL DEFAULT '';

-- +goose Up

-- A request that is one transaction commits its answer with its change. A row without an
-- answer (status 0) belongs to a request that calls another system between two
-- transactions. node_id is the node that runs it. resumes names the record that the first
-- transaction began, so that a repeated request resumes it.
ALTER TABLE idempotency_keys ADD COLUMN node_id UUID;
ALTER TABLE idempotency_keys ADD COLUMN resumes TEXT NOT NULL DEFAULT '';

-- +goose Up

-- Content of the posts to an endpoint: full events, or ids only.
ALTER TABLE webhook_endpoints ADD COLUMN content TEXT NOT NULL DEFAULT 'full';

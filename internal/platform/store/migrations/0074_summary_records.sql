-- +goose Up

-- The provider's own id of a record, as a digest with the user, the provider and the
-- resource. A version with a known id replaces the stored one, wherever it has moved.
ALTER TABLE summaries ADD COLUMN record_id UUID;
CREATE INDEX summaries_by_record ON summaries (user_id, record_id) WHERE record_id IS NOT NULL;

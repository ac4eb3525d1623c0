-- +goose Up

-- The secret from which a session's next refresh token is derived, sealed with the user's
-- key. A renewal that is repeated because its answer was lost returns the same token.
-- Phones whose session has no secret sign in again.
ALTER TABLE phone_sessions ADD COLUMN renewal_key BYTEA;
DELETE FROM access_tokens;
DELETE FROM phone_sessions;

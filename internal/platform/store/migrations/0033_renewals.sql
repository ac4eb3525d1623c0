-- +goose Up

-- What a session's next refresh token is derived with, sealed with the user's
-- key: a renewal that is asked for again, since its answer was lost, gives the
-- same one. Phones that are signed in without it sign in anew.
ALTER TABLE phone_sessions ADD COLUMN renewal_key BYTEA;
DELETE FROM access_tokens;
DELETE FROM phone_sessions;

-- +goose Up

-- The last code that was sent to check a new device. The row has an HMAC of it with the
-- link's token, which is not in the database.
ALTER TABLE portal_links ADD COLUMN code_hash BYTEA; -- NULL when none was sent, or it was used
ALTER TABLE portal_links ADD COLUMN code_method TEXT; -- sms or email
ALTER TABLE portal_links ADD COLUMN code_sent_on BIGINT;
ALTER TABLE portal_links ADD COLUMN code_tries BIGINT NOT NULL DEFAULT 0;
ALTER TABLE portal_links ADD COLUMN codes_sent BIGINT NOT NULL DEFAULT 0;

-- A device that passed keeps a sealed cookie, for the life of the link.
DROP TABLE portal_devices;

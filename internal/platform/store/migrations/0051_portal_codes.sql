-- +goose Up

-- The code that checks a new device, as sent last. The row has an HMAC of it
-- under the link's token, which the database does not hold.
ALTER TABLE portal_links ADD COLUMN code_hash BYTEA; -- NULL when none was sent, or it was used
ALTER TABLE portal_links ADD COLUMN code_method TEXT; -- sms or email
ALTER TABLE portal_links ADD COLUMN code_sent_on BIGINT;
ALTER TABLE portal_links ADD COLUMN code_tries BIGINT NOT NULL DEFAULT 0;
ALTER TABLE portal_links ADD COLUMN codes_sent BIGINT NOT NULL DEFAULT 0;

-- A device that passed keeps a sealed cookie, for the life of the link.
DROP TABLE portal_devices;

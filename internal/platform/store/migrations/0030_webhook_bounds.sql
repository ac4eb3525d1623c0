-- +goose Up

-- While hold_before is set, deliveries that waited for an endpoint to be
-- switched on are being held, and nothing is sent: those of events from before
-- hold_before, with numbers up to hold_through.
ALTER TABLE webhook_endpoints ADD COLUMN hold_before BIGINT;
ALTER TABLE webhook_endpoints ADD COLUMN hold_through BIGINT;

-- No event with a lesser number was ever meant for the endpoint.
ALTER TABLE webhook_endpoints ADD COLUMN first_seq BIGINT NOT NULL DEFAULT 1;

-- +goose Up

-- While hold_before is set, a job holds the deliveries that waited for the endpoint to be
-- enabled, and nothing is sent. These are events from before hold_before, with numbers up
-- to hold_through.
ALTER TABLE webhook_endpoints ADD COLUMN hold_before BIGINT;
ALTER TABLE webhook_endpoints ADD COLUMN hold_through BIGINT;

-- No event with a lower number is for the endpoint.
ALTER TABLE webhook_endpoints ADD COLUMN first_seq BIGINT NOT NULL DEFAULT 1;

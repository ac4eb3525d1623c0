-- +goose Up

-- The clinic that orders, for each team and lab account. The account is zero for
-- the practice of the team, which applies to accounts without one.
CREATE TABLE practices (
	team_id    UUID NOT NULL,
	account_id UUID NOT NULL,
	body       TEXT NOT NULL, -- JSON, catalogue.Practice
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (team_id, account_id)
);

-- The image of the physician's signature, sealed; a small PNG.
ALTER TABLE orders ADD COLUMN signature BYTEA;

-- Numbers of laboratories, such as accession numbers, by which an order is
-- found. The digest is keyed with the team's key below.
CREATE TABLE order_numbers (
	team_id  UUID NOT NULL,
	digest   BYTEA NOT NULL,
	order_id UUID NOT NULL,
	PRIMARY KEY (team_id, digest, order_id)
);
CREATE INDEX order_numbers_by_order ON order_numbers (team_id, order_id);
CREATE TABLE order_number_keys (
	team_id UUID NOT NULL PRIMARY KEY,
	key     BYTEA NOT NULL -- sealed
);

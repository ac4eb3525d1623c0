-- +goose Up

-- Former versions of orders, for lists with a cursor. Such a list keeps the order in which
-- it began. See orders/cursor.go.
CREATE TABLE order_past (
	team_id    UUID NOT NULL,
	order_id   UUID NOT NULL,
	was        BIGINT NOT NULL, -- number of the change that made the version
	change     BIGINT NOT NULL, -- the change that replaced it
	at         BIGINT NOT NULL, -- when it was replaced
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	status     TEXT NOT NULL,
	method     TEXT NOT NULL,
	user_id    UUID NOT NULL, -- the user whose key seals names
	names      BYTEA, -- sealed, as in orders
	PRIMARY KEY (team_id, order_id, was)
);
CREATE INDEX order_past_by_change ON order_past (team_id, change, order_id);
CREATE INDEX order_past_by_time ON order_past (at);

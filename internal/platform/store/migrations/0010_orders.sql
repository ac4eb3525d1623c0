-- +goose Up

-- Transactions. All orders for one need of a test belong to the same transaction.
CREATE TABLE order_transactions (
	team_id    UUID NOT NULL,
	id         UUID NOT NULL,
	status     TEXT NOT NULL CHECK (status IN ('active', 'completed', 'cancelled')),
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (team_id, id)
);

-- Orders. The columns are those of filters and of decisions by programs. All personal
-- data is in body and names, sealed with the user's key.
CREATE TABLE orders (
	team_id        UUID NOT NULL,
	id             UUID NOT NULL,
	transaction_id UUID NOT NULL,
	parent_id      UUID, -- the order that this one continues
	origin         TEXT NOT NULL CHECK (origin IN ('initial', 'redraw', 'recreation')),
	user_id        UUID NOT NULL,
	lab_id         BIGINT NOT NULL,
	lab_test_id    UUID NOT NULL,
	account_id     UUID NOT NULL,
	network        TEXT NOT NULL, -- slug
	method         TEXT NOT NULL CHECK (method IN ('testkit', 'walk_in_test', 'at_home_phlebotomy', 'on_site_collection')),
	registrable    BOOLEAN NOT NULL, -- a kit that is registered for a patient later
	status         TEXT NOT NULL CHECK (status IN (
		'ordered', 'awaiting_registration', 'registered', 'requisition_created', 'requisition_bypassed',
		'transit_customer', 'out_for_delivery', 'with_customer', 'problem_in_transit_customer', 'transit_lab', 'problem_in_transit_lab',
		'appointment_pending', 'appointment_scheduled', 'appointment_cancelled', 'redraw_available', 'draw_completed',
		'delivered_to_lab', 'lab_processing_blocked', 'partial_results', 'completed', 'corrected',
		'failure_to_deliver_to_customer', 'failure_to_deliver_to_lab', 'lost', 'sample_error', 'cancelled', 'do_not_process')),
	status_at      BIGINT NOT NULL, -- time of the change to that status
	rev            BIGINT NOT NULL, -- counts the changes; a change names the rev that it read
	created_at     BIGINT NOT NULL,
	updated_at     BIGINT NOT NULL,
	activate_by    TEXT, -- date on which the order starts
	scheduled      BOOLEAN NOT NULL, -- whether it had an activate_by when it was created
	sample_id      TEXT,
	priority       BOOLEAN NOT NULL,
	billing_type   TEXT NOT NULL,
	insurance_id   UUID,
	has_abn        BOOLEAN NOT NULL,
	sms_enabled    BOOLEAN NOT NULL,
	details_id     UUID NOT NULL, -- id of the kit, visit or draw
	appointment_id UUID, -- the latest appointment
	collected_at   BIGINT,
	interpretation TEXT, -- of the results; empty before there are any
	is_critical    BOOLEAN NOT NULL,
	has_missing    BOOLEAN, -- empty before there are results
	expected_by    TEXT, -- date
	worst_by       TEXT, -- date
	body           BYTEA NOT NULL, -- sealed JSON, orders.Body
	names          BYTEA, -- sealed words for searches, see orders/index_names.go
	shipment       BYTEA, -- sealed JSON, orders.Shipment
	change         BIGINT NOT NULL, -- see orders/changes.go
-- postgres: begin
	PRIMARY KEY (id, team_id) -- id first: labs name an order without its team
) WITH (fillfactor = 80);
-- postgres: end
-- sqlite: begin
	PRIMARY KEY (id, team_id)
) STRICT;
-- sqlite: end
CREATE INDEX orders_by_user ON orders (team_id, user_id);
CREATE INDEX orders_by_transaction ON orders (team_id, transaction_id, created_at, id);
CREATE INDEX orders_by_sample ON orders (sample_id, team_id) WHERE sample_id IS NOT NULL;
CREATE INDEX orders_by_change ON orders (team_id, change, id);

-- History of the statuses of an order. Rows are added and never changed. The last one is
-- the order's status.
-- sqlite: begin
CREATE TABLE order_events (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	team_id    BLOB NOT NULL,
	order_id   BLOB NOT NULL,
	status     TEXT NOT NULL,
	detail     TEXT,
	created_at INTEGER NOT NULL
);
-- sqlite: end
-- postgres: begin
CREATE TABLE order_events (
	id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	team_id    UUID NOT NULL,
	order_id   UUID NOT NULL,
	status     TEXT NOT NULL,
	detail     TEXT,
	created_at BIGINT NOT NULL
);
-- postgres: end
CREATE INDEX order_events_by_order ON order_events (team_id, order_id, id);

-- Reports of labs, carriers and others about an order, also late ones. The key lets a
-- repeated report count once.
CREATE TABLE order_reports (
	team_id     UUID NOT NULL,
	order_id    UUID NOT NULL,
	key         TEXT NOT NULL,
	source      TEXT NOT NULL, -- name of the trigger
	status      TEXT NOT NULL,
	detail      TEXT,
	reported_at BIGINT NOT NULL, -- time of the change as the source reports it
	received_at BIGINT NOT NULL,
	moved       BOOLEAN NOT NULL,
	PRIMARY KEY (team_id, order_id, key)
);

-- Erased orders, for nodes that have them in memory. See orders/changes.go.
CREATE TABLE order_erasures (
	team_id  UUID NOT NULL,
	order_id UUID NOT NULL,
	change   BIGINT NOT NULL,
	PRIMARY KEY (team_id, change, order_id)
);

-- The number of the last change in a team's orders (SQLite only).
CREATE TABLE order_changes (
	team_id UUID NOT NULL PRIMARY KEY,
	n       BIGINT NOT NULL
);

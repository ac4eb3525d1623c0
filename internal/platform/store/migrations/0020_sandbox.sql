-- +goose Up

-- Offset between the clock of a sandbox team's lab and the real clock.
CREATE TABLE sandbox_clocks (
	team_id UUID NOT NULL PRIMARY KEY,
	ahead   BIGINT NOT NULL -- microseconds
);

-- Orders of the built-in lab. Their personal data stays in orders.
CREATE TABLE sandbox_orders (
	team_id  UUID NOT NULL,
	id       UUID NOT NULL, -- of the order
	user_id  UUID NOT NULL,
	state    TEXT NOT NULL CHECK (state IN ('shipped', 'placed', 'cancelled')),
	script   TEXT NOT NULL, -- sandboxlab.Script
	taken_at BIGINT NOT NULL, -- by the clock of the lab
	PRIMARY KEY (team_id, id)
);
CREATE INDEX sandbox_orders_by_user ON sandbox_orders (team_id, user_id);

-- Next steps of the lab and their times by its own clock. A row is deleted when its step
-- has run.
CREATE TABLE sandbox_steps (
	team_id  UUID NOT NULL,
	id       UUID NOT NULL, -- version 7: of steps that are due at the same time, the older runs first
	order_id UUID NOT NULL,
	user_id  UUID NOT NULL,
	due_at   BIGINT NOT NULL,
	step     TEXT NOT NULL, -- JSON, sandboxlab.Step
	PRIMARY KEY (team_id, id)
);
CREATE INDEX sandbox_steps_by_time ON sandbox_steps (team_id, due_at, id);
CREATE INDEX sandbox_steps_by_order ON sandbox_steps (team_id, order_id, due_at);
CREATE INDEX sandbox_steps_by_user ON sandbox_steps (team_id, user_id);

-- Appointments with the built-in phlebotomists and service centers.
CREATE TABLE sandbox_bookings (
	team_id   UUID NOT NULL,
	id        UUID NOT NULL,
	order_id  UUID NOT NULL,
	user_id   UUID NOT NULL,
	provider  TEXT NOT NULL,
	site      TEXT NOT NULL, -- the service center's code; '' for a visit
	made_at   BIGINT NOT NULL, -- by the clock of the lab
	starts_at BIGINT NOT NULL,
	ends_at   BIGINT NOT NULL,
	state     TEXT NOT NULL CHECK (state IN ('requested', 'booked', 'cancelled')), -- a request gets its time later
	PRIMARY KEY (team_id, id)
);
CREATE INDEX sandbox_bookings_by_slot ON sandbox_bookings (team_id, provider, site, starts_at);
CREATE INDEX sandbox_bookings_by_order ON sandbox_bookings (team_id, order_id);
CREATE INDEX sandbox_bookings_by_user ON sandbox_bookings (team_id, user_id);

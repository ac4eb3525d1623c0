-- +goose Up

-- Appointments: of a phlebotomist at the patient's home, or of the patient at a service
-- center. A row with an empty status is being requested and is not visible.
CREATE TABLE appointments (
	team_id    UUID NOT NULL,
	id         UUID NOT NULL,
	order_id   UUID NOT NULL,
	user_id    UUID NOT NULL,
	kind       TEXT NOT NULL CHECK (kind IN ('phlebotomy', 'patient_service_center')),
	provider   TEXT NOT NULL, -- provider that draws the sample: getlabs, quest …
	network    TEXT NOT NULL, -- slug of the network that books it
	status     TEXT NOT NULL CHECK (status IN ('', 'pending', 'reserved', 'scheduled', 'in_progress', 'completed', 'cancelled')),
	start_at   BIGINT, -- empty without a time
	end_at     BIGINT,
	time_zone  TEXT NOT NULL, -- of the place, IANA name
	reason_id  UUID, -- reason of the cancellation
	rev        BIGINT NOT NULL, -- counts the changes; a change names the rev that it read
	created_at BIGINT NOT NULL,
	updated_at BIGINT NOT NULL,
	body       BYTEA NOT NULL, -- sealed JSON, appointments.Body
	PRIMARY KEY (team_id, id)
);
CREATE INDEX appointments_by_order ON appointments (team_id, order_id, created_at);
CREATE INDEX appointments_by_user ON appointments (team_id, user_id);

-- One live appointment for each order, and one for each patient with a
-- phlebotomy provider.
CREATE UNIQUE INDEX appointments_live_of_order ON appointments (team_id, order_id)
	WHERE status NOT IN ('completed', 'cancelled');
CREATE UNIQUE INDEX appointments_live_of_patient ON appointments (team_id, user_id, provider)
	WHERE kind = 'phlebotomy' AND status NOT IN ('completed', 'cancelled');

-- History of the statuses of an appointment. Rows are added and never changed. The last
-- one is the appointment's status.
-- sqlite: begin
CREATE TABLE appointment_events (
	id             INTEGER PRIMARY KEY AUTOINCREMENT,
	team_id        BLOB NOT NULL,
	appointment_id BLOB NOT NULL,
	status         TEXT NOT NULL,
	data           TEXT, -- JSON object; never personal
	created_at     INTEGER NOT NULL
);
-- sqlite: end
-- postgres: begin
CREATE TABLE appointment_events (
	id             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	team_id        UUID NOT NULL,
	appointment_id UUID NOT NULL,
	status         TEXT NOT NULL,
	data           TEXT, -- JSON object; never personal
	created_at     BIGINT NOT NULL
);
-- postgres: end
CREATE INDEX appointment_events_by_appointment ON appointment_events (team_id, appointment_id, id);

-- Used booking keys, until they expire. A key is sealed and contains the slot. This table
-- limits it to one use.
CREATE TABLE booking_keys_used (
	team_id    UUID NOT NULL,
	key_hash   BYTEA NOT NULL,
	expires_at BIGINT NOT NULL,
	PRIMARY KEY (team_id, key_hash)
);
CREATE INDEX booking_keys_used_by_expiry ON booking_keys_used (expires_at);

-- Settings of a team. A team without a row has the defaults.
CREATE TABLE appointment_settings (
	team_id            UUID NOT NULL PRIMARY KEY,
	scheduling         BOOLEAN NOT NULL, -- appointments can be made at all
	before_requisition BOOLEAN NOT NULL, -- also while the order has no requisition
	async_confirmation BOOLEAN NOT NULL, -- service centers may answer later
	sonora_quest       BOOLEAN NOT NULL  -- the Arizona laboratory may be booked
);

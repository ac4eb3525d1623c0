-- +goose Up

-- Messages of lab networks, unchanged. They are stored before they are acknowledged. A
-- message belongs to the zero team until its user is known.
CREATE TABLE inbox_messages (
	team_id     UUID NOT NULL,
	id          UUID NOT NULL,
	network     TEXT NOT NULL, -- slug
	key         TEXT NOT NULL, -- the network's own id of the message
	user_id     UUID, -- the user whose key seals it
	received_at BIGINT NOT NULL,
	raw         BYTEA NOT NULL, -- sealed
	PRIMARY KEY (id, team_id)
);
CREATE UNIQUE INDEX inbox_messages_by_key ON inbox_messages (network, key);
CREATE INDEX inbox_messages_by_user ON inbox_messages (team_id, user_id) WHERE user_id IS NOT NULL;

-- Reports: the part of a message about one order. Reports of one lane are processed one
-- after the other, in the order of arrival.
CREATE TABLE inbox_reports (
	team_id     UUID NOT NULL,
	id          UUID NOT NULL, -- version 7
	message_id  UUID NOT NULL,
	n           BIGINT NOT NULL, -- place in the message
	lane        TEXT NOT NULL,
	state       TEXT NOT NULL CHECK (state IN ('queued', 'applied', 'unmatched')),
	order_id    UUID,
	user_id     UUID,
	received_at BIGINT NOT NULL,
	handled_at  BIGINT,
	body        BYTEA NOT NULL, -- sealed JSON, networks.Report
	PRIMARY KEY (id, team_id)
);
CREATE INDEX inbox_reports_queued ON inbox_reports (lane, id) WHERE state = 'queued';
CREATE INDEX inbox_reports_by_order ON inbox_reports (order_id, id) WHERE order_id IS NOT NULL;
CREATE INDEX inbox_reports_by_user ON inbox_reports (team_id, user_id) WHERE user_id IS NOT NULL;

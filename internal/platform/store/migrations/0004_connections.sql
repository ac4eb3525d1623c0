-- +goose Up

-- Connections of users to providers.
CREATE TABLE connections (
	team_id               UUID NOT NULL,
	user_id               UUID NOT NULL,
	provider              TEXT NOT NULL, -- slug
	connection_id         UUID NOT NULL,
	status                TEXT NOT NULL CHECK (status IN ('connected', 'error', 'paused')),
	created_on            BIGINT NOT NULL,
	resource_availability TEXT NOT NULL, -- JSON, by resource
	PRIMARY KEY (team_id, user_id, provider)
);
CREATE INDEX connections_by_age ON connections (team_id, created_on, status);

-- Devices that sent data. Unknown parts are empty texts, so that they can be compared.
CREATE TABLE devices (
	team_id      UUID NOT NULL,
	user_id      UUID NOT NULL,
	device_id    UUID NOT NULL,
	provider     TEXT NOT NULL,
	source_type  TEXT NOT NULL,
	app_id       TEXT NOT NULL,
	manufacturer TEXT NOT NULL,
	model        TEXT NOT NULL,
	external_id  TEXT NOT NULL, -- the provider's own id
	version      TEXT NOT NULL,
	created_on   BIGINT NOT NULL,
	updated_on   BIGINT NOT NULL,
	PRIMARY KEY (team_id, user_id, device_id)
);
CREATE UNIQUE INDEX devices_by_identity ON devices (team_id, user_id, provider, source_type, app_id, manufacturer, model, external_id);

-- Number of refreshes of a user's data since the hour began.
CREATE TABLE refreshes (
	team_id UUID NOT NULL,
	user_id UUID NOT NULL,
	began   BIGINT NOT NULL,
	n       BIGINT NOT NULL,
	PRIMARY KEY (team_id, user_id)
);

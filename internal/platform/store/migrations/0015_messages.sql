-- +goose Up

-- Messages to patients about their orders, one row for each SMS or e-mail. Recipient and
-- text are sealed with the user's key.
CREATE TABLE messages (
	team_id    UUID NOT NULL,
	id         UUID NOT NULL,
	user_id    UUID NOT NULL,
	order_id   UUID NOT NULL,
	channel    TEXT NOT NULL CHECK (channel IN ('sms', 'email')),
	template   TEXT NOT NULL, -- name of the text
	topic      TEXT NOT NULL, -- group of reminders that are cleared together; '' for other messages
	state      TEXT NOT NULL CHECK (state IN ('scheduled', 'queued', 'sent', 'outbox', 'failed', 'cleared')),
	problem    TEXT NOT NULL, -- a word; '' for none
	attempts   BIGINT NOT NULL,
	content    BYTEA NOT NULL, -- sealed JSON
	job_id     UUID, -- the job that sends it
	due_at     BIGINT NOT NULL,
	expires_at BIGINT, -- it is not sent after this time
	created_at BIGINT NOT NULL,
	ended_at   BIGINT, -- sent, shown, failed or cleared
	PRIMARY KEY (team_id, id)
);
CREATE INDEX messages_by_user ON messages (team_id, user_id, id);
CREATE INDEX messages_by_order ON messages (team_id, order_id, id);
CREATE INDEX messages_by_end ON messages (ended_at) WHERE ended_at IS NOT NULL;

-- Settings of a team. A team without a row has the defaults.
CREATE TABLE message_settings (
	team_id   UUID NOT NULL PRIMARY KEY,
	sms       BOOLEAN NOT NULL,
	email     BOOLEAN NOT NULL,
	reminders BOOLEAN NOT NULL
);

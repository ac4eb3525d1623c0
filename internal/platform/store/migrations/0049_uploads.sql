-- +goose Up

-- Uploads in parts, for whichever node takes the next one. sha256 is empty when
-- the sender did not say it, and kind when it is to be recognised. state is
-- arriving, imported (its chunks may go), cleared (they are gone) or given_up.
CREATE TABLE uploads (
	team_id      UUID NOT NULL,
	user_id      UUID NOT NULL,
	id           UUID NOT NULL,
	kind         TEXT NOT NULL,
	size         BIGINT NOT NULL, -- of the whole file
	sha256       BYTEA NOT NULL,
	history_only BOOLEAN NOT NULL,
	state        TEXT NOT NULL,
	arrived      BIGINT NOT NULL, -- bytes
	node_id      UUID, -- which makes an import of it
	import_id    UUID,
	created_at   BIGINT NOT NULL,
	touched_at   BIGINT NOT NULL,
	PRIMARY KEY (user_id, id)
);

-- What arrived, a mebibyte a row or less, compressed and sealed.
CREATE TABLE upload_chunks (
	team_id   UUID NOT NULL,
	user_id   UUID NOT NULL,
	upload_id UUID NOT NULL,
	at        BIGINT NOT NULL, -- where in the file it begins
	data      BYTEA NOT NULL,
	PRIMARY KEY (user_id, upload_id, at)
);
-- postgres: begin
ALTER TABLE upload_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
-- postgres: end

-- +goose Up

-- Uploads in parts. Any node may receive the next part. sha256 is empty if the sender did
-- not state it, and kind if the content determines it. state is arriving, imported (the
-- chunks may be deleted), cleared (they are deleted) or given_up.
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
	node_id      UUID, -- the node that creates the import
	import_id    UUID,
	created_at   BIGINT NOT NULL,
	touched_at   BIGINT NOT NULL,
	PRIMARY KEY (user_id, id)
);

-- Received parts, at most a mebibyte in each row, compressed and sealed.
CREATE TABLE upload_chunks (
	team_id   UUID NOT NULL,
	user_id   UUID NOT NULL,
	upload_id UUID NOT NULL,
	at        BIGINT NOT NULL, -- offset in the file
	data      BYTEA NOT NULL,
	PRIMARY KEY (user_id, upload_id, at)
);
-- postgres: begin
ALTER TABLE upload_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
-- postgres: end

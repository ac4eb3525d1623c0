-- +goose Up

-- Wrong codes of a link, for its whole life. code_tries begins again with each code.
ALTER TABLE portal_links ADD COLUMN wrong_codes BIGINT NOT NULL DEFAULT 0;

-- +goose Up

-- Account key, certificates and challenges of the API's domains (ACME). Nodes share them.
CREATE TABLE acme_cache (
	name       TEXT   NOT NULL, -- a domain, or a name of golang.org/x/crypto/acme/autocert
	value      BYTEA  NOT NULL, -- sealed
	changed_at BIGINT NOT NULL,
	PRIMARY KEY (name)
);

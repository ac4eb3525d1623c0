-- +goose Up

-- Patient service centers, each a site of one lab. A list belongs to a team, or with the
-- zero owner to all teams. The column is not called team_id, because row security would
-- then hide the lists of all teams.
CREATE TABLE service_centers (
	owner        UUID NOT NULL,
	lab          TEXT NOT NULL, -- slug
	site_code    TEXT NOT NULL, -- the lab's own code of the site
	name         TEXT NOT NULL,
	first_line   TEXT NOT NULL,
	second_line  TEXT NOT NULL,
	city         TEXT NOT NULL,
	state        TEXT NOT NULL,
	zip_code     TEXT NOT NULL, -- 5 digits, or 5 and 4
	lat          DOUBLE PRECISION NOT NULL,
	lng          DOUBLE PRECISION NOT NULL,
	time_zone    TEXT NOT NULL,
	phone        TEXT NOT NULL,
	fax          TEXT NOT NULL,
	website      TEXT NOT NULL,
	capabilities BIGINT NOT NULL, -- places.Capabilities, one bit each
	hours        TEXT NOT NULL, -- places.Hours as text; empty when not known
	active       BOOLEAN NOT NULL,
	valid_from   TEXT NOT NULL, -- date; empty for no bound
	valid_to     TEXT NOT NULL, -- last date
	digest       BYTEA NOT NULL, -- hash of all columns above, so that an import finds changes
	PRIMARY KEY (owner, lab, site_code)
);

-- One row for each imported list. The version changes with every import, so that a node
-- notices when its index in memory is old.
CREATE TABLE service_center_lists (
	owner       UUID NOT NULL,
	lab         TEXT NOT NULL,
	version     UUID NOT NULL,
	imported_at BIGINT NOT NULL,
	PRIMARY KEY (owner, lab)
);

-- Visits by phlebotomists that a provider offers in a ZIP code.
CREATE TABLE phlebotomy_coverage (
	owner      UUID NOT NULL,
	zip        TEXT NOT NULL, -- 5 digits
	provider   TEXT NOT NULL, -- slug
	tier       TEXT NOT NULL, -- appointment-ready, appointment-request
	days       BIGINT NOT NULL, -- places.Weekdays, one bit each
	earliest   BIGINT NOT NULL, -- minute of the day, in the time of the place
	latest     BIGINT NOT NULL,
	lead_hours BIGINT NOT NULL, -- from the booking to the first possible visit
	PRIMARY KEY (owner, zip, provider, tier)
);
CREATE INDEX phlebotomy_coverage_by_provider ON phlebotomy_coverage (owner, provider);

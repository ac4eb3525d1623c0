-- +goose Up

-- The number of revocations of the links to an order's requisition. A link names the
-- number at its creation, and works while it is the current one. See documents/links.go.
ALTER TABLE orders ADD COLUMN link_generation BIGINT NOT NULL DEFAULT 0;

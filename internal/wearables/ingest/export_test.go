package ingest

// Enough is the largest crowd that SQLite plans where it is written.
const Enough = enough

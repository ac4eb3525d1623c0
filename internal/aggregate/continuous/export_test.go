package continuous

// Backfill does what BackfillJob does, at once.
var Backfill = backfill

package events

// Internals that tests use.
const (
	NumberAtOnce  = numberAtOnce
	AssignNumbers = assignNumbers
)

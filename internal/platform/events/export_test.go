package events

// What tests look at.
const (
	NumberAtOnce = numberAtOnce
	PreferTeam   = preferTeam
)

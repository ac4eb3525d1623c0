package orders

import (
	"bytes"

	"hale/internal/platform/teams"
)

// TransactionStatusOf is statusOf for tests.
var TransactionStatusOf = statusOf

// Erase is erase for tests.
var Erase = erase

// Node is what one process remembers. Tests of several nodes have several.
type Node struct{ memories *memoryOf }

// NewNode remembers nothing.
func NewNode() *Node {
	return &Node{&memoryOf{most: mostRemembered, teams: map[teams.ID]*memory{}}}
}

// Be makes this the process's memory until the returned function is called.
func (n *Node) Be() (back func()) {
	before := memories
	memories = n.memories
	return func() { memories = before }
}

// Holds reports whether the texts that the node remembers of a team have a part.
func (n *Node) Holds(team teams.ID, part string) bool {
	return bytes.Contains(n.memories.teams[team].names.texts.blob, []byte(part))
}

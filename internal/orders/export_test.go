package orders

import (
	"hale/internal/teams"
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
	m := n.memories.teams[team]
	for _, t := range []*texts{&m.names.patients, &m.names.recipients} {
		if len(t.blob) > 0 && len(part) > 0 && contains(t.blob, part) {
			return true
		}
	}
	return false
}

func contains(blob []byte, part string) bool {
	found := newBitmap(len(blob))
	whole := texts{blob: blob, starts: []uint32{0}, whose: []int32{0}}
	whole.find(part, found)
	return found.count() > 0
}

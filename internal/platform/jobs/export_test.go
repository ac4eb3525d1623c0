package jobs

// Freeze ends the renewing of the lease, as a killed process does: the node
// neither is heard of again nor gives anything back.
func (n *Node) Freeze() {
	n.stop()
	<-n.done
}

package jobs

// Freeze stops the renewal of the lease without releasing claims, like a killed process.
func (n *Node) Freeze() {
	n.stop()
	<-n.done
}

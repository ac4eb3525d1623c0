//go:build !linux

package ops

// Other systems are left to take pages back as they need them.
func dropProgramPages() {}

func dropPages(string, bool) {}

func mappedBytes() int { return 0 }

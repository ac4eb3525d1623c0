package main

import "syscall"

// cpuSeconds returns the processor time of this process and of the programs that
// it ran.
func cpuSeconds() float64 {
	seconds := 0.0
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			seconds += float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
		}
	}
	return seconds
}

// peakMemory returns the largest resident sizes of this process and of one
// program that it ran, in MB.
func peakMemory() (own, children int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		own = u.Maxrss / 1024
	}
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) == nil {
		children = u.Maxrss / 1024
	}
	return own, children
}

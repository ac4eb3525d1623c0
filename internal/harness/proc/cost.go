package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Memory is the memory of a process, in bytes.
type Memory struct {
	Now  int64 // resident set
	Peak int64 // its highest value since the process began, or since ResetPeak
}

// Memory reads the running process's resident set from /proc.
func (s *Server) Memory() (Memory, error) {
	if s.cmd == nil {
		return Memory{}, os.ErrProcessDone
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return Memory{}, fmt.Errorf("proc: %w", err)
	}
	var m Memory
	for line := range strings.Lines(string(text)) {
		// "VmHWM:     12345 kB"
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			continue // a line of another kind
		}
		switch fields[0] {
		case "VmRSS:":
			m.Now = kib << 10
		case "VmHWM:":
			m.Peak = kib << 10
		}
	}
	return m, nil
}

// ResetPeak sets the peak to the memory that the process uses now.
func (s *Server) ResetPeak() error {
	if s.cmd == nil {
		return os.ErrProcessDone
	}
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.cmd.Process.Pid), []byte("5"), 0)
}

// CPU returns the processor time that the running process has used.
func (s *Server) CPU() (time.Duration, error) {
	if s.cmd == nil {
		return 0, os.ErrProcessDone
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("proc: %w", err)
	}
	// The second field is the name in parentheses; utime and stime are the 12th
	// and 13th behind it, in ticks of 1/100 s.
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("proc: /proc/%d/stat has %d fields", s.cmd.Process.Pid, len(fields))
	}
	user, userErr := strconv.ParseInt(fields[11], 10, 64)
	system, systemErr := strconv.ParseInt(fields[12], 10, 64)
	if userErr != nil || systemErr != nil {
		return 0, fmt.Errorf("proc: /proc/%d/stat does not read as numbers", s.cmd.Process.Pid)
	}
	return time.Duration(user+system) * 10 * time.Millisecond, nil
}

// Machine is the processor time of all cores since the machine started, in
// ticks of 1/100 s.
type Machine struct{ busy, total int64 }

// ReadMachine reads the machine's processor times from /proc/stat.
func ReadMachine() (Machine, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Machine{}, fmt.Errorf("proc: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	var m Machine
	for i, field := range strings.Fields(first)[1:] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return Machine{}, fmt.Errorf("proc: /proc/stat: %w", err)
		}
		if i >= 8 { // guest time is part of user time
			break
		}
		m.total += ticks
		if i != 3 && i != 4 { // idle, waiting for the disk
			m.busy += ticks
		}
	}
	return m, nil
}

// Others returns the share of the machine's processor time, 0 to 1, that other processes
// used between m and now. own is the time that our processes used. A high share means
// that a figure measured in this time is too low.
func (m Machine) Others(now Machine, own time.Duration) float64 {
	total := float64(now.total - m.total)
	if total <= 0 {
		return 0
	}
	ownTicks := own.Seconds() * 100
	return max(0, float64(now.busy-m.busy)-ownTicks) / total
}

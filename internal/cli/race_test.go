//go:build race

package cli

// reportMemory is the memory for reading reports in scripts. The race detector reserves
// many times the default.
const reportMemory = "64GiB"

//go:build !race

package cli

// reportMemory is the memory for reading reports in scripts: the default.
const reportMemory = "1536MiB"

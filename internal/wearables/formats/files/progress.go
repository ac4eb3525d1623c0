package files

// Progress is the progress of an import.
type Progress struct {
	Step            Step
	Done, Total     int64 // bytes of the document, uncompressed
	Records         int64 // read
	Skipped         int64 // of them, not kept
	Days, TotalDays int64 // summarised
}

// Step names the current step of an import.
type Step string

// The steps, in order.
const (
	Reading     Step = "reading"
	Summarising Step = "summarising"
)

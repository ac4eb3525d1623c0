package files

// Progress tells how far an import is.
type Progress struct {
	Step            Step
	Done, Total     int64 // bytes of the document, uncompressed
	Records         int64 // read
	Skipped         int64 // of them, not kept
	Days, TotalDays int64 // summarised
}

// Step names what an import is doing.
type Step string

// The steps, in order.
const (
	Reading     Step = "reading"
	Summarising Step = "summarising"
)

package aggregate

// Fit, FewSamples and DayUS are for tests that store data: they import package ingest,
// which imports this package.
var Fit = fit

const (
	FewSamples = fewSamples
	DayUS      = dayUS
)

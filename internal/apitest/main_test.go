package apitest

import (
	"flag"
	"os"
	"testing"
)

// checkCount is the number of requests that are drawn for each operation on each engine.
// They differ in every run, so repeated runs find more. `make truth` draws many in one
// run.
const checkCount = "25"

func TestMain(m *testing.M) {
	for _, add := range []func(){
		addSummaryBodies,
		addPushBodies,
		addAggregationBodies,
		addReprocessingValues,
		addCatalogueBodies,
		addAppointmentBodies,
		addReportBodies,
		addOrderBodies,
		addResultValues,
		addUnmatchedBodies,
	} {
		add()
	}
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		setFlag("rapid.checks", checkCount)
	}
	// A failure prints its curl command. rapid's file with the draws is not needed, and
	// could be committed by mistake.
	setFlag("rapid.nofailfile", "true")
	os.Exit(m.Run())
}

func setFlag(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}

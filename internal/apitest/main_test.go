package apitest

import (
	"flag"
	"os"
	"testing"
)

// checkCount is the number of requests that are drawn for each operation on each engine,
// and checkSeed starts the draws. So a run repeats the draws of the previous one, and a
// failure has its cause in the change. `make truth` draws many requests, others each time.
const checkCount, checkSeed = "25", "1"

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
		setFlag("rapid.seed", checkSeed)
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

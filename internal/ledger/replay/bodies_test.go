package replay

import (
	"testing"

	"hale/internal/ledger"
)

func TestABodyOfSeveralSeriesIsReadAgain(t *testing.T) {
	batch, err := batchOf(&ledger.Payload{Kind: ledger.Series}, []byte(`{"stage":"historical","provider":"health_connect","series":{
		"heartrate":[{"timestamp":"2026-03-01T10:00:00Z","value":61}],
		"body_weight":[{"timestamp":"2026-03-01T10:00:00Z","value":80000,"unit":"g"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if s := batch.Samples; batch.Provider != "health_connect" || len(s) != 2 || s[0].Resource != "heartrate" || s[1].Resource != "body_weight" || s[1].Value[0] != 80 {
		t.Errorf("%+v", batch)
	}
	if _, err := batchOf(&ledger.Payload{Kind: ledger.Series}, []byte(`{"series":[]}`)); err == nil {
		t.Error("what is no body was read")
	}
}

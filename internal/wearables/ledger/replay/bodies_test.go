package replay

import (
	"testing"

	"hale/internal/wearables/ledger"
)

func TestABodyOfSeveralSeriesIsReprocessed(t *testing.T) {
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

// The further words of samples are in the stored bodies, also in those from before the
// words were read.
func TestWordsOfStoredBodiesAreRead(t *testing.T) {
	const list = `"insulin_injection":[{"timestamp":"2026-03-01T10:00:00Z","value":4,"type":"rapid_acting","delivery_mode":"bolus"}]`
	for kind, body := range map[string]string{ledger.Series: `"series":{` + list + `}`, ledger.Samples: `"data"` + list[len(`"insulin_injection"`):]} {
		p := ledger.Payload{Kind: kind, Resource: "insulin_injection"}
		batch, err := batchOf(&p, []byte(`{"stage":"daily","provider":"health_connect",`+body+`}`))
		if err != nil || len(batch.Samples) != 1 || batch.Samples[0].Extra != "bolus,," {
			t.Errorf("%s: %+v, %v", kind, batch, err)
		}
		if p.Mapping, p.Kind = 1, kind; !p.Stale() {
			t.Errorf("%s are not read again", kind)
		}
	}
}

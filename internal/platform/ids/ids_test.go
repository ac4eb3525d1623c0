package ids

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
)

type thing struct{}

func TestAnIDComesBackAsItWas(t *testing.T) {
	id := FromUUID[thing](uuid.New())
	text, err := json.Marshal(id)
	if err != nil {
		t.Fatal(err)
	}
	var back ID[thing]
	if err := json.Unmarshal(text, &back); err != nil || back != id {
		t.Errorf("%s came back as %s: %v", id, back, err)
	}
	value, err := id.Value()
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]any{"bytes": value, "text": id.String(), "array": [16]byte(id)} {
		var scanned ID[thing]
		if err := scanned.Scan(src); err != nil || scanned != id {
			t.Errorf("%s: %s, %v", name, scanned, err)
		}
	}
}

// uuid.Parse accepts several spellings. Parse accepts one, so that ids can be compared
// as text.
func TestOneSpelling(t *testing.T) {
	const good = "01a1f978-3259-7888-b4d0-3d671c06b4a1"
	for text, ok := range map[string]bool{
		good: true, "{" + good + "}": false, "urn:uuid:" + good: false, "01a1f97832597888b4d03d671c06b4a1": false,
		"": false, "01a1f978-3259-7888-b4d0-3d671c06b4ag": false,
	} {
		if _, err := Parse[thing](text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

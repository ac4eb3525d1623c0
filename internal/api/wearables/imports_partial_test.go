package wearables_test

import (
	"bytes"
	"fmt"
	"testing"

	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
)

// A beginning sent again under its Idempotency-Key is answered with how the
// upload is by then; where that is gone, another one is begun.
func TestAnUploadInPartsBeginsUnderAKey(t *testing.T) {
	var file bytes.Buffer
	if _, err := applehealthtest.Write(&file, applehealthtest.Options{Days: 1}); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newImportServer(t, db)
		path := "/v2/user/" + d.user.ID.String() + "/uploads"
		body := []byte(fmt.Sprintf(`{"size":%d}`, len(whole)))
		begin := func(offset int) map[string]any {
			t.Helper()
			status, got := d.call("POST", path, body, "Idempotency-Key", "upload-1", "Content-Type", "application/json")
			if status != 201 || got["offset"] != float64(offset) {
				t.Fatalf("%d %v, want offset %d", status, got, offset)
			}
			return got
		}
		send := func(id any, from, to int) map[string]any {
			t.Helper()
			status, got := d.call("PATCH", path+"/"+id.(string), whole[from:to], "Upload-Offset", fmt.Sprint(from), "Content-Type", "application/offset+octet-stream")
			if status/100 != 2 {
				t.Fatalf("%d %v", status, got)
			}
			return got
		}
		first := begin(0)
		if again := begin(0); again["id"] != first["id"] {
			t.Errorf("%v, then %v", first, again)
		}
		send(first["id"], 0, 100)
		if again := begin(100); again["id"] != first["id"] {
			t.Errorf("%v, then %v", first, again)
		}
		if status, got := d.call("POST", path, []byte(`{"size":5}`), "Idempotency-Key", "upload-1", "Content-Type", "application/json"); status != 409 {
			t.Errorf("another upload under the key: %d %v", status, got)
		}
		d.call("DELETE", path+"/"+first["id"].(string), nil)
		second := begin(0)
		if second["id"] == first["id"] {
			t.Errorf("%v is gone", first)
		}
		made := send(second["id"], 0, len(whole))["import"].(map[string]any)
		if again := begin(len(whole)); again["id"] != second["id"] || again["import"].(map[string]any)["id"] != made["id"] {
			t.Errorf("%v, made %v", again, made)
		}
	})
}

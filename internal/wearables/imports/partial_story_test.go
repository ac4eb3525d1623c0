package imports_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"hale/internal/platform/store/storetest"
)

// A file is sent in two parts over HTTP; the sender who missed the last answer
// asks and finds the import.
func TestStoryOfAnUploadInParts(t *testing.T) {
	data := export(t, 1)
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		base := "/v2/user/" + s.user + "/uploads"
		var up struct {
			ID     string
			Offset int
			Import *struct{ ID, Kind string }
		}
		send := func(offset int, part []byte) int {
			t.Helper()
			status, body := s.Call("PATCH", base+"/"+up.ID, string(part), "Upload-Offset", fmt.Sprint(offset), "Content-Type", "application/offset+octet-stream")
			if status < 300 {
				if err := json.Unmarshal(body, &up); err != nil {
					t.Fatalf("%s: %v", body, err)
				}
			}
			return status
		}
		s.Expect(201, "POST", base, fmt.Sprintf(`{"size":%d,"sha256":"%s"}`, len(data), sumOf(data)), &up)
		if status := send(0, data[:100]); status != http.StatusOK || up.Offset != 100 || up.Import != nil {
			t.Fatalf("the first part: %d %+v", status, up)
		}
		if status := send(0, data); status != http.StatusConflict {
			t.Errorf("from the beginning again: %d", status)
		}
		if status := send(-1, data); status != http.StatusUnprocessableEntity {
			t.Errorf("before the beginning: %d", status)
		}
		other := s.NewTeam("Other")
		if status, _ := other.Call("GET", base+"/"+up.ID, ""); status != http.StatusNotFound {
			t.Errorf("another team: %d", status)
		}
		if status := send(100, data[100:]); status != http.StatusAccepted || up.Import == nil || up.Import.Kind != "apple_health" {
			t.Fatalf("the last part: %d %+v", status, up)
		}
		first := up.Import.ID
		if s.Get(base+"/"+up.ID, &up); up.Import == nil || up.Import.ID != first || up.Offset != len(data) {
			t.Errorf("afterwards %+v", up)
		}
		if status := send(len(data), nil); status != http.StatusAccepted || up.Import.ID != first {
			t.Errorf("the last part again: %d %+v", status, up)
		}
		s.Expect(200, "DELETE", base+"/"+up.ID, "", nil)
		if status, _ := s.Call("GET", base+"/"+up.ID, ""); status != http.StatusNotFound {
			t.Errorf("given up: %d", status)
		}
	})
}

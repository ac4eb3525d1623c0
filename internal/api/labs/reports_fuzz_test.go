package labs

import (
	"bytes"
	"net/http"
	"testing"

	"hale/internal/labs/reports"
	"hale/internal/platform/fault"
)

// No body makes the reading of an upload panic, exceed its limits or fail without a
// reason for the caller.
func FuzzReportUpload(f *testing.F) {
	const boundary = "b"
	part := func(head, body string) string {
		return "--" + boundary + "\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n"
	}
	const user = "019f0000-0000-7000-8000-000000000000"
	f.Add([]byte(part(`name="user_id"`, user) + part("name=\"file\"; filename=\"r\"\r\nContent-Type: application/pdf", "%PDF-1.4") + "--b--\r\n"))
	f.Add([]byte(part(`name="file"; filename="r"`, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00") + part(`name="user_id"`, user) + "--b--"))
	f.Add([]byte(part(`name="file"`, "\xff\xd8\xff\xc0\x00\x11\x08") + part(`name="needs_human_review"`, "yes")))
	f.Add([]byte("--b"))
	limits := reports.Limits{MaxBytes: 4096, MaxFiles: 3, MaxPages: 3, MaxPixels: 1 << 20}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := http.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
		up, err := readReportUpload(r, limits)
		if err == nil {
			err = limits.Check(up.files, up.declared)
		}
		if err != nil {
			if fault.KindOf(err) == fault.Internal {
				t.Fatalf("an error without a reason: %v", err)
			}
			return
		}
		size := 0
		for _, file := range up.files {
			size += len(file.Data)
			if file.Type != reports.PDF && file.Type != reports.JPEG && file.Type != reports.PNG {
				t.Errorf("accepted a file of type %q", file.Type)
			}
		}
		if int64(size) > limits.MaxBytes || len(up.files) > limits.MaxFiles || up.user.IsZero() {
			t.Errorf("accepted %d files of %d bytes", len(up.files), size)
		}
	})
}

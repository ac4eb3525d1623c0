package app_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// reportForm returns a multipart body and its content type.
func reportForm(t *testing.T, user, declared, content string, fields ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i+1 < len(fields); i += 2 {
		if err := w.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if user != "" {
		if err := w.WriteField("user_id", user); err != nil {
			t.Fatal(err)
		}
	}
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="r.pdf"`}, "Content-Type": {declared},
	})
	if err == nil {
		_, err = io.WriteString(part, content)
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

const parserJobs = "/lab_report/v1/parser/job"

// A report from the upload to the user's results, over a review.
func TestReportFromUploadToResults(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		var user struct {
			UserID string `json:"user_id"`
		}
		s.Expect(200, "POST", "/v2/user", `{"client_user_id":"ada"}`, &user)
		send := func(status int, user, declared, content string, fields ...string) string {
			t.Helper()
			body, kind := reportForm(t, user, declared, content, fields...)
			got, answer := s.Call("POST", parserJobs, body, "Content-Type", kind, "Idempotency-Key", "key-"+content[:8]+content[len(content)-3:]+user+declared)
			if got != status {
				t.Fatalf("an upload was answered %d, not %d: %s", got, status, answer)
			}
			return string(answer)
		}
		send(422, "", "application/pdf", "%PDF-1.4")
		send(422, "x", "application/pdf", "%PDF-1.4")
		send(400, user.UserID, "image/png", "%PDF-1.4")
		send(413, user.UserID, "application/pdf", "%PDF-1.4"+strings.Repeat(" ", 10_000_000))
		send(404, "019f0000-0000-7000-8000-000000000000", "application/pdf", "%PDF-1.4")
		first := send(200, user.UserID, "application/pdf", "%PDF-1.4 one", "needs_human_review", "true")
		if again := send(200, user.UserID, "application/pdf", "%PDF-1.4 one", "needs_human_review", "true"); again != first {
			t.Errorf("a repeated upload was answered\n%s\n%s", again, first)
		}
		var job struct {
			ID, Status string
			Data       *struct{ Results []struct{ Value string } }
			Reviewed   bool `json:"is_reviewed"`
		}
		if err := json.Unmarshal([]byte(first), &job); err != nil {
			t.Fatal(err)
		}
		path := parserJobs + "/" + job.ID
		for end := time.Now().Add(90 * time.Second); job.Status == "started" && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			s.Get(path, &job)
		}
		if job.Status != "pending_review" || job.Data != nil {
			t.Fatalf("the job is %+v", job)
		}
		var none struct{ Results []any }
		s.Get("/v2/user/"+user.UserID+"/lab_results", &none)
		if len(none.Results) != 0 {
			t.Errorf("results before the review: %v", none)
		}
		var list struct{ Data []struct{ ID string } }
		s.Get(parserJobs+"?status=pending_review", &list)
		setCompat := func(on bool) {
			t.Helper()
			ctx := store.AsSystem(t.Context())
			err := s.DB.Write(ctx, func(tx *store.Tx) error {
				all, err := teams.List(ctx, tx)
				if err != nil {
					return err
				}
				all[0].Settings.ReferenceCompat = on
				return teams.Update(ctx, tx, all[0])
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, query := range []string{"?status=started", "?status=started&user_id=" + user.UserID, "?status=pending_review"} {
			var shown struct{ Data []struct{ ID, Status string } }
			setCompat(true)
			s.Get(parserJobs+query, &shown)
			if len(shown.Data) != 1 || shown.Data[0].Status != "started" {
				t.Errorf("%s with reference_compat lists %+v", query, shown.Data)
			}
			setCompat(false)
			shown.Data = nil
			s.Get(parserJobs+query, &shown)
			if wanted := strings.Contains(query, "pending_review"); wanted != (len(shown.Data) == 1) {
				t.Errorf("%s lists %+v", query, shown.Data)
			}
		}
		var review struct {
			Revision int
			Patient  struct {
				Match    string
				Reported []struct{}
			}
			Data  struct{ Results []struct{ Row int } }
			Pages []struct{ Image string }
		}
		s.Get(path+"/review", &review)
		if len(list.Data) != 1 || review.Revision != 1 || len(review.Data.Results) != 2 || len(review.Pages) != 1 || review.Patient.Match == "" {
			t.Fatalf("the review is %+v", review)
		}
		if status, picture := s.Call("GET", review.Pages[0].Image, ""); status != 200 || !bytes.HasPrefix(picture, []byte("\xff\xd8")) {
			t.Errorf("the page is %d %q", status, picture)
		}
		s.Expect(404, "GET", path+"/page/2", "", nil)
		s.Expect(422, "POST", path+"/review", `{"decision":"maybe","reviewer":"Jo"}`, nil)
		s.Expect(409, "POST", path+"/review", `{"decision":"accept","reviewer":"Jo","revision":9}`, nil)
		s.Expect(200, "POST", path+"/review", `{"decision":"accept","reviewer":"Jo","revision":1,"corrections":[{"row":0,"value":"92"}]}`, &job)
		if job.Status != "completed" || !job.Reviewed || job.Data == nil || job.Data.Results[0].Value != "92" {
			t.Errorf("after the review the job is %+v", job)
		}
		checkResultsOfReport(t, s, user.UserID, job.ID)
	})
}

// checkResultsOfReport reads the results of a user as JSON and as FHIR.
func checkResultsOfReport(t *testing.T, s *apptest.Service, user, job string) {
	t.Helper()
	var all struct {
		Results []struct {
			Name, Result string
			Origin       struct {
				Kind  string
				JobID string `json:"job_id"`
			}
		}
	}
	s.Get("/v2/user/"+user+"/lab_results", &all)
	if len(all.Results) != 2 || all.Results[0].Result != "92" || all.Results[0].Origin.Kind != "report" || all.Results[0].Origin.JobID != job {
		t.Errorf("the results are %+v", all)
	}
	res := s.Do(http.MethodGet, "/v2/user/"+user+"/lab_results/fhir", "")
	defer res.Body.Close()
	bundle, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("the bundle is %d %s: %v", res.StatusCode, bundle, err)
	}
	for _, word := range []string{`"resourceType":"DiagnosticReport"`, `"source":"urn:uuid:` + job + `"`, `"code":"parsed-report"`, `"code":"2345-7"`, `"value":92`} {
		if !strings.Contains(string(bundle), word) {
			t.Errorf("the bundle has no %s: %.1500s", word, bundle)
		}
	}
}

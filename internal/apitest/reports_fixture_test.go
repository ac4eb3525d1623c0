package apitest

import (
	"net/http"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

const parserJobs = "/lab_report/v1/parser/job"

// reportForm returns a multipart body with a report of a user. Different contents are
// different jobs.
func reportForm(user, content string) string {
	part := func(head, body string) string {
		return "--" + formBoundary + "\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n"
	}
	return part(`name="user_id"`, user) +
		part("name=\"file\"; filename=\"report.pdf\"\r\nContent-Type: application/pdf", "%PDF-1.4 "+content) +
		"--" + formBoundary + "--\r\n"
}

func addReportBodies() {
	validBodies["POST "+parserJobs] = reportForm("$user_id", "one")
	validBodies["POST "+parserJobs+"/{job_id}/review"] = `{"decision":"accept","reviewer":"Jo"}`
	for _, operation := range []string{"GET " + parserJobs + "/{job_id}", "GET " + parserJobs + "/{job_id}/review", "POST " + parserJobs + "/{job_id}/review", "GET " + parserJobs + "/{job_id}/page/{page}"} {
		valuesByOperation[operation] = map[string]string{"job_id": "report_id"}
	}
}

// report uploads a report and waits until it is read.
func (s *service) report(t *testing.T, f *fixture) {
	t.Helper()
	f.ids["report_id"] = s.uploadReport(t, f.ids["user_id"], "of the fixture")
}

func (s *service) uploadReport(t *testing.T, user, content string) (id string) {
	t.Helper()
	got := s.send(t, reportRequest(user, content), s.Key)
	if got.status != http.StatusOK {
		t.Fatalf("a report was answered %d: %s", got.status, got.body)
	}
	id, _ = mustDecode(t, string(got.body)).(map[string]any)["id"].(string)
	waitUntil(t, "the report", func() bool { return s.requestField(t, "GET", parserJobs+"/"+id, "", "status") != "started" })
	return id
}

func reportRequest(user, content string) request {
	return request{
		method: "POST", path: parserJobs, body: []byte(reportForm(user, content)),
		headers: map[string]string{"content-type": "multipart/form-data; boundary=" + formBoundary},
	}
}

// A report for another team's user is refused like one for an unknown user.
func TestReportOfAnotherTeamsUser(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	theirs := s.requestField(t, "POST", "/v2/user", `{"client_user_id":"theirs"}`, "user_id")
	us := s.newTeam("Us")
	foreign := us.send(t, reportRequest(theirs, "x"), us.Key)
	unknown := us.send(t, reportRequest(unknownLike(theirs), "x"), us.Key)
	if foreign.status != http.StatusNotFound || string(foreign.body) != strings.ReplaceAll(string(unknown.body), unknownLike(theirs), theirs) {
		t.Errorf("another team's user was answered %d %s, an unknown one %d %s", foreign.status, foreign.body, unknown.status, unknown.body)
	}
}

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/labs/reports"
)

const (
	reportJobs   = "/lab_report/v1/parser/job"
	listsReports = "hale reports list shows all reports"
)

func (s *shell) reportsCommand() *cobra.Command {
	review := noun(&cobra.Command{
		Use: "review", Short: "correct, accept or reject reports that wait for a person",
		Long: `Correct, accept or reject reports that wait for a person. A report waits when the
team asked for a review, when it names another patient than the user, or when it
contradicts a stored result. The first reading and each decision are kept.`,
		Example: examples("hale reports review list", "hale reports review show REPORT", "hale reports review page REPORT 1 --out page.jpg",
			"hale reports review accept REPORT --set 3.value=5.9", "hale reports review reject REPORT --note 'another patient'"),
	}, s.reportReviewList(), s.reportReviewShow(), s.reportReviewPage(), s.reportDecision(reports.Accept), s.reportDecision(reports.Reject))
	return s.calls(noun(&cobra.Command{
		Use: "reports", Short: "upload lab reports, and review what was read",
		Long: `Upload lab reports as PDF, JPEG or PNG files, and review what was read. See
hale docs reports.`,
		Example:     examples("hale reports upload report.pdf --user anna", "hale reports show REPORT", "hale reports review list"),
		Annotations: map[string]string{absentHint: listsReports},
	}, s.reportsUpload(), s.reportsList(), s.reportsShow(), review))
}

// reportPath checks the id of a report and returns its path with further segments.
func reportPath(text string, more ...string) (string, error) {
	id, err := idArg[reports.Job]("REPORT", "a report", text, listsReports)
	return reportJobs + client.Path(append([]string{id.String()}, more...)...), err
}

var reportColumns = []column{
	{"report", "id"},
	{"user", "user_id"},
	{"status", "status"},
	{"reasons", "review_reasons"},
	{"pages", "pages"},
	{"failure", "failure_message"},
	{"created", "created_at"},
}

var (
	reportsView = view{list: "data", id: "id", columns: reportColumns, none: "no reports"}
	reportView  = view{id: "id", columns: reportColumns}
	personsView = view{columns: []column{
		{"person", "source"},
		{"first name", "first_name"},
		{"last name", "last_name"},
		{"birth date", "dob"},
		{"sex", "gender"},
	}}
	rowsView = view{id: "row", columns: []column{
		{"row", "row"},
		{"name", "test_name"},
		{"value", "value"},
		{"units", "units"},
		{"range", "reference_range"},
		{"flag", "source_flag"},
		{"loinc", "loinc"},
		{"page", "page"},
		{"needs review", "review_reasons"},
	}, none: "no results"}
)

func (s *shell) reportsUpload() *cobra.Command {
	var owner string
	var review, noWait bool
	c := &cobra.Command{
		Use: "upload FILE…", Short: "upload a report: one PDF file, or its pages as images",
		Example: examples("hale reports upload report.pdf --user anna", "hale reports upload page1.jpg page2.jpg --user anna --review"),
		Args:    wantArgs("FILE…"),
		RunE: func(c *cobra.Command, args []string) error {
			if owner == "" {
				return badUsagef("needs --user, a user_id or client_user_id")
			}
			_, id, err := s.findUser(c.Context(), owner)
			if err != nil {
				return err
			}
			body, err := s.uploadReport(c.Context(), id, review, args)
			if err != nil {
				return err
			}
			if noWait {
				return s.show(reportView, body)
			}
			if body, err = s.awaitReport(c.Context(), body); err != nil {
				return err
			}
			if err := s.show(reportView, body); err != nil {
				return err
			}
			return outcomeOfReading(body)
		},
	}
	c.Flags().StringVar(&owner, "user", "", "the user of the report: user_id or client_user_id")
	c.Flags().BoolVar(&review, "review", false, "a person must accept the results")
	c.Flags().BoolVar(&noWait, "no-wait", false, "exit after the upload")
	return c
}

// uploadReport sends files as a form.
func (s *shell) uploadReport(ctx context.Context, owner string, review bool, files []string) (json.RawMessage, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	if err := w.WriteField("user_id", owner); err != nil {
		return nil, err
	}
	if err := w.WriteField("needs_human_review", strconv.FormatBool(review)); err != nil {
		return nil, err
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		// The name of the file may contain a person's name, so it is not sent.
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="file"; filename="report` + strings.ToLower(filepath.Ext(name)) + `"`},
			"Content-Type":        {http.DetectContentType(data)},
		})
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	return c.Call(ctx, client.Request{
		Method: http.MethodPost, Path: reportJobs, Raw: &form, Length: int64(form.Len()),
		Header: http.Header{"Content-Type": {w.FormDataContentType()}},
	})
}

// awaitReport polls a job until the report is read.
func (s *shell) awaitReport(ctx context.Context, body json.RawMessage) (json.RawMessage, error) {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		var job struct{ ID, Status string }
		if err := json.Unmarshal(body, &job); err != nil {
			return nil, err
		}
		if job.Status != string(reports.Started) {
			return body, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		path, err := reportPath(job.ID)
		if err != nil {
			return nil, err
		}
		if body, err = s.call(ctx, http.MethodGet, path, nil, nil); err != nil {
			return nil, err
		}
	}
}

// outcomeOfReading returns an error with the reason if the report could not be read.
func outcomeOfReading(body json.RawMessage) error {
	var job struct {
		Status string
		Reason string `json:"failure_message"`
	}
	if err := json.Unmarshal(body, &job); err != nil {
		return err
	}
	if job.Status == string(reports.Failed) {
		return outcome("reading of the report", job.Status, job.Reason)
	}
	return nil
}

func (s *shell) reportsList() *cobra.Command {
	var status, owner string
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "list reports, newest first",
		Example: examples("hale reports list", "hale reports list --status failed", "hale reports list --user anna"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			setIf(query, "status", status)
			if owner != "" {
				_, id, err := s.findUser(c.Context(), owner)
				if err != nil {
					return err
				}
				query.Set("user_id", id)
			}
			return s.showGet(c.Context(), reportsView, reportJobs, query)
		},
	}
	c.Flags().StringVar(&status, "status", "", "only reports with this status: started, pending_review, completed or failed")
	c.Flags().StringVar(&owner, "user", "", "only reports of this user: user_id or client_user_id")
	c.Flags().IntVar(&limit, "limit", 50, "number of items, at most 500")
	return c
}

func (s *shell) reportsShow() *cobra.Command {
	return &cobra.Command{
		Use: "show REPORT", Short: "show a report, with its results as -o json",
		Example: examples("hale reports show REPORT", "hale reports show REPORT -o json"),
		Args:    wantArgs("REPORT"),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := reportPath(args[0])
			if err != nil {
				return err
			}
			return s.showGet(c.Context(), reportView, path, nil)
		},
	}
}

func (s *shell) reportReviewList() *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "list", Short: "list reports that wait for a person, newest first",
		Example: examples("hale reports review list", "hale reports review list -o id"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			query := url.Values{"limit": {strconv.Itoa(limit)}, "status": {string(reports.PendingReview)}}
			return s.showGet(c.Context(), reportsView, reportJobs, query)
		},
	}
	c.Flags().IntVar(&limit, "limit", 50, "number of items, at most 500")
	return c
}

func (s *shell) reportReviewShow() *cobra.Command {
	return &cobra.Command{
		Use: "show REPORT", Short: "show the person, the decisions and the results of a report; pages and changes as -o json",
		Example: examples("hale reports review show REPORT", "hale reports review show REPORT -o json"),
		Args:    wantArgs("REPORT"),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := reportPath(args[0], "review")
			if err != nil {
				return err
			}
			body, err := s.call(c.Context(), http.MethodGet, path, nil, nil)
			if err != nil || s.format == formatJSON {
				return orElse(err, func() error { return s.show(reportView, body) })
			}
			if s.format == formatTable {
				if err := s.showReportPatient(body); err != nil {
					return err
				}
			}
			rows, err := rowsOfReview(body)
			if err != nil {
				return err
			}
			return s.showValue(rowsView, rows)
		},
	}
}

// showReportPatient prints the user next to the persons on the report, and the facts that
// differ.
func (s *shell) showReportPatient(body []byte) error {
	type person struct {
		Source    string  `json:"source"`
		FirstName *string `json:"first_name"`
		LastName  *string `json:"last_name"`
		BirthDate *string `json:"dob"`
		Gender    *string `json:"gender"`
	}
	var review struct {
		Patient struct {
			Problems []string `json:"problems"`
			User     person   `json:"user"`
			Reported []person `json:"reported"`
		} `json:"patient"`
		Job struct {
			Reasons []string `json:"review_reasons"`
		} `json:"job"`
		Revision  int `json:"revision"`
		Revisions []struct {
			Revision  int       `json:"revision"`
			CreatedAt time.Time `json:"created_at"`
			Reviewer  *string   `json:"reviewer"`
			Decision  *string   `json:"decision"`
			Note      *string   `json:"note"`
		} `json:"revisions"`
	}
	if err := json.Unmarshal(body, &review); err != nil {
		return err
	}
	p := review.Patient
	p.User.Source = "user"
	persons := []person{p.User}
	for _, one := range p.Reported {
		one.Source = "report"
		persons = append(persons, one)
	}
	if err := s.showValue(personsView, persons); err != nil {
		return err
	}
	if len(p.Problems) > 0 {
		fmt.Fprintf(s.out, "differs: %s; if it is the same person, accept with --confirm-identity\n", strings.Join(p.Problems, ", "))
	}
	if len(review.Job.Reasons) > 0 {
		fmt.Fprintf(s.out, "waits for: %s\n", strings.Join(review.Job.Reasons, ", "))
	}
	for _, r := range review.Revisions {
		if r.Decision != nil {
			fmt.Fprintf(s.out, "revision %d: %s by %s at %s %s\n", r.Revision, *r.Decision, orEmpty(r.Reviewer), r.CreatedAt.Format(time.RFC3339), orEmpty(r.Note))
		}
	}
	fmt.Fprintf(s.out, "revision of the results below: %d\n", review.Revision)
	fmt.Fprintln(s.out)
	return nil
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// orElse returns err unless it is nil, and otherwise the result of fn.
func orElse(err error, fn func() error) error {
	if err != nil {
		return err
	}
	return fn()
}

// rowsOfReview returns the results of a report with their best LOINC code.
func rowsOfReview(body []byte) ([]map[string]any, error) {
	var whole struct {
		Data struct {
			Results []map[string]any `json:"results"`
		} `json:"data"`
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&whole); err != nil {
		return nil, err
	}
	for _, row := range whole.Data.Results {
		row["loinc"] = nil
		if matches, _ := row["loinc_matches"].([]any); len(matches) > 0 {
			if best, ok := matches[0].(map[string]any); ok {
				row["loinc"] = best["loinc_code"]
			}
		}
	}
	return whole.Data.Results, nil
}

func (s *shell) reportReviewPage() *cobra.Command {
	var out string
	var plain bool
	c := &cobra.Command{
		Use: "page REPORT PAGE", Short: "save the image of a page, with a box around each result",
		Long: `Save the image of a page as a JPEG, with a box around each result. The box is red if a
person should compare the result with the report. Otherwise it is green.`,
		Example: examples("hale reports review page REPORT 1 --out page.jpg", "hale reports review page REPORT 2 --plain --out page.jpg"),
		Args:    wantArgs("REPORT", "PAGE"),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return badUsagef("needs --out, the file to write; - writes to standard output")
			}
			path, err := reportPath(args[0], "page", args[1])
			if err != nil {
				return err
			}
			return s.savePage(c.Context(), path, url.Values{"boxes": {strconv.FormatBool(!plain)}}, out)
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write; - writes to standard output")
	c.Flags().BoolVar(&plain, "plain", false, "draw no boxes")
	return c
}

func (s *shell) savePage(ctx context.Context, path string, query url.Values, out string) error {
	server, err := s.client()
	if err != nil {
		return err
	}
	answer, err := server.Send(ctx, client.Request{
		Method: http.MethodGet, Path: path, Query: query, Header: http.Header{"Accept": {reports.JPEG}}, Timeout: 2 * time.Minute,
	})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	picture, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if err := client.Refusal(answer, picture); err != nil {
		return err
	}
	if out == "-" {
		_, err = s.out.Write(picture)
		return err
	}
	if err := os.WriteFile(out, picture, 0o600); err != nil {
		return err
	}
	s.sayDone("%s has the page", out)
	return nil
}

// reportDecision returns the command accept or reject.
func (s *shell) reportDecision(decision reports.Decision) *cobra.Command {
	var reviewer, note, file string
	var confirmed bool
	var sets, removed []string
	var revision int
	c := &cobra.Command{Args: wantArgs("REPORT")}
	if decision == reports.Accept {
		c.Use, c.Short = "accept REPORT", "accept the results of a report, with corrections"
		c.Long = `Accept the results of a report, with corrections. A correction is ROW.FIELD=VALUE,
where ROW is a number that review show prints and FIELD is test_name, value, units,
reference_range, min_reference_range, max_reference_range or loinc_code. --corrections
reads a file with a JSON list of corrections as the API takes them. A person who differs
from the user needs --confirm-identity. Accepting a rejected report reopens it.`
		c.Example = examples("hale reports review accept REPORT", "hale reports review accept REPORT --set 3.value=5.9 --set 3.units=mmol/L --remove 7")
		c.Flags().BoolVar(&confirmed, "confirm-identity", false, "the report is about the user although the person on it differs")
		c.Flags().StringArrayVar(&sets, "set", nil, "correct a field of a result, ROW.FIELD=VALUE; repeatable")
		c.Flags().StringArrayVar(&removed, "remove", nil, "remove the result of this row; repeatable")
		c.Flags().StringVar(&file, "corrections", "", "file with a JSON list of corrections")
	} else {
		c.Use, c.Short = "reject REPORT", "reject a report: it has no results of the user"
		c.Example = examples("hale reports review reject REPORT --note 'another patient'")
	}
	c.Flags().StringVar(&reviewer, "reviewer", "", "name of the person who decides (default: name of the account on this machine)")
	c.Flags().StringVar(&note, "note", "", "reason")
	c.Flags().IntVar(&revision, "revision", 0, "refuse if the results have changed since this revision")
	c.RunE = func(c *cobra.Command, args []string) error {
		path, err := reportPath(args[0], "review")
		if err != nil {
			return err
		}
		corrections, err := readCorrections(file, sets, removed)
		if err != nil {
			return err
		}
		decided := map[string]any{"decision": decision, "reviewer": reviewerName(reviewer), "note": note}
		if c.Flags().Changed("revision") {
			decided["revision"] = revision
		}
		if confirmed {
			decided["confirm_identity"] = true
		}
		if len(corrections) > 0 {
			decided["corrections"] = corrections
		}
		body, err := s.call(c.Context(), http.MethodPost, path, nil, decided)
		if err != nil {
			return err
		}
		s.sayDone("%sed", decision)
		return s.show(reportView, body)
	}
	return c
}

// reviewerName returns the given name, or the name of the account on this machine.
func reviewerName(given string) string {
	if given != "" {
		return given
	}
	if account, err := user.Current(); err == nil && account.Username != "" {
		return account.Username
	}
	return "unknown"
}

// readCorrections collects the corrections of a file and of flags.
func readCorrections(file string, sets, removed []string) (all []reports.Correction, err error) {
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, badUsagef("--corrections: %v", err)
		}
	}
	for _, set := range sets {
		if all, err = addCorrection(all, set); err != nil {
			return nil, err
		}
	}
	for _, text := range removed {
		row, err := strconv.Atoi(text)
		if err != nil {
			return nil, badUsagef("--remove must be the number of a row")
		}
		all = append(all, reports.Correction{Row: &row, Remove: true})
	}
	return all, nil
}

// addCorrection reads ROW.FIELD=VALUE and adds it to the correction of that row.
func addCorrection(all []reports.Correction, text string) ([]reports.Correction, error) {
	place, value, ok := strings.Cut(text, "=")
	rowText, field, ok2 := strings.Cut(place, ".")
	row, err := strconv.Atoi(rowText)
	if !ok || !ok2 || err != nil {
		return nil, badUsagef("--set must be ROW.FIELD=VALUE, such as 3.value=5.9")
	}
	var doc any = value
	if field == "min_reference_range" || field == "max_reference_range" {
		number, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, badUsagef("--set: %s must be a number", field)
		}
		doc = number
	}
	body, err := json.Marshal(map[string]any{"row": row, field: doc})
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(c reports.Correction) bool { return c.Row != nil && *c.Row == row && !c.Remove })
	if at < 0 {
		at, all = len(all), append(all, reports.Correction{})
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&all[at]); err != nil {
		return nil, badUsagef("--set: the field must be test_name, value, units, reference_range, min_reference_range, max_reference_range or loinc_code")
	}
	return all, nil
}

package labs

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/labs/fhir"
	"hale/internal/labs/identity"
	"hale/internal/labs/orders"
	"hale/internal/labs/reports"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

const parserJobs = "/lab_report/v1/parser/job"

func (h *Handlers) reportRoutes() []api.Route {
	routes := []api.Route{
		api.Stream(http.MethodPost, parserJobs, h.createReportJob, "Upload a lab report to be read", describeReportUpload).Creates().Announces("lab_report.parsing_job.*"),
		api.Get(parserJobs, h.listReportJobs, "List parsing jobs, newest first"),
		api.Get(parserJobs+"/{job_id}", h.getReportJob, "Get a parsing job and the results of its report"),
		api.Get(parserJobs+"/{job_id}/review", h.getReportReview, "Get a report for a reviewer: results with their places, and earlier decisions"),
		api.Post(parserJobs+"/{job_id}/review", h.reviewReport, "Accept the results of a report, with corrections, or reject the report").Creates().Sensitive().Announces("lab_report.parsing_job.updated"),
		api.WritesAs(api.Get(parserJobs+"/{job_id}/page/{page}", h.getReportPage, "Get the image of a page of a lab report"), reports.JPEG, &huma.Schema{Type: huma.TypeString, Format: "binary"}).Refuses("no_report_reader"),
	}
	for i := range routes {
		routes[i] = routes[i].Tag("lab_report")
	}
	return append(routes,
		api.Get("/v2/user/{user_id}/lab_results", h.listUserResults, "List all lab results of a user: of orders and of parsed reports").Tag("lab_report"),
		writesFHIR(api.Get("/v2/user/{user_id}/lab_results/fhir", h.getUserResultsFHIR, "Get all lab results of a user as a FHIR R4 bundle").Tag("lab_report")),
	)
}

func registerReportAliases(r huma.Registry) {
	alias := func(of, as reflect.Type) { r.RegisterTypeAlias(of, as) }
	alias(reflect.TypeFor[orders.Null[reports.ReportDataDocument]](), reflect.TypeFor[api.OrNull[reports.ReportDataDocument]]())
	alias(reflect.TypeFor[orders.Null[reports.ResultOriginDocument]](), reflect.TypeFor[api.OrNull[reports.ResultOriginDocument]]())
}

type reportJobBody = reports.JobDocument

// uploadOverhead is the size of a multipart body beyond its files.
const uploadOverhead = 64 << 10

// reportUpload is the content of a multipart body.
type reportUpload struct {
	files    []reports.File
	declared []string
	user     users.ID
	review   bool
}

// createReportJob stores the files and the job before it answers.
//
// Spec: Further operations. Reference 4.
func (h *Handlers) createReportJob(ctx context.Context, c api.Caller, w http.ResponseWriter, r *http.Request) error {
	var at *api.Attempt // nil without an Idempotency-Key; refusals are not replayed
	if api.HasIdempotencyKey(r) {
		var err error
		if at, err = h.NewAttempt(r, http.StatusOK); err != nil {
			return err
		}
		defer h.EndAttempt(at)
	}
	limits := h.ReportLimits
	up, err := readReportUpload(r, limits)
	if err != nil {
		return err
	}
	if err := limits.Check(up.files, up.declared); err != nil {
		return err
	}
	if at != nil {
		at.Identify(r, up.fingerprint(), up.user.UUID())
		if h.ReplayAnswer(w, r, at) {
			return nil
		}
	}
	body, err := h.storeReportJob(ctx, c, up, at)
	switch {
	case err != nil && at != nil && at.Overtaken() && h.ReplayAnswer(w, r, at):
		return nil
	case err != nil:
		return err
	case at != nil: // the sent answer equals the stored one
		at.WriteAnswer(w)
		return nil
	}
	doc, err := json.Marshal(body)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(doc) // a caller that has gone sends the file again and gets the same job
	return nil
}

func (h *Handlers) storeReportJob(ctx context.Context, c api.Caller, up *reportUpload, at *api.Attempt) (body reportJobBody, err error) {
	if at != nil {
		ctx = at.Context(ctx)
	}
	err = h.DB.Write(ctx, func(tx *store.Tx) error {
		user, err := users.Get(ctx, tx, c.Team, up.user)
		if err != nil {
			return err
		}
		audit.NotePeople(ctx, user.ID)
		j, err := reports.Create(ctx, tx, user, reports.New{Files: up.files, Review: up.review})
		if err != nil {
			return err
		}
		if body, err = reportJobBodyOf(ctx, tx, &j); err != nil {
			return err
		}
		return api.RecordAnswer(ctx, tx, body)
	})
	return body, err
}

// fingerprint identifies the request for idempotency; the boundary of a multipart body is
// another one each time.
func (u *reportUpload) fingerprint() []byte {
	return append(reports.Digest(u.files), u.user.String()+strconv.FormatBool(u.review)...)
}

// readReportUpload reads a multipart body into memory. Its size is limited.
func readReportUpload(r *http.Request, limits reports.Limits) (*reportUpload, error) {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" {
		return nil, fault.New(fault.Invalid, "Value error, the body should be multipart/form-data with the fields file and user_id").At("body", "file").WithType("missing")
	}
	body := &limitedBody{from: r.Body, left: limits.MaxBytes + uploadOverhead}
	form := multipart.NewReader(body, params["boundary"])
	up := &reportUpload{}
	var userText *string
	var size int64
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, body.problem(limits)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return nil, body.problem(limits)
		}
		switch part.FormName() {
		case "file", "file[]":
			size += int64(len(data))
			if err := limits.CheckSize(size); err != nil {
				return nil, err
			}
			if len(up.files) > limits.MaxFiles { // Check refuses it; the rest of the body is not stored
				continue
			}
			up.files = append(up.files, reports.File{Data: data})
			up.declared = append(up.declared, part.Header.Get("Content-Type"))
		case "user_id":
			text := string(data)
			userText = &text
		case "needs_human_review":
			if up.review, err = strconv.ParseBool(strings.ToLower(strings.TrimSpace(string(data)))); err != nil {
				return nil, fault.New(fault.Invalid, "Input should be a valid boolean, unable to interpret input").At("body", "needs_human_review").WithType("bool_parsing")
			}
		}
	}
	if userText == nil {
		return nil, fault.New(fault.Invalid, "Field required").At("body", "user_id").WithType("missing")
	}
	if up.user, err = ids.Parse[users.User](strings.TrimSpace(*userText)); err != nil {
		return nil, fault.New(fault.Invalid, "Input should be a valid UUID").At("body", "user_id").WithType("uuid_parsing")
	}
	return up, nil
}

// limitedBody reads a body up to a limit.
type limitedBody struct {
	from io.Reader
	left int64
}

var errBodyTooLarge = errors.New("api: the body is too large")

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errBodyTooLarge
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// problem returns the error for a body that could not be read to its end.
func (b *limitedBody) problem(limits reports.Limits) error {
	if b.left <= 0 {
		return limits.CheckSize(limits.MaxBytes + 1)
	}
	return fault.New(fault.Refused, "The multipart body could not be read to its end")
}

// reportJobBodyOf returns a job with its results.
func reportJobBodyOf(ctx context.Context, tx *store.Tx, j *reports.Job) (reportJobBody, error) {
	compat, err := teams.ReferenceCompat(ctx, tx, j.Team)
	if err != nil {
		return reportJobBody{}, err
	}
	var latest *reports.Revision
	if j.HasResults() {
		r, err := reports.Results(ctx, tx, j)
		if err != nil {
			return reportJobBody{}, err
		}
		latest = &r
	}
	return reports.DocumentOf(j, latest, compat), nil
}

// ReportJobPath is the part of an input with the id of a parsing job.
type ReportJobPath struct {
	JobID reports.ID `path:"job_id" format:"uuid"`
}

func (h *Handlers) getReportJob(ctx context.Context, c api.Caller, in *ReportJobPath) (*api.Out[reportJobBody], error) {
	var body reportJobBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		j, err := reports.Get(ctx, tx, c.Team, in.JobID)
		if err != nil {
			return err
		}
		body, err = reportJobBodyOf(ctx, tx, &j)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

// Types for the words of a report.
type (
	reportStatusWord   string
	reportDecisionWord string
)

func (reportStatusWord) Schema(huma.Registry) *huma.Schema   { return api.Enum(reports.Statuses) }
func (reportDecisionWord) Schema(huma.Registry) *huma.Schema { return api.Enum(reports.Decisions) }

type listReportJobsIn struct {
	Status []reportStatusWord `query:"status,explode" maxItems:"50"`
	UserID []api.IDText       `query:"user_id,explode" maxItems:"50"`
	Limit  int                `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor string             `query:"next_cursor" doc:"next_cursor of the previous page."`
}

type listReportJobsBody struct {
	Data       []reportJobBody `json:"data" nullable:"false" doc:"Jobs without their results. Get one job to read its results."`
	NextCursor *string         `json:"next_cursor" nullable:"true" doc:"Cursor of the next page. It is null on the last page."`
}

// reportPosition is the position of a page in the list of jobs.
type reportPosition struct {
	ID reports.ID `json:"id"`
}

func (h *Handlers) listReportJobs(ctx context.Context, c api.Caller, in *listReportJobsIn) (*api.Out[listReportJobsBody], error) {
	f := reports.Filter{Statuses: api.Words[reports.Status](in.Status), Limit: in.Limit + 1}
	var err error
	if f.Users, err = api.ParseIDs[users.User]("user_id", in.UserID); err != nil {
		return nil, err
	}
	if in.Cursor != "" {
		var after reportPosition
		if err := paging.Decode(in.Cursor, &after); err != nil {
			return nil, err
		}
		f.Before = after.ID
	}
	var body listReportJobsBody
	err = h.DB.Read(ctx, func(tx *store.Tx) error {
		body = listReportJobsBody{Data: []reportJobBody{}}
		for _, user := range f.Users {
			if err := users.Exists(ctx, tx, c.Team, user); err != nil {
				return err
			}
		}
		compat, err := teams.ReferenceCompat(ctx, tx, c.Team)
		if err != nil {
			return err
		}
		f.Compat = compat
		all, err := reports.List(ctx, tx, c.Team, f)
		if len(all) > in.Limit {
			all = all[:in.Limit]
			next := paging.Encode(reportPosition{all[in.Limit-1].ID})
			body.NextCursor = &next
		}
		for i := range all {
			audit.NotePeople(ctx, all[i].User)
			body.Data = append(body.Data, reports.DocumentOf(&all[i], nil, compat))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

// reportReviewBody is a report for a reviewer.
type reportReviewBody struct {
	Job       reports.JobDocument        `json:"job"`
	Patient   reportPatientBody          `json:"patient" doc:"The persons on the report and the user, compared now."`
	Revision  int                        `json:"revision" doc:"Revision of the results below. Send it with the decision."`
	Data      reports.ReportDataDocument `json:"data" doc:"The latest results, also while they wait for the decision."`
	Pages     []reportPageBody           `json:"pages" nullable:"false"`
	Revisions []reportRevisionBody       `json:"revisions" nullable:"false" doc:"The first reading, then each decision."`
}

// reportPatientBody compares the persons on a report with its user.
type reportPatientBody struct {
	Match    reports.PatientMatch `json:"match" doc:"match, mismatch or unknown. The acceptance of a mismatch needs confirm_identity."`
	Problems []identity.Problem   `json:"problems" nullable:"false" doc:"Differences, as in patient_problems of the job."`
	User     reportPersonBody     `json:"user"`
	Reported []reportPersonBody   `json:"reported" nullable:"false" doc:"The person of the first pages, then persons of other pages."`
}

// reportPersonBody is a person on a report, or the user.
type reportPersonBody struct {
	FirstName *string `json:"first_name" nullable:"true"`
	LastName  *string `json:"last_name" nullable:"true"`
	BirthDate *string `json:"dob" nullable:"true" doc:"Date of birth as yyyy-mm-dd, or the printed text if it can mean more than one day."`
	Gender    *string `json:"gender" nullable:"true"`
}

func reportPatientOf(c reports.PatientComparison) reportPatientBody {
	born := ""
	if !c.User.DOB.IsZero() {
		born = c.User.DOB.String()
	}
	body := reportPatientBody{
		Match: c.Match, Problems: append([]identity.Problem{}, c.Problems...), Reported: []reportPersonBody{},
		User: reportPersonBody{nonEmpty(c.User.FirstName), nonEmpty(c.User.LastName), nonEmpty(born), nonEmpty(c.User.Gender)},
	}
	for _, p := range c.Reported {
		body.Reported = append(body.Reported, reportPersonBody{nonEmpty(p.FirstName), nonEmpty(p.LastName), nonEmpty(p.BirthDate), nonEmpty(p.Gender)})
	}
	return body
}

type reportPageBody struct {
	Page   int     `json:"page"`
	Source string  `json:"source" doc:"text means the file's own characters. ocr means characters recognized in an image."`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Image  string  `json:"image" doc:"The path of the page's image."`
}

type reportRevisionBody struct {
	Revision  int                        `json:"revision" doc:"Number of the revision. 1 is the first reading."`
	CreatedAt api.Time                   `json:"created_at"`
	Reviewer  *string                    `json:"reviewer" nullable:"true" doc:"Person who decided. It is null for the first reading."`
	Decision  *string                    `json:"decision" nullable:"true" doc:"Decision: accept or reject. It is null for the first reading."`
	Note      *string                    `json:"note" nullable:"true"`
	Changes   []reportChangeBody         `json:"changes" nullable:"false"`
	Confirmed []identity.Problem         `json:"confirmed_differences" nullable:"false" doc:"Facts of the person that differ from the user; the reviewer confirmed the identity."`
	Data      reports.ReportDataDocument `json:"data"`
}

type reportChangeBody struct {
	Row    *int   `json:"row" nullable:"true" doc:"Row of the result. It is null for the description of the report."`
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
}

func (h *Handlers) getReportReview(ctx context.Context, c api.Caller, in *ReportJobPath) (*api.Out[reportReviewBody], error) {
	var body reportReviewBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		j, err := reports.Get(ctx, tx, c.Team, in.JobID)
		if err != nil {
			return err
		}
		body, err = reportReviewOf(ctx, tx, &j)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func reportReviewOf(ctx context.Context, tx *store.Tx, j *reports.Job) (reportReviewBody, error) {
	job, err := reportJobBodyOf(ctx, tx, j)
	if err != nil {
		return reportReviewBody{}, err
	}
	all, err := reports.Revisions(ctx, tx, j)
	if err != nil {
		return reportReviewBody{}, err
	}
	body := reportReviewBody{
		Job: job, Patient: reportPatientOf(reports.PatientComparison{}), Revision: j.Revision, Data: reports.DataOf(&reports.Version{}), Pages: []reportPageBody{}, Revisions: []reportRevisionBody{},
	}
	body.Job.Data = orders.Null[reports.ReportDataDocument]{} // in data
	for i := range all {
		r := &all[i]
		one := reportRevisionBody{
			Revision: r.Number, CreatedAt: api.Time(r.CreatedAt), Reviewer: api.TextOrNull(r.Author), Decision: api.TextOrNull(string(r.Decision)),
			Note: api.TextOrNull(r.Note), Changes: []reportChangeBody{}, Confirmed: append([]identity.Problem{}, r.Confirmed...), Data: reports.DataOf(&r.Version),
		}
		for _, change := range r.Changes {
			one.Changes = append(one.Changes, reportChangeBody(change))
		}
		body.Revisions, body.Data = append(body.Revisions, one), one.Data
		if i < len(all)-1 {
			continue
		}
		who, err := reports.ComparePatient(ctx, tx, j, &r.Metadata)
		if err != nil {
			return reportReviewBody{}, err
		}
		body.Patient = reportPatientOf(who)
		for n, p := range r.Pages {
			body.Pages = append(body.Pages, reportPageBody{
				Page: n + 1, Source: string(p.Source), Width: p.Width, Height: p.Height,
				Image: parserJobs + "/" + j.ID.String() + "/page/" + strconv.Itoa(n+1),
			})
		}
	}
	return body, nil
}

type getReportPageIn struct {
	ReportJobPath
	Page  int  `path:"page" minimum:"1" maximum:"1000"`
	Boxes bool `query:"boxes" doc:"Draw a box around each result: green, or red for one that needs a review."`
}

func (h *Handlers) getReportPage(ctx context.Context, c api.Caller, in *getReportPageIn) (*api.Encoded, error) {
	if h.Reports == nil {
		return nil, fault.New(fault.Unavailable, "This node reads no reports").WithType("no_report_reader")
	}
	draw := h.Reports.Image
	if in.Boxes {
		draw = h.Reports.MarkedImage
	}
	picture, err := draw(ctx, c.Team, in.JobID, in.Page)
	if err != nil {
		return nil, err
	}
	return api.WriteAs(reports.JPEG, picture), nil
}

type reviewReportIn struct {
	ReportJobPath
	Body struct {
		Decision    reportDecisionWord       `json:"decision" doc:"accept means that the results, as corrected, are the user's. reject means that the report has no results of this user; it takes no corrections and no metadata."`
		Reviewer    string                   `json:"reviewer" minLength:"1" maxLength:"200" doc:"Name or id of the person who decides."`
		Revision    *int                     `json:"revision" required:"false" minimum:"1" doc:"The revision that the reviewer has seen. If the results have changed since, the answer is 409."`
		Note        string                   `json:"note,omitempty" maxLength:"1000"`
		Metadata    reportMetadataCorrection `json:"metadata,omitempty"`
		Corrections []reportCorrection       `json:"corrections,omitempty" maxItems:"2000" nullable:"false"`
		Confirm     bool                     `json:"confirm_identity" required:"false" doc:"Confirms the identity. It is required to accept a report whose person differs from the user. The error names the differences."`
	}
}

// reportMetadataCorrection changes the description of a report. Absent fields stay.
type reportMetadataCorrection struct {
	FirstName *string     `json:"patient_first_name,omitempty" maxLength:"200"`
	LastName  *string     `json:"patient_last_name,omitempty" maxLength:"200"`
	BirthDate *civil.Date `json:"birth_date,omitempty" format:"date"`
	Lab       *string     `json:"lab_name,omitempty" maxLength:"200"`
	Specimen  *string     `json:"specimen_number,omitempty" maxLength:"200"`
	Collected *civil.Date `json:"collected_on,omitempty" format:"date"`
	Reported  *civil.Date `json:"reported_on,omitempty" format:"date"`
}

// reportCorrection changes, removes or adds a result. Absent fields stay.
type reportCorrection struct {
	_ struct{} `additionalProperties:"false"`

	Row    *int     `json:"row,omitempty" minimum:"0" doc:"The row of a result; absent to add one."`
	Remove bool     `json:"remove,omitempty"`
	Name   *string  `json:"test_name,omitempty" maxLength:"200"`
	Value  *string  `json:"value,omitempty" maxLength:"2000"`
	Units  *string  `json:"units,omitempty" maxLength:"100"`
	Range  *string  `json:"reference_range,omitempty" maxLength:"500"`
	Min    *float64 `json:"min_reference_range,omitempty"`
	Max    *float64 `json:"max_reference_range,omitempty"`
	LOINC  *string  `json:"loinc_code,omitempty" maxLength:"20" doc:"A code of the table; an empty text means that there is none."`
}

// TransformSchema states what a correction does: it adds a result, removes one, or changes
// one.
func (reportCorrection) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	null := &huma.Schema{Type: "null"}
	changed := []string{"test_name", "value", "units", "reference_range", "min_reference_range", "max_reference_range", "loinc_code"}
	no := func() *huma.Schema { return &huma.Schema{Enum: []any{false, nil}} }
	row := &huma.Schema{Type: huma.TypeInteger}
	adds := api.Object([]string{"test_name", "value"}, map[string]*huma.Schema{
		"row": null, "remove": no(), "test_name": {Type: huma.TypeString}, "value": {Type: huma.TypeString},
	})
	removes := api.Object([]string{"row", "remove"}, map[string]*huma.Schema{"row": row, "remove": {Enum: []any{true}}})
	all := []*huma.Schema{adds, removes}
	for _, name := range changed {
		removes.Properties[name] = null
		all = append(all, api.Object([]string{"row", name}, map[string]*huma.Schema{"row": row, "remove": no(), name: {Not: null}}))
	}
	return api.State(s, map[string]api.Keywords{
		"test_name": api.StatePatterns(`\S`), "value": api.StatePatterns(`\S`), "": api.StateAny(all...),
	})
}

func (h *Handlers) reviewReport(ctx context.Context, c api.Caller, in *reviewReportIn) (*api.Out[reportJobBody], error) {
	b := &in.Body
	revision := 0
	if b.Revision != nil {
		revision = *b.Revision
	}
	review := reports.Review{
		Decision: reports.Decision(b.Decision), Reviewer: strings.TrimSpace(b.Reviewer), Note: b.Note, Revision: revision, ConfirmIdentity: b.Confirm,
		Metadata: reports.MetadataCorrection{
			FirstName: b.Metadata.FirstName, LastName: b.Metadata.LastName, Lab: b.Metadata.Lab, Specimen: b.Metadata.Specimen,
			BirthDate: b.Metadata.BirthDate, Collected: b.Metadata.Collected, Reported: b.Metadata.Reported,
		},
	}
	for _, one := range b.Corrections {
		review.Corrections = append(review.Corrections, reports.Correction{
			Row: one.Row, Remove: one.Remove, Name: one.Name, Value: one.Value, Units: one.Units, Range: one.Range, Min: one.Min, Max: one.Max, LOINC: one.LOINC,
		})
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (reportJobBody, error) {
		j, _, err := reports.Decide(ctx, tx, c.Team, in.JobID, review)
		if err != nil {
			return reportJobBody{}, err
		}
		return reportJobBodyOf(ctx, tx, &j)
	})
}

type userResultsBody struct {
	Results []reports.UserResultDocument `json:"results" nullable:"false" doc:"Results, newest sample first. A result that several reports show is one result."`
}

func (h *Handlers) listUserResults(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[userResultsBody], error) {
	history, err := h.resultHistory(ctx, c, in.UserID, nil)
	if err != nil {
		return nil, err
	}
	return api.Answer(userResultsBody{history.Documents()}), nil
}

// resultHistory reads all results of a user. also may read more in the same transaction.
func (h *Handlers) resultHistory(ctx context.Context, c api.Caller, user users.ID, also func(tx *store.Tx, all *reports.History) error) (all reports.History, err error) {
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if err := users.Exists(ctx, tx, c.Team, user); err != nil {
			return err
		}
		if all, err = reports.HistoryOf(ctx, tx, c.Team, user); err != nil || also == nil {
			return err
		}
		return also(tx, &all)
	})
	return all, err
}

// getUserResultsFHIR returns the bundles of all orders with results, and the reports.
func (h *Handlers) getUserResultsFHIR(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Encoded, error) {
	var bundle fhir.Bundle
	_, err := h.resultHistory(ctx, c, in.UserID, func(tx *store.Tx, all *reports.History) error {
		var ordered []fhir.Order
		for i := range all.Orders {
			exported, err := exportedOrder(ctx, tx, c.Team, &all.Orders[i].Order)
			if err != nil {
				return err
			}
			ordered = append(ordered, exported)
		}
		patient, err := fhirUser(ctx, tx, c.Team, in.UserID)
		if err != nil {
			return err
		}
		var read []fhir.ParsedReport
		for i := range all.Reports {
			read = append(read, fhirParsedReport(&all.Reports[i]))
		}
		bundle = fhir.ExportAll(in.UserID.UUID(), patient, ordered, read, tx.Now())
		return nil
	})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(bundle)
	if err != nil {
		return nil, err
	}
	return api.WriteAs(fhir.ContentType, body), nil
}

// describeReportUpload describes in OpenAPI the body that createReportJob reads.
func describeReportUpload(op *huma.Operation) {
	op.Description = "The body is multipart/form-data. The answer comes when files and job are stored; the report is read in the background. " +
		"Several images are the pages of one report, in order; a PDF file must be the only file. " +
		"The declared content type of a file must match its bytes. The same files for the same user within a day are the same job."
	text := func(format string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: format} }
	op.RequestBody = &huma.RequestBody{Content: map[string]*huma.MediaType{
		"multipart/form-data": {Schema: &huma.Schema{
			Type: huma.TypeObject, Required: []string{"file", "user_id"},
			Properties: map[string]*huma.Schema{
				"file":               {Type: huma.TypeArray, Items: text("binary"), Description: "One PDF file, or up to 8 JPEG or PNG images. At most 10 MB in total by default."},
				"user_id":            text("uuid"),
				"needs_human_review": {Type: huma.TypeBoolean, Default: false, Description: "Whether the results wait until a reviewer accepts them."},
			},
		}},
	}}
	op.Responses["200"] = api.JSONResponse("The report is stored and will be read.", huma.DefaultSchemaNamer(reflect.TypeFor[reportJobBody](), ""))
}

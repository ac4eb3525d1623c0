package labs

import (
	"context"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/identity"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/labs/results/refrange"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (h *Handlers) resultRoutes() []api.Route {
	return []api.Route{
		api.Get("/v3/order/{order_id}/result", h.getResults, "Get the results of an order"),
		api.Get("/v3/order/{order_id}/result/metadata", h.getResultMetadata, "Get the metadata of a laboratory report"),
		api.Get("/v3/order/{order_id}/result/revisions", h.listResultRevisions, "List the versions of an order's results, oldest first"),
		writesPDF(api.Get("/v3/order/{order_id}/result/pdf", h.getResultPDF, "Get the laboratory's report as a PDF")),
		api.Get("/v3/order_transaction/{transaction_id}/result", h.getTransactionResults, "Get the combined results of all orders of a transaction").Tag("order"),
		writesPDF(api.Get("/v3/order_transaction/{transaction_id}/result/pdf", h.getTransactionResultPDF, "Get the combined reports of all orders of a transaction as a PDF").Tag("order").Refuses("conflict")),
		writesFHIR(api.Get("/v3/order/{order_id}/fhir", h.getOrderFHIR, "Get an order and its results as a FHIR R4 bundle")),
	}
}

// resultsIn selects a version of an order's results.
type resultsIn struct {
	OrderPath
	Revision int `query:"revision" minimum:"1" doc:"Number of a version. The default is the latest."`
}

// orderOfResults returns the order, and notes its patient in the audit log. For an
// unknown order, the error has the text that the reference uses for results.
//
// Reference 3.
func orderOfResults(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID) (orders.Order, error) {
	o, err := orders.Get(ctx, tx, team, id)
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "Order not found")
	}
	if err == nil {
		aboutOrders(ctx, o)
	}
	return o, err
}

// results reads an order and a version of its results.
func (h *Handlers) results(ctx context.Context, c api.Caller, in *resultsIn, use func(tx *store.Tx, o *orders.Order, r *results.Revision) error) error {
	return h.DB.Read(ctx, func(tx *store.Tx) error {
		o, err := orderOfResults(ctx, tx, c.Team, in.OrderID)
		if err != nil {
			return err
		}
		r, err := results.Get(ctx, tx, &o, in.Revision)
		if err != nil {
			return err
		}
		return use(tx, &o, &r)
	})
}

func (h *Handlers) getResults(ctx context.Context, c api.Caller, in *resultsIn) (*api.Out[resultsBody], error) {
	var body resultsBody
	err := h.results(ctx, c, in, func(tx *store.Tx, o *orders.Order, r *results.Revision) error {
		t, err := orders.GetTransaction(ctx, tx, c.Team, o.Transaction)
		if err != nil {
			return err
		}
		body = resultsBodyOf(o, &r.Version, r.CreatedAt, t)
		body.Revision = &r.Number
		return nil
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func (h *Handlers) getResultMetadata(ctx context.Context, c api.Caller, in *resultsIn) (*api.Out[resultsMetadataBody], error) {
	var body resultsMetadataBody
	err := h.results(ctx, c, in, func(_ *store.Tx, o *orders.Order, r *results.Revision) error {
		body = resultsMetadataOf(o, &r.Version, r.CreatedAt)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

// resultRevisionsBody lists versions.
type resultRevisionsBody struct {
	Revisions []resultRevisionBody `json:"revisions" nullable:"false"`
}

type resultRevisionBody struct {
	Revision       int                   `json:"revision"`
	CreatedAt      api.Time              `json:"created_at"`
	Status         results.Status        `json:"status" doc:"One of partial and final."`
	Corrected      bool                  `json:"corrected"`
	Interpretation orders.Interpretation `json:"interpretation"`
	HasMissing     bool                  `json:"has_missing_results"`
	HasPDF         bool                  `json:"has_pdf" doc:"Whether the laboratory sent a document."`
}

func (h *Handlers) listResultRevisions(ctx context.Context, c api.Caller, in *OrderPath) (*api.Out[resultRevisionsBody], error) {
	body := resultRevisionsBody{}
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		o, err := orderOfResults(ctx, tx, c.Team, in.OrderID)
		if err != nil {
			return err
		}
		all, err := results.History(ctx, tx, &o)
		body.Revisions = make([]resultRevisionBody, len(all))
		for i, r := range all {
			body.Revisions[i] = resultRevisionBody{r.Number, api.Time(r.CreatedAt), r.Status, r.Corrected, r.Interpretation, r.HasMissing, r.HasPDF}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

func (h *Handlers) getTransactionResults(ctx context.Context, c api.Caller, in *TransactionPath) (*api.Out[resultsBody], error) {
	var body resultsBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		t, err := results.ForTransaction(ctx, tx, c.Team, in.TransactionID)
		if err != nil {
			return err
		}
		last := len(t.Orders) - 1 // the metadata of the newest order represents all
		body = resultsBodyOf(&t.Orders[last], &t.Version, t.Revisions[last].CreatedAt, t.Transaction)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

// resultsBody contains the results of a laboratory.
//
// Reference 3, LabResultsRaw.
type resultsBody struct {
	Metadata    resultsMetadataBody             `json:"metadata"`
	Results     []biomarkerBody                 `json:"results" nullable:"false"`
	Missing     []missingResultBody             `json:"missing_results" nullable:"true" doc:"Expected results that will not arrive."`
	Samples     map[string]specimenBody         `json:"sample_information" nullable:"true" doc:"Information about samples, by the source_sample_id of results."`
	Transaction orders.TransactionDocument      `json:"order_transaction"`
	Revision    *int                            `json:"revision" nullable:"true" doc:"Counts the versions of an order's results from 1; null for a transaction."`
	Corrected   bool                            `json:"corrected" doc:"Whether the laboratory corrected results that it had reported as final."`
	Reported    api.OrNull[reportedPatientBody] `json:"reported_patient" doc:"Person as the laboratory reported it. It is null if the laboratory named none. metadata has the patient of the order."`
	Warnings    []warningBody                   `json:"warnings" nullable:"false" doc:"Doubts about the results: a refused document, an impossible time of collection."`
	Reviews     []reviewBody                    `json:"match_reviews" nullable:"false" doc:"Decisions of persons that a report without a certain order belongs to this one."`
}

// warningBody is a doubt about results.
type warningBody struct {
	Code    results.WarningCode `json:"code" doc:"document_refused, reported_after_receipt, collected_after_receipt, collected_before_birth, collected_long_before_order, correction_without_result or specimen_unknown. The list may grow."`
	Message string              `json:"message"`
	Detail  *string             `json:"detail" doc:"The problem of a document (bad_encoding, not_pdf, cut_off, damaged, not_joined), or the time as reported."`
	Sample  *string             `json:"source_sample_id"`
}

func warningBodiesOf(all []results.Warning) []warningBody {
	bodies := make([]warningBody, len(all))
	for i, w := range all {
		bodies[i] = warningBody{w.Code, w.Message(), nonEmpty(w.Detail), nonEmpty(w.Sample)}
	}
	return bodies
}

// reviewBody is a decision that a report belongs to the order.
type reviewBody struct {
	ResultID   uuid.UUID                       `json:"unmatched_result_id" format:"uuid"`
	Decision   string                          `json:"decision_code" doc:"The reason for the review, a decision_code of unmatched results."`
	ReviewedBy string                          `json:"reviewed_by"`
	ReviewedAt api.Time                        `json:"reviewed_at"`
	Note       *string                         `json:"note"`
	Reported   api.OrNull[reportedPatientBody] `json:"reported_patient" doc:"The person on that report."`
	Confirmed  []identity.Problem              `json:"confirmed_differences" nullable:"false" doc:"Facts that differ from the order or are missing, although the reviewer confirmed the identity."`
}

func reviewBodiesOf(all []results.Review) []reviewBody {
	bodies := make([]reviewBody, len(all))
	for i, r := range all {
		bodies[i] = reviewBody{
			r.Result, r.Decision, r.By, api.Time(r.At), nonEmpty(r.Note), api.Nullable(reportedPatientBodyOf(r.Patient)), append([]identity.Problem{}, r.Confirmed...),
		}
	}
	return bodies
}

// reportedPatientBody is the person on the laboratory's report.
type reportedPatientBody struct {
	FirstName *string `json:"first_name" nullable:"true"`
	LastName  *string `json:"last_name" nullable:"true"`
	BirthDate *string `json:"dob" nullable:"true" doc:"Date of birth as yyyy-mm-dd."`
	Gender    *string `json:"gender" nullable:"true" doc:"Gender as reported: female, male, other or unknown."`
}

func reportedPatientBodyOf(p networks.ReportedPatient) *reportedPatientBody {
	if p == (networks.ReportedPatient{}) {
		return nil
	}
	b := reportedPatientBody{FirstName: nonEmpty(p.FirstName), LastName: nonEmpty(p.LastName), Gender: nonEmpty(p.Gender)}
	if !p.DOB.IsZero() {
		b.BirthDate = nonEmpty(p.DOB.String())
	}
	return &b
}

// resultsMetadataBody is the metadata of a laboratory report.
//
// Reference 3, LabResultsMetadata.
type resultsMetadataBody struct {
	Age            string                `json:"age" doc:"Whole years when the sample was taken."`
	BirthDate      string                `json:"dob" doc:"Date of birth as dd/mm/yyyy."`
	CLIA           *string               `json:"clia_#" nullable:"true"`
	Patient        string                `json:"patient"`
	Provider       *string               `json:"provider" nullable:"true" doc:"The ordering physician."`
	Laboratory     *string               `json:"laboratory" nullable:"true"`
	Reported       string                `json:"date_reported" deprecated:"true"`
	Collected      *string               `json:"date_collected" nullable:"true" deprecated:"true"`
	SpecimenNumber string                `json:"specimen_number"`
	Received       *string               `json:"date_received" nullable:"true" deprecated:"true"`
	Status         results.Status        `json:"status" doc:"One of partial and final."`
	Interpretation orders.Interpretation `json:"interpretation" doc:"normal, abnormal, critical or unknown: the most severe one of the results."`
	PatientID      string                `json:"patient_id"`
	AccountID      *string               `json:"account_id" nullable:"true" doc:"The customer number with the laboratory."`
}

// biomarkerBody is one result.
//
// Reference 3, BiomarkerResult. The last two fields are additions.
type biomarkerBody struct {
	Name           string                   `json:"name"`
	Slug           string                   `json:"slug"`
	Value          float64                  `json:"value" deprecated:"true" doc:"Value of a numeric result. It is -1 for other results."`
	Result         string                   `json:"result"`
	Type           results.Type             `json:"type" doc:"numeric, range, comment or coded_value. The list may grow."`
	Unit           *string                  `json:"unit" nullable:"true"`
	Timestamp      *api.Time                `json:"timestamp" nullable:"true"`
	Notes          *string                  `json:"notes" nullable:"true"`
	Range          *string                  `json:"reference_range" nullable:"true" doc:"Range as printed by the laboratory."`
	Min            *float64                 `json:"min_range_value" nullable:"true"`
	Max            *float64                 `json:"max_range_value" nullable:"true"`
	Above          *bool                    `json:"is_above_max_range" nullable:"true"`
	Below          *bool                    `json:"is_below_min_range" nullable:"true"`
	Interpretation orders.Interpretation    `json:"interpretation"`
	Flag           string                   `json:"source_interpretation" doc:"The laboratory's own flag."`
	Conflict       *results.Conflict        `json:"flag_conflict" nullable:"true" doc:"Contradiction between flag and value: normal_outside_range, normal_beyond_critical_limit, high_or_low_inside_range, high_or_low_on_the_other_side, critical_in_note_only."`
	Status         *results.Finality        `json:"status" nullable:"true" doc:"preliminary, final or corrected. Null in revisions that an earlier version stored."`
	Previous       api.OrNull[previousBody] `json:"previous" doc:"The value that this one replaces."`
	LOINC          *string                  `json:"loinc" nullable:"true"`
	LOINCSlug      *string                  `json:"loinc_slug" nullable:"true"`
	ProviderID     *string                  `json:"provider_id" nullable:"true"`
	Markers        []parentMarkerBody       `json:"source_markers" nullable:"true" doc:"The ordered markers that this is a result of; null if it was not ordered."`
	Laboratory     *string                  `json:"performing_laboratory" nullable:"true" doc:"Name of one of the sample's performing_laboratories."`
	SampleID       *string                  `json:"source_sample_id" nullable:"true"`
	UCUM           *string                  `json:"ucum_unit" nullable:"true" doc:"The unit as UCUM, if known."`
	Bounds         boundsBody               `json:"reference_bounds" doc:"The parsed part of the reference range."`
}

// previousBody is the value before a correction, or before the final value.
type previousBody struct {
	Result         string                `json:"result"`
	Unit           *string               `json:"unit"`
	Interpretation orders.Interpretation `json:"interpretation"`
	Flag           string                `json:"source_interpretation"`
	Range          *string               `json:"reference_range" doc:"Range as printed by the laboratory."`
	Notes          *string               `json:"notes"`
	Status         results.Finality      `json:"status" doc:"preliminary, final or corrected."`
	ReportedAt     api.Time              `json:"reported_at" doc:"Time of its report."`
}

// boundsBody is a reference range for programs.
type boundsBody struct {
	Kind refrange.Kind           `json:"kind" doc:"The form in which the laboratory prints it: interval, upper, lower, text, titer, sexed, bands, none or other."`
	Low  api.OrNull[boundBody]   `json:"low"`
	High api.OrNull[boundBody]   `json:"high"`
	From results.ReferenceSource `json:"source" doc:"Source of the bounds: report or catalogue. It is empty without bounds. Bounds of the catalogue depend on the patient's sex and age."`
}

type boundBody struct {
	Value      float64 `json:"value"`
	Comparator string  `json:"comparator" enum:"<,<=,>,>=" doc:"The relation of a value in the range to the bound."`
	Inclusive  bool    `json:"inclusive"`
}

// parentMarkerBody is an ordered marker.
//
// Reference 3, ParentBiomarkerData.
type parentMarkerBody struct {
	MarkerID   catalogue.MarkerID `json:"marker_id"`
	Name       string             `json:"name"`
	Slug       string             `json:"slug"`
	ProviderID *string            `json:"provider_id" nullable:"true"`
}

// missingResultBody is an expected result that will not arrive.
//
// Reference 3, MissingBiomarkerResult. The last three fields are additions.
type missingResultBody struct {
	Name        string                   `json:"name"`
	Slug        string                   `json:"slug"`
	Failure     results.Failure          `json:"inferred_failure_type" doc:"Type of failure, derived from the laboratory's comments. The list may grow."`
	Note        *string                  `json:"note" nullable:"true"`
	LOINC       *string                  `json:"loinc" nullable:"true"`
	LOINCSlug   *string                  `json:"loinc_slug" nullable:"true"`
	ProviderID  *string                  `json:"provider_id" nullable:"true"`
	Markers     []parentMarkerBody       `json:"source_markers" nullable:"true"`
	SampleID    *string                  `json:"source_sample_id" nullable:"true" doc:"The sample for which it is missing; null if the laboratory reported nothing about it."`
	Previous    api.OrNull[previousBody] `json:"previous" doc:"The value that the laboratory withdrew."`
	WithdrawnAt *api.Time                `json:"withdrawn_at" nullable:"true" doc:"Time of the report that withdrew the value."`
}

// specimenBody is one specimen.
//
// Reference 3, SampleData.
type specimenBody struct {
	ID           *string                      `json:"sample_id" nullable:"true"`
	Control      *string                      `json:"control_number" nullable:"true"`
	Type         *string                      `json:"sample_type" nullable:"true" doc:"The material as the laboratory names it."`
	Collected    sampleTime                   `json:"date_collected"`
	Received     sampleTime                   `json:"date_received"`
	Reported     sampleTime                   `json:"date_reported"`
	Laboratories map[string]performingLabBody `json:"performing_laboratories" nullable:"true"`
	Clinical     api.OrNull[clinicalInfoBody] `json:"clinical_information"`
}

// performingLabBody is a laboratory that performed tests.
type performingLabBody struct {
	Name     string                     `json:"name"`
	Phone    *string                    `json:"phone_number" nullable:"true"`
	Director *string                    `json:"medical_director" nullable:"true"`
	Address  api.OrNull[labAddressBody] `json:"address"`
}

type labAddressBody struct {
	FirstLine   string  `json:"first_line"`
	SecondLine  string  `json:"second_line"`
	Country     string  `json:"country"`
	Zip         string  `json:"zip"`
	City        string  `json:"city"`
	State       string  `json:"state"`
	AccessNotes *string `json:"access_notes" nullable:"true"`
}

type clinicalInfoBody struct {
	Fasting     *bool   `json:"fasting,omitempty" doc:"Whether the patient fasted. It is absent if the laboratory does not state it."`
	Notes       *string `json:"notes" nullable:"true"`
	Information *string `json:"information" nullable:"true"`
	Volume      *string `json:"total_volume" nullable:"true"`
}

// sampleTime is a time of a sample. In JSON it is an object if its offset is known,
// otherwise the local time as text. It is null if there is no time.
//
// Reference 3, UTCTimestampWithTimezoneOffset.
type sampleTime struct{ networks.Moment }

type offsetTimeBody struct {
	Timestamp api.Time `json:"timestamp"`
	Offset    int      `json:"timezone_offset" doc:"Offset of the time in seconds east of UTC."`
}

// MarshalJSON returns one of the three forms.
func (t sampleTime) MarshalJSON() ([]byte, error) {
	switch {
	case t.Time.IsZero():
		return []byte("null"), nil
	case t.Offset == nil:
		return json.Marshal(t.Text())
	}
	return json.Marshal(offsetTimeBody{api.Time(t.Time), *t.Offset})
}

// Schema declares the three forms.
func (sampleTime) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[offsetTimeBody](), true, ""), {Type: huma.TypeString}, {Type: "null"},
	}}
}

// nonEmpty returns nil for an empty text.
func nonEmpty(text string) *string { return api.TextOrNull(strings.TrimSpace(text)) }

func biomarkerBodyOf(r results.Result) biomarkerBody {
	b := biomarkerBody{
		Name: r.Name, Slug: r.Slug, Value: -1, Result: r.Text, Type: r.Type, Unit: nonEmpty(r.Unit), Timestamp: api.TimeOrNull(&r.At.Time),
		Notes: nonEmpty(strings.Join(r.Notes, "\n")), Range: nonEmpty(r.Range.Text), Above: r.Above, Below: r.Below,
		Interpretation: r.Interpretation, Flag: r.Flag, LOINC: nonEmpty(r.LOINC), LOINCSlug: nonEmpty(r.LOINCSlug), ProviderID: nonEmpty(r.ProviderID),
		Markers: parentMarkers(r.Markers), Laboratory: nonEmpty(r.Laboratory), SampleID: nonEmpty(r.Sample), UCUM: nonEmpty(r.UCUM),
		Bounds: boundsBody{Kind: r.Range.Kind, From: r.Range.From},
	}
	if r.Finality != "" {
		b.Status = &r.Finality
	}
	if p := r.Previous; p != nil {
		b.Previous = api.Nullable(previousBodyOf(p))
	}
	if r.Conflict != "" {
		b.Conflict = &r.Conflict
	}
	if r.Number != nil {
		b.Value = *r.Number
	}
	if low := r.Range.Low; low != nil {
		b.Min = &low.Value
		b.Bounds.Low.Value = &boundBody{low.Value, comparator(">", low.Inclusive), low.Inclusive}
	}
	if high := r.Range.High; high != nil {
		b.Max = &high.Value
		b.Bounds.High.Value = &boundBody{high.Value, comparator("<", high.Inclusive), high.Inclusive}
	}
	return b
}

func previousBodyOf(p *results.Previous) *previousBody {
	return &previousBody{
		p.Text, nonEmpty(p.Unit), p.Interpretation, p.Flag, nonEmpty(p.Range), nonEmpty(strings.Join(p.Notes, "\n")), p.Finality, api.Time(p.ReportedAt),
	}
}

func comparator(sign string, inclusive bool) string {
	if inclusive {
		return sign + "="
	}
	return sign
}

func parentMarkers(all []results.Marker) []parentMarkerBody {
	var bodies []parentMarkerBody
	for _, m := range all {
		bodies = append(bodies, parentMarkerBody{m.ID, m.Name, m.Slug, nonEmpty(m.ProviderID)})
	}
	return bodies
}

func missingBodyOf(m results.MissingResult) missingResultBody {
	b := missingResultBody{
		Name: m.Name, Slug: m.Slug, Failure: m.Failure, Note: nonEmpty(m.Note), LOINC: nonEmpty(m.LOINC), LOINCSlug: nonEmpty(m.LOINCSlug),
		ProviderID: nonEmpty(m.ProviderID), Markers: parentMarkers(m.Markers), SampleID: nonEmpty(m.Sample), WithdrawnAt: api.TimeOrNull(&m.WithdrawnAt),
	}
	if m.Previous != nil {
		b.Previous = api.Nullable(previousBodyOf(m.Previous))
	}
	return b
}

func specimenBodyOf(s results.Sample, comments []string) specimenBody {
	p := s.Specimen
	b := specimenBody{
		ID: nonEmpty(s.Key), Control: nonEmpty(s.Control), Type: nonEmpty(p.Type), Collected: sampleTime{p.Collected}, Received: sampleTime{p.Received}, Reported: sampleTime{p.Reported},
		Laboratories: map[string]performingLabBody{},
	}
	for key, lab := range s.Laboratories {
		b.Laboratories[key] = performingLabOf(key, lab)
	}
	notes := nonEmpty(strings.Join(comments, "\n"))
	if p.Fasting != nil || p.Information != "" || p.Volume != "" || notes != nil {
		b.Clinical.Value = &clinicalInfoBody{
			Fasting: p.Fasting, Notes: notes, Information: nonEmpty(p.Information), Volume: nonEmpty(p.Volume),
		}
	}
	return b
}

func performingLabOf(key string, lab networks.Laboratory) performingLabBody {
	b := performingLabBody{Name: lab.Name, Phone: nonEmpty(lab.Phone), Director: nonEmpty(lab.Director)}
	if b.Name == "" {
		b.Name = key
	}
	if a := lab.Address; a != nil {
		b.Address.Value = &labAddressBody{a.FirstLine, a.SecondLine, a.Country, a.Zip, a.City, a.State, nonEmpty(a.AccessNotes)}
	}
	return b
}

// resultsMetadataOf returns the metadata of an order's results. at is the time of their
// arrival, for a laboratory that sends no date.
func resultsMetadataOf(o *orders.Order, v *results.Version, at time.Time) resultsMetadataBody {
	b := resultsMetadataBody{
		CLIA: nonEmpty(v.CLIA), Laboratory: nonEmpty(v.Laboratory), Reported: api.Time(at).String(), SpecimenNumber: o.SampleID,
		Status: v.Status, Interpretation: v.Interpretation, PatientID: o.User.String(), AccountID: nonEmpty(v.Account),
	}
	if p := o.Body.Patient; p != nil {
		b.Patient, b.BirthDate = p.Name(), p.BirthDate.In(time.UTC).Format("02/01/2006")
		b.Age = strconv.Itoa(p.Age(results.CollectedOn(o, v)))
	}
	if p := o.Body.Physician; p != nil {
		b.Provider = nonEmpty(p.FirstName + " " + p.LastName)
	}
	if len(v.Samples) == 0 {
		return b
	}
	s := v.Samples[len(v.Samples)-1]
	b.SpecimenNumber = s.Key
	if m := s.Specimen.Reported; !m.Time.IsZero() {
		b.Reported = m.Text()
	}
	for _, d := range []struct {
		from networks.Moment
		to   **string
	}{{s.Specimen.Collected, &b.Collected}, {s.Specimen.Received, &b.Received}} {
		if !d.from.Time.IsZero() {
			*d.to = nonEmpty(d.from.Text())
		}
	}
	return b
}

func resultsBodyOf(o *orders.Order, v *results.Version, at time.Time, t orders.Transaction) resultsBody {
	b := resultsBody{
		Metadata: resultsMetadataOf(o, v, at), Results: make([]biomarkerBody, len(v.Results)), Missing: make([]missingResultBody, len(v.Missing)),
		Samples: map[string]specimenBody{}, Transaction: t.Document(), Corrected: v.Corrected, Reported: api.Nullable(reportedPatientBodyOf(v.Patient)),
		Reviews: reviewBodiesOf(v.Reviews), Warnings: warningBodiesOf(v.Warnings),
	}
	for i, r := range v.Results {
		b.Results[i] = biomarkerBodyOf(r)
	}
	for i, m := range v.Missing {
		b.Missing[i] = missingBodyOf(m)
	}
	for _, s := range v.Samples {
		b.Samples[s.Key] = specimenBodyOf(s, v.Comments)
	}
	return b
}

// ResultDocuments returns results as a document: the laboratory's own, or a rendered
// one.
type ResultDocuments interface {
	ResultPDF(ctx context.Context, tx *store.Tx, o *orders.Order, r *results.Revision) ([]byte, error)
}

const pdfType = "application/pdf"

// writesPDF documents the answer of a handler that returns a document.
func writesPDF(rt api.Route) api.Route {
	return api.WritesAs(rt, pdfType, &huma.Schema{Type: huma.TypeString, Format: "binary"})
}

func (h *Handlers) getResultPDF(ctx context.Context, c api.Caller, in *resultsIn) (*api.Encoded, error) {
	var pdf []byte
	err := h.results(ctx, c, in, func(tx *store.Tx, o *orders.Order, r *results.Revision) (err error) {
		if pdf, err = h.resultPDF(ctx, tx, o, r); err == nil && pdf == nil {
			err = fault.Newf(fault.NotFound, "The laboratory sent no PDF for order %s", o.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.WriteAs(pdfType, pdf), nil
}

// resultPDF returns the laboratory's document, or a rendered one, or nil if there is
// neither.
func (h *Handlers) resultPDF(ctx context.Context, tx *store.Tx, o *orders.Order, r *results.Revision) ([]byte, error) {
	if h.ResultDocuments != nil {
		return h.ResultDocuments.ResultPDF(ctx, tx, o, r)
	}
	return results.PDF(ctx, tx, o, r.Number)
}

func (h *Handlers) getTransactionResultPDF(ctx context.Context, c api.Caller, in *TransactionPath) (*api.Encoded, error) {
	var all [][]byte
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		t, err := results.ForTransaction(ctx, tx, c.Team, in.TransactionID)
		if err != nil {
			return err
		}
		all = nil
		for i := range t.Orders {
			pdf, err := h.resultPDF(ctx, tx, &t.Orders[i], &t.Revisions[i])
			if err != nil {
				return err
			}
			if pdf != nil {
				all = append(all, pdf)
			}
		}
		if len(all) == 0 {
			return fault.Newf(fault.NotFound, "The laboratory sent no PDF for order transaction %s", in.TransactionID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	merged, err := results.MergePDFs(all)
	if err != nil {
		return nil, err
	}
	return api.WriteAs(pdfType, merged), nil
}

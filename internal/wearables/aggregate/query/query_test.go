package query

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"hale/internal/platform/fault"
)

const (
	timeframe = `"timeframe":{"type":"relative","anchor":"2026-03-01","past":{"unit":"day"}}`
	steps     = `{"timeseries":"steps","field":"value"}`
	daily     = `{"date_trunc":{"unit":"day"},"arg":{"index":"timeseries"}}`
)

func compileText(body string) (*Plan, Query, error) {
	b, err := DecodeBatch([]byte(body))
	if err != nil {
		return nil, Query{}, err
	}
	p, err := Compile(b.Queries[0])
	return p, b.Queries[0], err
}

func batchOfOne(q string) string { return `{` + timeframe + `,"queries":[` + q + `]}` }

// Every mistake is reported at its place, without repeating the value.
func TestErrorsNameTheirPlace(t *testing.T) {
	q := "body.queries.0."
	for body, want := range map[string]string{
		`[`:                   "body: JSON decode error",
		`{} {}`:               "body: JSON decode error",
		`{"queries":[]}`:      "body.timeframe: Field required",
		`{` + timeframe + `}`: "body.queries: Field required",
		`{"timeframe":3}`:     "body.timeframe: Input should be a valid dictionary",
		`{"timeframe":{"placeholder":true},"queries":[]}`:                                                      "body.timeframe: Value error, replace the placeholder with a value",
		`{"timeframe":{"type":"relative","anchor":"2026-02-30","past":{"unit":"day"}},"queries":[]}`:           "body.timeframe.anchor: Input should be a valid date",
		`{"timeframe":{"type":"relative","anchor":"2026-02-01","past":{"unit":"eon"}},"queries":[]}`:           "body.timeframe.past.unit: Input should be '",
		`{"timeframe":{"type":"relative","anchor":"2026-02-01","past":{"value":0,"unit":"day"}},"queries":[]}`: "body.timeframe.past.value: Input should be greater than or equal to 1",
		batchOfOne(`{}`):                                                                                                                    q + "select: Field required",
		batchOfOne(`{"select":[]}`):                                                                                                         q + "select: List should have at least 1",
		batchOfOne(`{"select":[{"sleep":"secret"}]}`):                                                                                       q + "select.0.sleep: Input should be '",
		batchOfOne(`{"select":[{"sleep":"id","body":"measured_at"}]}`):                                                                      q + "select.0: Value error, an expression has one of",
		batchOfOne(`{"select":[{"nothing":1}]}`):                                                                                            q + "select.0: Value error, an expression here has one of",
		batchOfOne(`{"select":[{"value_macro":"nap_score"}]}`):                                                                              q + "select.0.value_macro: Input should be '",
		batchOfOne(`{"select":[{"sleep":"id"},{"activity":"steps"}]}`):                                                                      q + "select.1: Value error, a query reads one table",
		batchOfOne(`{"select":[` + steps + `,{"timeseries":"distance","field":"value"}]}`):                                                  q + "select.1: Value error, a query reads one table",
		batchOfOne(`{"select":[{"timeseries":"steps","field":"systolic"}]}`):                                                                q + "select.0.field: Input should be '",
		batchOfOne(`{"select":[{"source":"source_type"}]}`):                                                                                 q + "select: Value error, no expression says which table",
		batchOfOne(`{"select":[{"index":"timeseries"}]}`):                                                                                   q + "select: Value error, no expression says which table",
		batchOfOne(`{"select":[` + steps + `,` + steps + `]}`):                                                                              q + `select.1: Value error, selects "value" twice`,
		batchOfOne(`{"select":[` + steps + `,{"func":"sum","arg":` + steps + `}]}`):                                                         q + "select.0: Value error, beside group_by",
		batchOfOne(`{"select":[{"func":"mode","arg":` + steps + `}]}`):                                                                      q + "select.0.func: Input should be '",
		batchOfOne(`{"select":[{"func":"count","arg":null}]}`):                                                                              q + "select.0.arg: Input should be a valid dictionary",
		batchOfOne(`{"select":[{"func":"sum","arg":{"sleep":"state"}}]}`):                                                                   q + "select.0: Value error, sum does not take a string",
		batchOfOne(`{"select":[{"func":"mean","arg":{"index":"sleep"}}]}`):                                                                  q + "select.0: Value error, mean does not take a timestamp",
		batchOfOne(`{"select":[{"menstrual_cycle":"menstrual_flow"}]}`):                                                                     q + "select.0: Value error, a list is read through a subquery",
		batchOfOne(`{"select":[{"derived_readiness":"recovery_score"}]}`):                                                                   q + "select.0: Value error, this column has no published formula",
		batchOfOne(`{"select":[{"group_key":0},` + steps + `]}`):                                                                            q + "select.0: Value error, group_by has no such key",
		batchOfOne(`{"select":[{"group_key":2}],"group_by":[` + daily + `,` + steps + `]}`):                                                 q + "select.0: Value error, group_by has no such key",
		batchOfOne(`{"select":[{"group_key":"*"},{"func":"sum","arg":` + steps + `}],"group_by":[` + daily + `,` + daily + `]}`):            q + "group_by.1: Value error, a query has at most one date_trunc",
		batchOfOne(`{"select":[{"func":"sum","arg":` + steps + `}],"where":"value >"}`):                                                     q + "where: Value error, expected a column, a number or a string in single quotes at position 8",
		batchOfOne(`{"select":[` + steps + `],"where":"secret = 1"}`):                                                                       q + "where: Value error, an unknown column at position 1",
		batchOfOne(`{"select":[` + steps + `],"where":"value = 'secret'"}`):                                                                 q + "where: Value error, cannot compare a number with a string at position 1",
		batchOfOne(`{"select":[` + steps + `],"where":"value = 1 value"}`):                                                                  q + "where: Value error, expected AND, OR or the end at position 11",
		batchOfOne(`{"select":[` + steps + `],"where":"1 = 1"}`):                                                                            q + "where: Value error, a comparison without a column at position 1",
		batchOfOne(`{"select":[` + steps + `],"where":"type = 'x"}`):                                                                        q + "where: Value error, a string that does not end at position 8",
		batchOfOne(`{"select":[` + steps + `],"where":"(value = 1"}`):                                                                       q + "where: Value error, expected ) at position 11",
		batchOfOne(`{"select":[` + steps + `],"where":"timestamp > 'noon'"}`):                                                               q + "where: Value error, expected a date",
		batchOfOne(`{"select":[` + steps + `],"where":"value ! 1"}`):                                                                        q + "where: Value error, an exclamation mark",
		batchOfOne(`{"select":[` + steps + `],"where":"value = 1; DROP TABLE users"}`):                                                      q + "where: Value error, an unexpected character at position 10",
		batchOfOne(`{"select":[` + steps + `],"where":"` + strings.Repeat("(", 200) + `"}`):                                                 q + "where: Value error, nested too deeply",
		batchOfOne(`{"select":[` + steps + `],"align":{"carry":{"mode":"carry_forward"}}}`):                                                 q + "align.carry: Value error, an aligned query is grouped",
		batchOfOne(`{"select":[{"func":"sum","arg":` + steps + `}],"group_by":[` + daily + `],"align":{"carry":{"mode":"carry_forward"}}}`): q + "align.carry: Value error, an aligned query selects all",
		batchOfOne(`{"select":[{"group_key":"*"},{"func":"sum","arg":` + steps + `}],"group_by":[` + daily + `],"align":{"carry":{"mode":"carry_nearest","span":{"unit":"hour"}}}}`):                            q + "align.carry.span: Value error, must not be shorter",
		batchOfOne(`{"select":[{"group_key":"*"},{"func":"sum","arg":` + steps + `}],"group_by":[` + daily + `],"align":{"carry":{"mode":"carry_forward","span":{"unit":"week"}}}}`):                            q + "align.carry.span: Extra inputs are not permitted",
		batchOfOne(`{"select":[{"group_key":"*"},{"func":"sum","arg":` + steps + `}],"group_by":[` + daily + `],"align":{"carry":{"mode":"carry_nearest","max_age":{"unit":"week"}}}}`):                         q + "align.carry.max_age: Extra inputs are not permitted",
		batchOfOne(`{"select":[{"group_key":"*"},{"func":"sum","arg":` + steps + `}],"group_by":[` + daily + `],"align":{"carry":{"mode":"carry_forward"},"max_age":{"unit":"week"}}}`):                         q + "align.max_age: Extra inputs are not permitted",
		batchOfOne(`{"select":[{"select":{"func":"count","arg":{"menstrual_flow":"date","flow":"heavy"}},"from":{"unnest":{"menstrual_cycle":"menstrual_flow"}}}]}`):                                            q + "select.0.select.arg.flow: Extra inputs are not permitted",
		batchOfOne(`{"select":[{"select":{"func":"count","arg":{"field_for":"meal","menstrual_flow":"date"}},"from":{"unnest":{"menstrual_cycle":"menstrual_flow"}}}]}`):                                        q + "select.0.select.arg.field_for: Input should be 'menstrual_cycle'",
		batchOfOne(`{"select":[{"select":{"func":"count","arg":{"element":true,"flow":1}},"from":{"unnest":{"menstrual_cycle":"menstrual_flow"}}}]}`):                                                           q + "select.0.select.arg.flow: Extra inputs are not permitted",
		batchOfOne(`{"select":[{"select":{"func":"count","arg":{"element":false}},"from":{"unnest":{"menstrual_cycle":"menstrual_flow"}}}]}`):                                                                   q + "select.0.select.arg.element: Input should be 'true'",
		batchOfOne(`{"select":[{"select":{"func":"newest","arg":{"element":true}},"from":{"unnest":{"timeseries":"note","field":"tags"}}}]}`):                                                                   q + "select.0.select: Value error, oldest and newest",
		batchOfOne(`{"select":[{"select":{"func":"max"},"from":{"unnest":{"timeseries":"note","field":"tags"}}}]}`):                                                                                             q + "select.0.select.arg: Value error, only count takes null",
		batchOfOne(`{"select":[{"select":{"func":"count"},"from":{"unnest":` + steps + `}}]}`):                                                                                                                  q + "select.0.from.unnest: Value error, only a list can be unnested",
		batchOfOne(`{"select":[{"group_key":"*"},{"func":"sum","arg":` + steps + `}],"group_by":[` + daily + `,{"date_part":"hour","arg":{"index":"timeseries"}}],"align":{"carry":{"mode":"carry_forward"}}}`): q + "align.carry: Value error",
	} {
		_, _, err := compileText(body)
		var f *fault.Error
		if !errors.As(err, &f) || f.Kind() != fault.Invalid || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ntold   %v\nwanted %s", body, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") && !strings.Contains(want, "secret") {
			t.Errorf("%v repeats what was sent", err)
		}
	}
}

// A period without a value, or with null, is one unit long.
func TestPeriodWithoutAValue(t *testing.T) {
	for _, value := range []string{"", `"value":null,`, `"value":1,`} {
		_, q, err := compileText(batchOfOne(`{"select":[{"func":"sum","arg":` + steps + `}],"group_by":[{"date_trunc":{` + value + `"unit":"week"},"arg":{"index":"timeseries"}}]}`))
		if err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		if got := q.GroupBy[0].Period; got != (Period{1, "week"}) {
			t.Errorf("%s: %+v", value, got)
		}
	}
}

// A query that is written and read again is the same query.
func TestQueriesRoundTripThroughJSON(t *testing.T) {
	for _, q := range everyForm {
		p, read, err := compileText(batchOfOne(q))
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		text, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := compileText(batchOfOne(string(text)))
		if err != nil {
			t.Errorf("%s became %s: %v", q, text, err)
			continue
		}
		if a, b := shape(p), shape(again); a != b {
			t.Errorf("%s became %s: %s and %s", q, text, a, b)
		}
	}
}

// shape describes the columns of a plan.
func shape(p *Plan) string {
	text, err := json.Marshal(map[string]any{"outputs": p.Outputs, "keys": p.Keys, "where": p.Where, "align": p.Align, "inputs": p.Inputs, "best": p.Prioritised})
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// everyForm has every form of expression.
var everyForm = []string{
	`{"select":[{"sleep":"efficiency"},{"index":"sleep"},{"source":"source_app_id"},{"value_macro":"chronotype"}],"where":"efficiency > 80 AND NOT (type = 'x' OR session_end < '2026-01-01')"}`,
	`{"select":[{"group_key":"*"},{"func":"mean","arg":` + steps + `}],"group_by":[` + daily + `,{"date_part":"weekday","arg":{"index":"timeseries"}},{"source":"source_type"}]}`,
	`{"select":[{"group_key":0},{"func":"count","arg":{"index":"timeseries"}},{"func":"max","arg":{"timeseries":"blood_pressure","field":"systolic"}}],"group_by":[{"date_trunc":{"value":3,"unit":"month"},"arg":{"index":"timeseries"}}],"align":{"carry":{"mode":"carry_nearest","span":{"unit":"year"}}}}`,
	`{"select":[{"select":{"func":"count","arg":null},"from":{"unnest":{"menstrual_cycle":"sexual_activity"}},"where":"protection_used = TRUE"},{"menstrual_cycle":"period_start"}]}`,
	`{"select":[{"func":"sum","arg":{"select":{"func":"count","arg":{"element":true}},"from":{"unnest":{"timeseries":"note","field":"tags"}},"where":"element = 'x'"}}]}`,
}

// A continuous query is grouped by a time bucket, and selects its group keys.
func TestContinuousQueries(t *testing.T) {
	for q, want := range map[string]string{
		`{"select":[{"group_key":"*"},{"func":"sum","arg":` + steps + `}],"group_by":[` + daily + `]}`:                                    "",
		`{"select":[{"func":"sum","arg":` + steps + `}],"group_by":[` + daily + `]}`:                                                      "body.queries.0.select: Value error, a continuous query selects",
		`{"select":[{"func":"sum","arg":` + steps + `}]}`:                                                                                 "body.queries.0.group_by: Value error, a continuous query is grouped",
		`{"select":[{"group_key":"*"},{"func":"sum","arg":` + steps + `}],"group_by":[{"date_part":"day","arg":{"index":"timeseries"}}]}`: "body.queries.0.group_by: Value error, a continuous query is grouped",
	} {
		p, read, err := compileText(batchOfOne(q))
		if err != nil {
			t.Fatal(err)
		}
		err = p.CheckContinuous(read)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// For any input, the decoder returns a fault of the caller or a query that encodes and
// decodes to itself.
func FuzzDecodeBatch(f *testing.F) {
	for _, q := range everyForm {
		f.Add([]byte(batchOfOne(q)))
	}
	f.Add([]byte(`{"timeframe":{"type":"relative","anchor":"0001-01-01","past":{"value":9999,"unit":"year"}},"queries":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := DecodeBatch(data)
		if err != nil {
			if fault.KindOf(err) != fault.Invalid {
				t.Fatalf("%v", err)
			}
			return
		}
		if from, to := b.Timeframe.Bounds(); from > to {
			t.Fatalf("time from %d to %d", from, to)
		}
		for _, q := range b.Queries {
			p, err := Compile(q)
			if err != nil {
				if fault.KindOf(err) != fault.Invalid {
					t.Fatalf("%v", err)
				}
				continue
			}
			text, err := json.Marshal(q)
			if err != nil {
				t.Fatal(err)
			}
			again, _, err := compileText(batchOfOne(string(text)))
			if err != nil || shape(again) != shape(p) {
				t.Fatalf("%s: %v", text, err)
			}
		}
	})
}

package apitest

import (
	"encoding/json"
	"testing"
)

// The judge is tested before it judges: a validator that accepts everything
// would make every other test here pass.
func TestValidatorRefuses(t *testing.T) {
	d := &document{schemas: map[string]*schema{"User": parseSchema(t, `{
		"type": "object", "required": ["id", "created_on"], "additionalProperties": false,
		"properties": {
			"id": {"type": "string", "format": "uuid"},
			"created_on": {"type": "string", "format": "date-time"},
			"birth": {"type": ["string", "null"], "format": "date"},
			"tags": {"type": "array", "maxItems": 2, "items": {"type": "string", "enum": ["a", "b"]}},
			"n": {"type": "integer", "minimum": 1, "maximum": 9},
			"more": {"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": {"type": "boolean"}}]}
		}}`)}}
	user := parseSchema(t, `{"$ref": "#/components/schemas/User"}`)
	const good = `"id": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "created_on": "2026-01-02T03:04:05+00:00"`

	for _, text := range []string{
		`{` + good + `}`,
		`{` + good + `, "birth": null, "tags": ["a", "b"], "n": 9, "more": {"x": true}}`,
		`{` + good + `, "birth": "2026-02-28", "more": null}`,
	} {
		if err := d.validate(user, mustDecode(t, text), "body"); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for name, text := range map[string]string{
		"missing field":         `{"id": "3fa85f64-5717-4562-b3fc-2c963f66afa6"}`,
		"field not described":   `{` + good + `, "secret": 1}`,
		"no uuid":               `{"id": "7", "created_on": "2026-01-02T03:04:05+00:00"}`,
		"no instant":            `{"id": "3fa85f64-5717-4562-b3fc-2c963f66afa6", "created_on": "2026-01-02"}`,
		"no such day":           `{` + good + `, "birth": "2026-02-30"}`,
		"wrong type":            `{` + good + `, "tags": "a"}`,
		"word not in the enum":  `{` + good + `, "tags": ["c"]}`,
		"too many items":        `{` + good + `, "tags": ["a", "a", "a"]}`,
		"fraction for integer":  `{` + good + `, "n": 1.5}`,
		"out of bounds":         `{` + good + `, "n": 10}`,
		"null where it may not": `{` + good + `, "n": null}`,
		"none of the choices":   `{` + good + `, "more": {"x": 1}}`,
		"array for object":      `[]`,
	} {
		if err := d.validate(user, mustDecode(t, text), "body"); err == nil {
			t.Errorf("%s was accepted: %s", name, text)
		}
	}
	if err := d.validate(parseSchema(t, `{"$ref": "#/components/schemas/Nobody"}`), nil, "body"); err == nil {
		t.Error("a reference to nothing was accepted")
	}
	if _, err := decode([]byte(`{} {}`)); err == nil {
		t.Error("two values were read as one")
	}
}

func parseSchema(t *testing.T, text string) *schema {
	t.Helper()
	var s schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

func mustDecode(t *testing.T, text string) any {
	t.Helper()
	value, err := decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

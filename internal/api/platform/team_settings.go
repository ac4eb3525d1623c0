package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (h *Handlers) settingRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/team/settings", h.getTeamSettings, "Get the settings of your team"),
		api.Patch("/v2/team/settings", h.changeTeamSettings, "Change settings of your team"),
	}
}

// settingsBody has all settings of a team, one member each. Its members and its schema
// come from the lists in package teams.
type settingsBody struct{ team teams.Team }

// MarshalJSON returns the settings in the order of the lists.
func (b settingsBody) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	member := func(name string, value any) error {
		text, err := json.Marshal(value)
		buf.WriteString(`,"` + name + `":`)
		buf.Write(text)
		return err
	}
	var errs []error
	for _, w := range teams.Switches {
		errs = append(errs, member(w.Name, w.On(b.team)))
	}
	for _, v := range teams.Values {
		errs = append(errs, member(v.Name, valueOf(v, b.team)))
	}
	text := append(buf.Bytes(), '}')
	text[0] = '{'
	return text, errors.Join(errs...)
}

// valueOf returns a value for the wire: a number, a text, or null for none.
func valueOf(v teams.Value, team teams.Team) any {
	text := v.Of(team)
	switch {
	case text == "":
		return nil
	case v.Most > 0:
		return json.Number(text)
	}
	return text
}

// Schema declares the settings.
func (settingsBody) Schema(huma.Registry) *huma.Schema {
	s := settingsSchema()
	for name := range s.Properties {
		s.Required = append(s.Required, name)
	}
	slices.Sort(s.Required)
	s.PrecomputeMessages()
	return s
}

// settingChanges are the settings to change, by name.
type settingChanges map[string]json.RawMessage

// Schema declares the settings, all of them optional.
func (settingChanges) Schema(huma.Registry) *huma.Schema {
	s := settingsSchema()
	s.PrecomputeMessages()
	return s
}

func settingsSchema() *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: true}
	add := func(name, means string, by teams.Changer, one huma.Schema) {
		// The command line shows the same texts in a list, without capitals.
		if one.Description = strings.ToUpper(means[:1]) + means[1:] + "."; by == teams.ByOperator {
			one.Description += " Only the operator changes it."
		}
		one.PrecomputeMessages()
		s.Properties[name] = &one
	}
	for _, w := range teams.Switches {
		add(w.Name, w.Means, w.By, huma.Schema{Type: huma.TypeBoolean})
	}
	for _, v := range teams.Values {
		none := 0
		one := huma.Schema{Type: huma.TypeString, Nullable: true, Extensions: api.StateAny(&huma.Schema{MaxLength: &none}, &huma.Schema{Format: "email"})}
		if v.Most > 0 {
			one = huma.Schema{Type: huma.TypeInteger, Nullable: true, Extensions: api.Keywords{"minimum": 1, "maximum": v.Most}}
		}
		add(v.Name, v.Means, v.By, one)
	}
	return s
}

func (h *Handlers) getTeamSettings(ctx context.Context, c api.Caller, _ *api.Empty) (*api.Out[settingsBody], error) {
	var body settingsBody
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		body.team, err = teams.Get(ctx, tx, c.Team)
		return err
	})
	return api.Answer(body), err
}

type changeTeamSettingsIn struct {
	Body settingChanges `doc:"Absent settings keep their values. Null removes an address or a number, and leaves a switch unchanged."`
}

func (h *Handlers) changeTeamSettings(ctx context.Context, c api.Caller, in *changeTeamSettingsIn) (*api.Out[settingsBody], error) {
	var body settingsBody
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		body.team, err = teams.Change(ctx, tx, c.Team, in.Body.apply)
		return err
	})
	return api.Answer(body), err
}

// apply changes the settings of a team, or returns all faults.
func (changes settingChanges) apply(team *teams.Team) error {
	names := make([]string, 0, len(changes))
	for name := range changes {
		names = append(names, name)
	}
	slices.Sort(names)
	var faults fault.List
	var forbidden error
	for _, name := range names {
		err := applyOne(team, name, changes[name])
		var bad *fault.Error
		switch {
		case fault.Is(err, fault.Forbidden):
			forbidden = err
		case errors.As(err, &bad):
			faults = append(faults, bad.At("body", name))
		case err != nil:
			return err
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return forbidden
}

// applyOne changes one setting. A setting of the operator may be sent with the value
// that it has, so that callers can send back all settings.
func applyOne(team *teams.Team, name string, value json.RawMessage) error {
	w, v, err := teams.FindSetting(name)
	if err != nil {
		return err
	}
	before := *team
	var by teams.Changer
	var same bool
	switch {
	case w != nil && string(value) == "null": // as in all optional fields
		return nil
	case w != nil:
		on := string(value) == "true"
		if !on && string(value) != "false" { // the validation of huma ignores null
			return fault.New(fault.Invalid, "Input should be a valid boolean").WithType("bool_type")
		}
		if by, same = w.By, w.On(before) == on; !same {
			w.Turn(&team.Settings, on)
		}
	default:
		text, err := textOfValue(*v, value)
		if err != nil {
			return err
		}
		if err := v.Set(&team.Settings, text); err != nil {
			return err
		}
		by, same = v.By, v.Of(before) == v.Of(*team)
	}
	if by == teams.ByOperator && !same {
		return fault.Newf(fault.Forbidden, "Only the operator of the service can change %s, with hale teams settings", name)
	}
	return nil
}

// textOfValue returns the text of a value on the wire; empty for null.
func textOfValue(v teams.Value, value json.RawMessage) (text string, err error) {
	if string(value) == "null" {
		return "", nil
	}
	if v.Most == 0 {
		err = json.Unmarshal(value, &text)
		return text, err
	}
	var n float64 // the schema allows 15.0
	if err := json.Unmarshal(value, &n); err != nil {
		return "", err
	}
	return strconv.FormatFloat(n, 'f', -1, 64), nil
}

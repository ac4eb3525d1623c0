package people

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
)

// Messages to patients. The reference shows them only in its dashboard.

func (h *Handlers) messageRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/team/outbox", h.listOutbox, "List messages to patients, newest first").Tag("messages"),
		api.Get("/v2/team/message_settings", h.getMessageSettings, "Get the settings of messages to patients").Tag("messages"),
		api.Patch("/v2/team/message_settings", h.setMessageSettings, "Change the settings of messages to patients").Tag("messages"),
	}
}

// Types for the words of a message.
type (
	channelWord      string
	messageStateWord string
)

func (channelWord) Schema(huma.Registry) *huma.Schema      { return api.Enum(messages.Channels) }
func (messageStateWord) Schema(huma.Registry) *huma.Schema { return api.Enum(messages.States) }

// messageBody is a message to a patient.
type messageBody struct {
	ID        messages.ID      `json:"id" format:"uuid"`
	UserID    users.ID         `json:"user_id" format:"uuid"`
	OrderID   *uuid.UUID       `json:"order_id" format:"uuid" nullable:"true" doc:"Order of the message. It is null for a code that opens the portal."`
	Channel   channelWord      `json:"channel"`
	Template  string           `json:"template" doc:"Name of the text, such as requisition_created.walk_in_test.sms."`
	State     messageStateWord `json:"state" doc:"State of the message. outbox means that the team is a sandbox team, whose messages are not sent. cleared means that the reminder is no longer needed."`
	Problem   *string          `json:"problem" doc:"Reason why the message was not sent: off, refused, deferred, unreachable, timeout, no_portal, switched_off, user_deleted, late and others. It is null if there is none."`
	Attempts  int              `json:"attempts"`
	Recipient string           `json:"recipient" doc:"Telephone number or e-mail address."`
	Subject   *string          `json:"subject" doc:"Subject of an e-mail."`
	Text      string           `json:"text" doc:"Text of the message. It contains the link into the portal once the message was sent. Only sandbox teams see codes."`
	DueAt     api.Time         `json:"due_at"`
	CreatedAt api.Time         `json:"created_at"`
	EndedAt   *api.Time        `json:"ended_at" nullable:"true"`
}

func shownOf(m messages.OutboxMessage) messageBody {
	var order *uuid.UUID
	if m.Order != uuid.Nil {
		order = &m.Order
	}
	return messageBody{
		ID: m.ID, UserID: m.User, OrderID: order, Channel: channelWord(m.Channel), Template: m.Template, State: messageStateWord(m.State),
		Problem: api.TextOrNull(m.Problem), Attempts: m.Attempts, Recipient: m.Recipient, Subject: api.TextOrNull(m.Subject), Text: m.Text,
		DueAt: api.Time(m.Due), CreatedAt: api.Time(m.CreatedAt), EndedAt: api.TimeOrNull(m.EndedAt),
	}
}

type listOutboxIn struct {
	UserID  []api.IDText       `query:"user_id,explode" maxItems:"50" doc:"Return only messages to these users."`
	OrderID []api.IDText       `query:"order_id,explode" maxItems:"50" doc:"Return only messages about these orders."`
	Channel []channelWord      `query:"channel,explode" maxItems:"50"`
	State   []messageStateWord `query:"state,explode" maxItems:"50"`
	Limit   int                `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor  string             `query:"next_cursor" doc:"next_cursor of the previous page."`
}

type outboxBody struct {
	Data       []messageBody `json:"data"`
	NextCursor *string       `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page."`
}

func (h *Handlers) listOutbox(ctx context.Context, c api.Caller, in *listOutboxIn) (*api.Out[outboxBody], error) {
	f := messages.Filter{Channels: api.Words[messages.Channel](in.Channel), States: api.Words[messages.State](in.State), Limit: in.Limit + 1}
	var err error
	if f.Users, err = api.ParseIDs[users.User]("user_id", in.UserID); err != nil {
		return nil, err
	}
	orders, err := api.ParseIDs[uuid.UUID]("order_id", in.OrderID)
	if err != nil {
		return nil, err
	}
	for _, order := range orders {
		f.Orders = append(f.Orders, order.UUID())
	}
	if in.Cursor != "" {
		if err := paging.Decode(in.Cursor, &f.Before); err != nil {
			return nil, err
		}
	}
	var all []messages.OutboxMessage
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = messages.List(ctx, tx, c.Team, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := outboxBody{Data: []messageBody{}}
	for i, m := range all {
		if i == in.Limit {
			next := paging.Encode(all[i-1].ID)
			body.NextCursor = &next
			break
		}
		audit.NotePeople(ctx, m.User)
		body.Data = append(body.Data, shownOf(m))
	}
	return api.Answer(body), nil
}

// messageSettings has a team's settings of messages.
type messageSettings struct {
	SMS       bool `json:"sms_enabled"`
	Email     bool `json:"email_enabled"`
	Reminders bool `json:"reminders_enabled" doc:"Whether reminders are sent. They have a link into the portal."`
}

func settingsOf(s messages.Settings) messageSettings {
	return messageSettings{SMS: s.SMS, Email: s.Email, Reminders: s.Reminders}
}

func (h *Handlers) getMessageSettings(ctx context.Context, c api.Caller, _ *api.Empty) (*api.Out[messageSettings], error) {
	var s messages.Settings
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		s, err = messages.SettingsOf(ctx, tx, c.Team)
		return err
	})
	return api.Answer(settingsOf(s)), err
}

type setMessageSettingsIn struct {
	Body struct {
		SMS       *bool `json:"sms_enabled" required:"false"`
		Email     *bool `json:"email_enabled" required:"false"`
		Reminders *bool `json:"reminders_enabled" required:"false"`
	} `doc:"Absent fields stay unchanged."`
}

func (h *Handlers) setMessageSettings(ctx context.Context, c api.Caller, in *setMessageSettingsIn) (*api.Out[messageSettings], error) {
	var s messages.Settings
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		s, err = messages.ChangeSettings(ctx, tx, c.Team, func(s *messages.Settings) {
			for at, turned := range map[*bool]*bool{&s.SMS: in.Body.SMS, &s.Email: in.Body.Email, &s.Reminders: in.Body.Reminders} {
				if turned != nil {
					*at = *turned
				}
			}
		})
		return err
	})
	return api.Answer(settingsOf(s)), err
}

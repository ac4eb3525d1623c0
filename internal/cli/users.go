package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"hale/internal/cli/client"
	"hale/internal/platform/fault"
)

func (s *shell) usersCommand() *cobra.Command {
	return s.calls(noun(&cobra.Command{
		Use: "users", Short: "create, find and delete users",
		Long: `Create, find and delete users. USER is a user_id or a client_user_id everywhere.`,
		Example: examples("hale users create anna --time-zone Europe/Vienna", "hale users get anna",
			"hale users delete anna"),
	}, s.usersList(), s.usersGet(), s.usersCreate(), s.usersDelete(), s.usersUndelete(), s.usersSearch()))
}

var userColumns = []column{
	{"user", "user_id"},
	{"client user id", "client_user_id"},
	{"created", "created_on"},
	{"sources", "connected_sources.provider.slug"},
}

var (
	userView = view{id: "user_id", columns: append(slices.Clone(userColumns),
		column{"time zone", "fallback_time_zone.id"}, column{"ingestion from", "ingestion_start"}, column{"ingestion to", "ingestion_end"})}
	usersView = view{list: "users", id: "user_id", columns: userColumns, none: "no users"}
	foundView = view{id: "user_id", columns: userColumns, none: "no user matches"}
)

func (s *shell) usersList() *cobra.Command {
	var limit, offset int
	c := &cobra.Command{
		Use: "list", Short: "list users, newest first",
		Example: examples("hale users list", "hale users list --limit 500 --offset 1000 -o jsonl"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			query := url.Values{"limit": {strconv.Itoa(limit)}, "offset": {strconv.Itoa(offset)}}
			body, err := s.call(c.Context(), http.MethodGet, "/v2/user", query, nil)
			if err != nil {
				return err
			}
			var page struct {
				Users []struct{} `json:"users"`
				Total int        `json:"total"`
			}
			if err := json.Unmarshal(body, &page); err == nil && offset+len(page.Users) < page.Total {
				s.sayDone("%d of %d users; --offset %d shows the next ones", len(page.Users), page.Total, offset+len(page.Users))
			}
			return s.show(usersView, body)
		},
	}
	c.Flags().IntVar(&limit, "limit", 100, "number of users, at most 500")
	c.Flags().IntVar(&offset, "offset", 0, "number of users to skip")
	return c
}

func (s *shell) usersGet() *cobra.Command {
	return &cobra.Command{
		Use: "get USER", Short: "show one user",
		Example: examples("hale users get anna", "hale users get anna -o id"),
		Args:    wantArgs("USER"),
		RunE: func(c *cobra.Command, args []string) error {
			body, _, err := s.findUser(c.Context(), args[0])
			if err != nil {
				return err
			}
			return s.show(userView, body)
		},
	}
}

// findUser finds a user by user_id or client_user_id. Text that looks like a user_id
// may also be a client_user_id.
func (s *shell) findUser(ctx context.Context, name string) (body json.RawMessage, id string, err error) {
	err = fault.New(fault.NotFound, "no such user")
	if _, notID := uuid.Parse(name); notID == nil {
		body, err = s.call(ctx, http.MethodGet, client.Path("v2", "user", name), nil, nil)
	}
	if fault.Is(err, fault.NotFound) {
		body, err = s.call(ctx, http.MethodGet, client.Path("v2", "user", "resolve", name), nil, nil)
	}
	if fault.Is(err, fault.NotFound) {
		return nil, "", withHint(err, "hale users search finds users by the beginning of an id, except deleted ones; hale users create creates a user")
	}
	if err != nil {
		return nil, "", err
	}
	var user struct {
		ID string `json:"user_id"`
	}
	return body, user.ID, json.Unmarshal(body, &user)
}

func (s *shell) usersCreate() *cobra.Command {
	var zone, birth, from, to string
	c := &cobra.Command{
		Use: "create CLIENT_USER_ID", Short: "create a user with your own id",
		Example: examples(
			"hale users create anna",
			"hale users create anna --time-zone Europe/Vienna --ingestion-start 2020-01-01",
			"id=$(hale users create anna -o id)",
		),
		Args: wantArgs("CLIENT_USER_ID"),

		Annotations: map[string]string{"fallback_time_zone": "--time-zone", "fallback_birth_date": "--birth-date"},
		RunE: func(c *cobra.Command, args []string) error {
			user := map[string]string{"client_user_id": args[0]}
			for name, value := range map[string]string{
				"fallback_time_zone": zone, "fallback_birth_date": birth, "ingestion_start": from, "ingestion_end": to,
			} {
				if value != "" {
					user[name] = value
				}
			}
			body, err := s.call(c.Context(), http.MethodPost, "/v2/user", nil, user)
			if err != nil {
				return err
			}
			return s.show(userView, body)
		},
	}
	c.Flags().StringVar(&zone, "time-zone", "", "IANA time zone for data without one, such as Europe/Vienna")
	c.Flags().StringVar(&birth, "birth-date", "", "birth date for calculations that need it, YYYY-MM-DD")
	c.Flags().StringVar(&from, "ingestion-start", "", "ignore data before this day, YYYY-MM-DD")
	c.Flags().StringVar(&to, "ingestion-end", "", "ignore data after this day, YYYY-MM-DD")
	return c
}

func (s *shell) usersDelete() *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use: "delete USER", Short: "delete a user; erased after seven days",
		Long: `Delete a user. The user's connections end at once. The data is erased after seven
days; until then hale users undelete restores the user.`,
		Example: examples("hale users delete anna", "hale users delete anna --dry-run"),
		Args:    wantArgs("USER"),
		RunE: func(c *cobra.Command, args []string) error {
			found, id, err := s.findUser(c.Context(), args[0])
			if err != nil {
				return err
			}
			if dryRun {
				s.sayDone("nothing was changed; this user would be deleted")
				return s.show(userView, found)
			}
			if _, err := s.call(c.Context(), http.MethodDelete, client.Path("v2", "user", id), nil, nil); err != nil {
				return err
			}
			s.sayDone("deleted; hale users undelete %s restores the user within seven days", id)
			return s.showValue(view{id: "user_id"}, map[string]any{"user_id": id, "deleted": true})
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show the user without deleting it")
	return c
}

func (s *shell) usersUndelete() *cobra.Command {
	return &cobra.Command{
		Use: "undelete USER", Short: "restore a user deleted less than seven days ago",
		Example: examples("hale users undelete 0198…", "hale users undelete anna"),
		Args:    wantArgs("USER"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.undelete(c.Context(), args[0]); err != nil {
				return err
			}
			s.sayDone("restored; the connections of the user stay ended")
			body, _, err := s.findUser(c.Context(), args[0])
			if err != nil {
				return err
			}
			return s.show(userView, body)
		},
	}
}

// undelete brings back a user by user_id or client_user_id, as findUser finds one.
func (s *shell) undelete(ctx context.Context, name string) error {
	by := func(field string) error {
		_, err := s.call(ctx, http.MethodPost, "/v2/user/undo_delete", nil, map[string]string{field: name})
		return err
	}
	err := error(fault.New(fault.NotFound, "no such user"))
	if _, notID := uuid.Parse(name); notID == nil {
		err = by("user_id")
	}
	if fault.Is(err, fault.NotFound) {
		err = by("client_user_id")
	}
	return err
}

func (s *shell) usersSearch() *cobra.Command {
	return &cobra.Command{
		Use: "search TEXT", Short: "find users by the beginning of an id or a name",
		Example: examples("hale users search ann", "hale users search 0198 -o id"),
		Args:    wantArgs("TEXT"),
		RunE: func(c *cobra.Command, args []string) error {
			return s.showGet(c.Context(), foundView, "/v2/team/users/search", url.Values{"query_id": {args[0]}})
		},
	}
}

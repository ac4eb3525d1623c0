package cli

import (
	"context"

	"github.com/spf13/cobra"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (s *shell) catalogAccounts() *cobra.Command {
	return noun(&cobra.Command{
		Use: "accounts", Short: "manage accounts with labs, used to place orders",
		Long: `Accounts with labs. An account that belongs to a team can be linked to other teams.
A platform account (--platform) has no owner; every team without its own account
with the lab can use it.`,
		Example: examples("hale catalog accounts list", "hale catalog accounts add --team Acme --lab acme_lab --number 12345 --billing all"),
	}, s.accountsList(), s.accountsAdd(), s.accountsEdit(), s.accountsStatus(), s.accountsLink(true), s.accountsLink(false))
}

// accountLine is an account as the operator sees it.
type accountLine struct {
	ID     catalogue.AccountID     `json:"lab_account_id"`
	Owner  *teams.ID               `json:"owner"`
	Lab    string                  `json:"lab"`
	LabID  catalogue.LabID         `json:"lab_id"`
	Status catalogue.AccountStatus `json:"status"`
	Flow   catalogue.DelegatedFlow `json:"delegated_flow"`
	Number string                  `json:"provider_account_id"`
	Name   string                  `json:"account_name"`
	Teams  []teams.ID              `json:"teams"`

	Billing map[catalogue.Billing][]string `json:"allowed_billing"`
}

var accountView = view{
	id: "lab_account_id",
	columns: []column{
		{"account", "lab_account_id"},
		{"lab", "lab"},
		{"status", "status"},
		{"flow", "delegated_flow"},
		{"number", "provider_account_id"},
		{"name", "account_name"},
		{"owner", "owner"},
		{"teams", "teams"},
	},
	none: "no accounts yet: hale catalog accounts add adds one; sandbox teams use the platform account",
}

func accountLines(ctx context.Context, tx *store.Tx, only catalogue.AccountID) ([]accountLine, error) {
	all, err := catalogue.StoredAccounts(ctx, tx)
	lines := []accountLine{}
	for _, a := range all {
		if only.IsZero() || a.ID == only {
			lines = append(lines, accountLine{a.ID, a.Owner, a.Lab.Slug, a.Lab.ID, a.Status, a.Flow, a.Number, a.Name, append([]teams.ID{}, a.Teams...), a.AllowedBilling})
		}
	}
	return lines, err
}

// changeAccount makes a change and shows the changed account.
func (s *shell) changeAccount(ctx context.Context, db *store.DB, change func(tx *store.Tx) (catalogue.AccountID, error)) error {
	var lines []accountLine
	err := db.Write(ctx, func(tx *store.Tx) error {
		id, err := change(tx)
		if err != nil {
			return err
		}
		lines, err = accountLines(ctx, tx, id)
		return err
	})
	if err != nil {
		return err
	}
	return s.showValue(accountView, lines)
}

func (s *shell) accountsList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the stored accounts, oldest first",
		Example: examples("hale catalog accounts list"),
		Args:    wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				var lines []accountLine
				err := db.Read(ctx, func(tx *store.Tx) (err error) {
					lines, err = accountLines(ctx, tx, catalogue.AccountID{})
					return err
				})
				if err != nil {
					return err
				}
				return s.showValue(accountView, lines)
			})
		},
	}
}

func (s *shell) accountsAdd() *cobra.Command {
	var team, lab, billing string
	var platform bool
	var n catalogue.NewAccount
	c := &cobra.Command{
		Use: "add", Short: "add an account with a lab",
		Example: examples(`hale catalog accounts add --team Acme --lab acme_lab --number 12345 --billing '{"client_bill":["AZ","CA"]}'`,
			"hale catalog accounts add --platform --lab acme_lab --number 12345 --billing all"),
		Args: wantArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if billing == "" {
				return badUsagef(`--billing is required: "all" or JSON such as {"client_bill":["AZ","CA"]}`)
			}
			if n.AllowedBilling, err = billingFlag(billing); err != nil {
				return err
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				owner, err := findTeam(ctx, db, team)
				if err != nil {
					return err
				}
				return s.changeAccount(ctx, db, func(tx *store.Tx) (catalogue.AccountID, error) {
					found, err := catalogue.Load(ctx, tx, owner.ID)
					if err != nil {
						return catalogue.AccountID{}, err
					}
					l, ok := found.LabBySlug(lab)
					if !ok {
						return catalogue.AccountID{}, withHint(fault.New(fault.NotFound, "no such lab"), "hale catalog labs lists them")
					}
					n.Lab = l.ID
					if n.Owner = &owner.ID; platform {
						n.Owner = nil
					}
					return catalogue.AddAccount(ctx, tx, n)
				})
			})
		},
	}
	c.Flags().StringVar(&team, "team", "", "owner: id or name; not needed if there is only one team")
	c.Flags().BoolVar(&platform, "platform", false, "open the account to every team; --team then only selects the labs")
	c.Flags().StringVar(&lab, "lab", "", "slug of the lab")
	c.Flags().StringVar((*string)(&n.Status), "status", string(catalogue.AccountActive), "active, pending, suspended or ready_to_launch")
	c.Flags().StringVar((*string)(&n.Flow), "flow", string(catalogue.NotDelegated), "not_delegated, order_delegated, result_delegated or fully_delegated")
	c.Flags().StringVar(&n.Number, "number", "", "the account's number at the lab")
	c.Flags().StringVar(&n.Name, "name", "", "name of the account")
	c.Flags().StringVar(&n.DefaultNotes, "notes", "", "clinical notes for every requisition, at most 1000 characters")
	c.Flags().StringSliceVar(&n.BusinessUnits, "business-units", nil, "regional companies of the lab that accept it")
	c.Flags().StringVar(&billing, "billing", "", "required: all, or JSON of billing types to states; an account without them accepts no order")
	return c
}

func (s *shell) accountsEdit() *cobra.Command {
	var e catalogue.AccountEdit
	var number, name, notes, flow, billing string
	var units []string
	c := &cobra.Command{
		Use: "edit ACCOUNT", Short: "change an account; fields that are not named keep their values",
		Example: examples(`hale catalog accounts edit 019f0000-0000-7000-8000-000000000000 --billing '{"client_bill":["AZ","CA"]}'`,
			"hale catalog accounts edit 019f0000-0000-7000-8000-000000000000 --number 12345 --name 'Acme North'"),
		Args: wantArgs("ACCOUNT"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := accountArg(args[0])
			if err != nil {
				return err
			}
			for flag, field := range map[string]func() error{
				"billing":        func() (err error) { e.AllowedBilling, err = billingFlag(billing); return err },
				"flow":           func() error { e.Flow = (*catalogue.DelegatedFlow)(&flow); return nil },
				"number":         func() error { e.Number = &number; return nil },
				"name":           func() error { e.Name = &name; return nil },
				"notes":          func() error { e.DefaultNotes = &notes; return nil },
				"business-units": func() error { e.BusinessUnits = &units; return nil },
			} {
				if !c.Flags().Changed(flag) {
					continue
				}
				if err := field(); err != nil {
					return err
				}
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				return s.changeAccount(ctx, db, func(tx *store.Tx) (catalogue.AccountID, error) {
					return id, catalogue.EditAccount(ctx, tx, id, e)
				})
			})
		},
	}
	c.Flags().StringVar(&flow, "flow", "", "not_delegated, order_delegated, result_delegated or fully_delegated")
	c.Flags().StringVar(&number, "number", "", "the account's number at the lab")
	c.Flags().StringVar(&name, "name", "", "name of the account")
	c.Flags().StringVar(&notes, "notes", "", "clinical notes for every requisition, at most 1000 characters")
	c.Flags().StringSliceVar(&units, "business-units", nil, "regional companies of the lab that accept it")
	c.Flags().StringVar(&billing, "billing", "", "all, or JSON of billing types to states")
	return c
}

func (s *shell) accountsStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status ACCOUNT STATUS", Short: "change an account's status",
		Long:    "Change an account's status: active, pending, suspended or ready_to_launch.",
		Example: examples("hale catalog accounts status 019f0000-0000-7000-8000-000000000000 suspended"),
		Args:    wantArgs("ACCOUNT", "STATUS"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := accountArg(args[0])
			if err != nil {
				return err
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				return s.changeAccount(ctx, db, func(tx *store.Tx) (catalogue.AccountID, error) {
					return id, catalogue.SetAccountStatus(ctx, tx, id, catalogue.AccountStatus(args[1]))
				})
			})
		},
	}
}

// accountsLink returns the command link, or unlink if link is false.
func (s *shell) accountsLink(link bool) *cobra.Command {
	use, short, change := "link", "allow a team to order under an account", catalogue.LinkAccount
	if !link {
		use, short, change = "unlink", "remove a team from an account; placed orders stay", catalogue.UnlinkAccount
	}
	return &cobra.Command{
		Use: use + " ACCOUNT TEAM", Short: short,
		Example: examples("hale catalog accounts " + use + " 019f0000-0000-7000-8000-000000000000 'Acme Health'"),
		Args:    wantArgs("ACCOUNT", "TEAM"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := accountArg(args[0])
			if err != nil {
				return err
			}
			return s.withDatabase(c, func(ctx context.Context, db *store.DB) error {
				team, err := findTeam(ctx, db, args[1])
				if err != nil {
					return err
				}
				return s.changeAccount(ctx, db, func(tx *store.Tx) (catalogue.AccountID, error) {
					return id, change(ctx, tx, id, team.ID)
				})
			})
		},
	}
}

func accountArg(text string) (catalogue.AccountID, error) {
	return idArg[catalogue.Account]("ACCOUNT", "an account with a lab", text, "hale catalog accounts list shows them")
}

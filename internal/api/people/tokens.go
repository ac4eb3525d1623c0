package people

import (
	"context"
	"maps"
	"net/netip"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"hale/internal/api"
	"hale/internal/people/tokens"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// A team may repeat these requests with one Idempotency-Key. The stored answer is sealed
// with the person's key, and its secret still works for one exchange. Exchanges by phones
// have their own rules.
func (h *Handlers) tokenRoutes() []api.Route {
	return []api.Route{
		api.Post("/v2/user/{user_id}/sign_in_token", h.createSignInToken, "Create a token with which a phone signs in as a user").Creates(),
		api.Delete("/v2/user/{user_id}/sign_in_token", h.endSignIns, "Sign out every phone of a user"),
		api.Post("/v2/link/code/create", h.createLinkCode, "Create a code with which a phone signs in as a user").Creates(),
		api.Post("/v2/link/exchange", h.exchangeSignIn, "Exchange a sign-in token or a link code for tokens of a phone").Open().Sensitive(),
		api.Post("/v2/link/refresh", h.refreshTokens, "Renew the tokens of a phone").Open().Sensitive(),
		api.Post("/v2/link/sign_out", h.signOut, "Sign a phone out").Open().Sensitive(),
	}
}

// signInTokenBody is the reference's UserSignInTokenResponse.
//
// Reference 5.9.
type signInTokenBody struct {
	UserID      users.ID `json:"user_id" format:"uuid"`
	SignInToken string   `json:"sign_in_token" doc:"Token for one exchange within ten minutes. It is a secret."`
}

func (h *Handlers) createSignInToken(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[signInTokenBody], error) {
	return api.Commit(ctx, h.API, func(tx *store.Tx) (signInTokenBody, error) {
		token, err := tokens.CreateSignIn(ctx, tx, c.Team, in.UserID)
		return signInTokenBody{in.UserID, token.Reveal()}, err
	})
}

func (h *Handlers) endSignIns(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[api.SuccessBody], error) {
	done, err := h.CommitSuccess(ctx, func(tx *store.Tx) error { return tokens.SignOutAll(ctx, tx, c.Team, in.UserID) })
	if err == nil {
		h.ForgetCallers(func(known api.Caller) bool { return known.User == in.UserID })
	}
	return done, err
}

type linkCodeIn struct {
	UserID    users.ID             `query:"user_id" required:"true" format:"uuid"`
	ExpiresAt api.Maybe[time.Time] `query:"expires_at" doc:"Time of expiry, at most seven days from now. The default is one hour from now."`
}

// linkCodeBody has a code and the address that opens the app with it.
//
// Reference 6.9.
type linkCodeBody struct {
	Code        string   `json:"code" pattern:"^(sk|pk)(eu|us)[0-9a-f]{8}$" doc:"Code for one exchange. Show it to the person. Do not send it by e-mail or SMS: it is short enough to be guessed."`
	ExchangeURL string   `json:"exchange_url" doc:"URL that opens the app with the code, for example from a QR code. The scheme is hale."`
	ExpiresAt   api.Time `json:"expires_at"`

	user users.ID
}

func (h *Handlers) createLinkCode(ctx context.Context, c api.Caller, in *linkCodeIn) (*api.Out[linkCodeBody], error) {
	return api.Commit(ctx, h.API, func(tx *store.Tx) (linkCodeBody, error) {
		code, err := tokens.CreateCode(ctx, tx, c.Team, in.UserID, in.ExpiresAt.Pointer())
		text := code.Text.Reveal()
		return linkCodeBody{text, "hale://link?code=" + text, api.Time(code.ExpiresOn), in.UserID}, err
	})
}

type exchangeIn struct {
	Body    exchangeInBody
	address string
}

type exchangeInBody struct {
	SignInToken string `json:"sign_in_token,omitempty" maxLength:"256" doc:"Token to exchange. Send either this or code."`
	Code        string `json:"code,omitempty" maxLength:"256" doc:"A link code, in upper or lower case."`
}

// TransformSchema states the rules of the domain.
func (exchangeInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"": api.OneOf(api.HasText("sign_in_token"), api.HasText("code")),
	})
}

// Resolve stores the address of the caller, for the limit of guesses.
func (in *exchangeIn) Resolve(ctx huma.Context) []error {
	in.address = ctx.RemoteAddr()
	return nil
}

// tokensBody has a pair of tokens under the names of OAuth 2.
type tokensBody struct {
	UserID       users.ID `json:"user_id" format:"uuid" doc:"The user of the tokens."`
	AccessToken  string   `json:"access_token" doc:"Access token, a secret. Send it as Authorization: Bearer."`
	TokenType    string   `json:"token_type" enum:"Bearer"`
	ExpiresIn    int64    `json:"expires_in" doc:"Lifetime of the access token in seconds."`
	RefreshToken string   `json:"refresh_token" doc:"Secret for one renewal. If the answer is lost, repeat the request within an hour: the answer has the same refresh token."`
}

func tokensOf(s tokens.Session) tokensBody {
	return tokensBody{s.User, s.Access.Reveal(), "Bearer", int64(tokens.AccessLife.Seconds()), s.Refresh.Reveal()}
}

func (h *Handlers) exchangeSignIn(ctx context.Context, _ api.Caller, in *exchangeIn) (*api.Out[tokensBody], error) {
	if (in.Body.SignInToken == "") == (in.Body.Code == "") {
		return nil, fault.New(fault.Invalid, "Value error, give either sign_in_token or code").At("body").WithType("value_error")
	}
	if in.Body.Code == "" {
		return h.exchange(ctx, tokens.SignInToken, secrets.Text(in.Body.SignInToken))
	}
	guess, err := h.guesses.reserve(in.address, h.DB.Now())
	if err != nil {
		return nil, err
	}
	body, err := h.exchange(ctx, tokens.LinkCode, tokens.NormalizeCode(in.Body.Code))
	if !fault.Is(err, fault.Unauthenticated) {
		guess.cancel()
	}
	return body, err
}

func (h *Handlers) exchange(ctx context.Context, kind tokens.Kind, text secrets.Text) (*api.Out[tokensBody], error) {
	ctx = store.AsSystem(ctx)
	var session tokens.Session
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		session, err = tokens.Exchange(ctx, tx, kind, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(tokensOf(session)), nil
}

type refreshTokenIn struct {
	Body struct {
		RefreshToken string `json:"refresh_token" maxLength:"256"`
	}
}

func (h *Handlers) refreshTokens(ctx context.Context, _ api.Caller, in *refreshTokenIn) (*api.Out[tokensBody], error) {
	ctx = store.AsSystem(ctx)
	var session tokens.Session
	var ended bool
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		session, ended, err = tokens.Refresh(ctx, tx, secrets.Text(in.Body.RefreshToken))
		return err
	})
	if err == nil && ended {
		h.ForgetCallers(func(known api.Caller) bool { return known.Session == session.ID })
		err = tokens.ErrInvalid
	}
	if err != nil {
		return nil, err
	}
	return api.Answer(tokensOf(session)), nil
}

// signOut ends the session of a refresh token. It succeeds if the session has ended.
func (h *Handlers) signOut(ctx context.Context, _ api.Caller, in *refreshTokenIn) (*api.Out[api.SuccessBody], error) {
	ctx = store.AsSystem(ctx)
	var session tokens.SessionID
	done, err := h.CommitSuccess(ctx, func(tx *store.Tx) (err error) {
		session, err = tokens.SignOut(ctx, tx, secrets.Text(in.Body.RefreshToken))
		return err
	})
	if err == nil && !session.IsZero() {
		h.ForgetCallers(func(known api.Caller) bool { return known.Session == session })
	}
	return done, err
}

// Subject returns the user whose key seals a stored answer.
func (b linkCodeBody) Subject() uuid.UUID { return b.user.UUID() }

// A link code has 32 bits, because its pattern has room for no more. So each node limits
// wrong guesses: ten in ten minutes from one address, and thirty in a minute from all.
//
// Guesses beyond the thirty are refused only if their own network has guessed wrong
// before: three times, and then once an hour. So wrong codes from anywhere do not keep
// other people out. Up to 10,000 networks have a count of their own. All together can
// guess about 200 times a minute. With a hundred open codes at all times, a right guess
// then takes 150 days on average. From few networks it takes more than two years.
//
// An address that used its ten guesses must wait even with a right code. If right codes
// always passed, the limit would limit nothing.
const (
	burstFromOne        = 10
	burstFromAll        = 30
	burstFromNetwork    = 3
	maxAddresses        = 10_000
	maxNetworks         = 10_000
	intervalFromOne     = time.Minute
	intervalFromAll     = 2 * time.Second
	intervalFromNetwork = time.Hour
	tooManyGuesses      = "Too many wrong codes; try again later"
)

// guessLimiter counts wrong guesses. A right guess is not counted.
type guessLimiter struct {
	mu        sync.Mutex
	all       *rate.Limiter
	addresses map[string]*rate.Limiter
	networks  map[string]*rate.Limiter // that guessed while all together had no guess left
}

func newGuessLimiter() *guessLimiter {
	return &guessLimiter{
		all:       rate.NewLimiter(rate.Every(intervalFromAll), burstFromAll),
		addresses: map[string]*rate.Limiter{},
		networks:  map[string]*rate.Limiter{},
	}
}

// guess is a guess that was counted and not checked yet.
type guess struct {
	at           time.Time
	reservations []*rate.Reservation
}

// cancel removes the guess from the count: it was right, or was not checked.
func (g *guess) cancel() {
	for _, r := range g.reservations {
		r.CancelAt(g.at)
	}
}

// take counts the guess in a limiter. It returns the time to wait if there is none left.
func (g *guess) take(l *rate.Limiter) (wait time.Duration) {
	r := l.ReserveN(g.at, 1)
	if wait = r.DelayFrom(g.at); wait > 0 {
		r.CancelAt(g.at)
		return wait
	}
	g.reservations = append(g.reservations, r)
	return 0
}

// reserve counts a guess before it is checked, so that concurrent guesses cannot exceed
// the limit.
func (g *guessLimiter) reserve(address string, now time.Time) (*guess, error) {
	taken := &guess{at: now}
	wait := taken.take(g.limiterOf(address))
	if wait == 0 {
		if wait = taken.take(g.all); wait > 0 {
			if l := g.limiterOfNetwork(address, now); l != nil {
				wait = taken.take(l)
			}
		}
	}
	if wait > 0 {
		taken.cancel()
		return nil, &api.TooManyError{Text: tooManyGuesses, Wait: wait}
	}
	return taken, nil
}

func (g *guessLimiter) limiterOf(address string) *rate.Limiter {
	host := api.AddressOf(address)
	g.mu.Lock()
	defer g.mu.Unlock()
	l, ok := g.addresses[host]
	if !ok {
		if len(g.addresses) >= maxAddresses {
			clear(g.addresses) // the other limits remain
		}
		l = rate.NewLimiter(rate.Every(intervalFromOne), burstFromOne)
		g.addresses[host] = l
	}
	return l
}

// limiterOfNetwork returns the limiter of an IPv4 address or an IPv6 /48, or nil if too
// many networks have guessed.
func (g *guessLimiter) limiterOfNetwork(address string, now time.Time) *rate.Limiter {
	network := api.AddressOf(address)
	if host, err := netip.ParseAddrPort(address); err == nil && host.Addr().Unmap().Is6() {
		network = netip.PrefixFrom(host.Addr().WithZone(""), 48).Masked().String()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	l, ok := g.networks[network]
	if ok {
		return l
	}
	if len(g.networks) >= maxNetworks {
		maps.DeleteFunc(g.networks, func(_ string, l *rate.Limiter) bool { return l.TokensAt(now) >= burstFromNetwork })
	}
	if len(g.networks) >= maxNetworks {
		return nil
	}
	l = rate.NewLimiter(rate.Every(intervalFromNetwork), burstFromNetwork)
	g.networks[network] = l
	return l
}

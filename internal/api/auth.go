package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"hale/internal/people/tokens"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Caller is the sender of a request: a team with one of its keys, or the phone of a
// signed-in user. ownDataOnly has limited a phone to its user's data before a handler
// runs.
type Caller struct {
	Team        teams.ID
	Key         teams.KeyID // zero for a phone
	Environment teams.Environment
	User        users.ID // zero for a team
	Session     tokens.SessionID
	Rights      *teams.Rights // of the key; nil for a phone
}

const (
	// keyTTL is the maximum time for which a node accepts a revoked key.
	keyTTL = 5 * time.Second
	// touchEvery is the minimum time between two writes of the last-used time.
	touchEvery = time.Minute
	// mostKeys is the maximum size of the cache.
	mostKeys = 10_000
)

// authenticate finds the Caller of a request's key and limits the context to its team.
// Missing, wrong and expired keys follow the same path through the database, so that the
// response time reveals nothing. Open operations have no Caller.
func (a *API) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.openOperations[requestName(r)] {
			next.ServeHTTP(w, r)
			return
		}
		text := a.keyText(r)
		c, err := a.caller(r.Context(), text)
		switch {
		case errors.Is(err, teams.ErrNoKey) && text == "":
			WriteDetail(w, http.StatusUnauthorized, "Missing "+a.KeyHeaders[0])
		case errors.Is(err, teams.ErrNoKey):
			a.refuseKey(w, r)
		case errors.Is(err, tokens.ErrInvalid): // a phone refreshes its token, and many share an address
			WriteDetail(w, http.StatusUnauthorized, "invalid token")
		case err != nil:
			writeError(w, a.refusal(r.Context(), err))
		default:
			NoteTeam(r.Context(), c.Team.String())
			ctx := context.WithValue(store.WithTeam(r.Context(), c.Team.UUID()), callerKey{}, c)
			next.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

// keyText returns the key in one of the accepted headers, or the bearer token.
func (a *API) keyText(r *http.Request) string {
	for _, name := range a.KeyHeaders {
		if v := r.Header.Get(name); v != "" {
			return strings.TrimSpace(v)
		}
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(token)
	}
	return ""
}

func (a *API) caller(ctx context.Context, text string) (Caller, error) {
	hash := [32]byte(secrets.Hash(text))
	now := a.DB.Now()
	cached, ok := a.keys.get(hash, now)
	if !ok {
		c, end, err := a.resolve(ctx, text)
		if err != nil {
			return Caller{}, err
		}
		cached = cachedKey{caller: c, until: now.Add(keyTTL)}
		if end != nil && end.Before(cached.until) {
			cached.until = *end
		}
		a.keys.put(hash, cached)
	}
	if cached.caller.User.IsZero() {
		a.touch(ctx, hash, cached.caller, now)
	}
	return cached.caller, nil
}

// resolve returns the owner of a key or access token and its expiry, nil for none.
func (a *API) resolve(ctx context.Context, text string) (c Caller, end *time.Time, err error) {
	err = a.DB.Read(store.AsSystem(ctx), func(tx *store.Tx) error {
		if tokens.IsAccess(text) {
			access, err := tokens.Resolve(ctx, tx, text)
			c = Caller{Team: access.Team, Environment: access.Environment, User: access.User, Session: access.Session}
			end = &access.ExpiresOn
			return err
		}
		team, key, err := teams.Resolve(ctx, tx, text)
		c, end = Caller{Team: team.ID, Key: key.ID, Environment: team.Environment, Rights: &key.Rights}, key.ExpiresAt
		return err
	})
	return c, end, err
}

// touch writes the last-used time, at most once a minute per key, in the background.
func (a *API) touch(ctx context.Context, hash [32]byte, c Caller, now time.Time) {
	if !a.keys.touchDue(hash, now) {
		return
	}
	ctx = store.AsSystem(context.WithoutCancel(ctx))
	a.background.Go(func() {
		err := a.DB.Write(ctx, func(tx *store.Tx) error { return teams.Touch(ctx, tx, c.Team, c.Key) })
		if err != nil && !errors.Is(err, store.ErrClosed) {
			a.Log.WarnContext(ctx, "the last use of a key cannot be recorded", "error", err)
		}
	})
}

type cachedKey struct {
	caller Caller
	until  time.Time
}

// keyCache caches valid keys for keyTTL, by hash. Invalid keys are not cached.
type keyCache struct {
	mu      sync.RWMutex
	keys    map[[32]byte]cachedKey
	touched map[[32]byte]time.Time
}

func newKeyCache() *keyCache {
	return &keyCache{keys: map[[32]byte]cachedKey{}, touched: map[[32]byte]time.Time{}}
}

func (c *keyCache) get(hash [32]byte, now time.Time) (cachedKey, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.keys[hash]
	return k, ok && now.Before(k.until)
}

func (c *keyCache) put(hash [32]byte, k cachedKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.keys) >= mostKeys {
		clear(c.keys)
		clear(c.touched)
	}
	c.keys[hash] = k
}

// drop removes some callers from the cache of this node.
func (c *keyCache) drop(which func(Caller) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.keys, func(_ [32]byte, k cachedKey) bool { return which(k.caller) })
}

// touchDue reports whether to write the last-used time now, and records the time.
func (c *keyCache) touchDue(hash [32]byte, now time.Time) bool {
	c.mu.RLock()
	last, ok := c.touched[hash]
	c.mu.RUnlock()
	if ok && now.Sub(last) < touchEvery {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, ok := c.touched[hash]; ok && now.Sub(last) < touchEvery {
		return false
	}
	c.touched[hash] = now
	return true
}

// requestName returns the name of a request in the tables of open and own operations.
func requestName(r *http.Request) string {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return method + " " + chi.RouteContext(r.Context()).RoutePattern()
}

// ErrOthersData is the error for a phone that asks for the data of other users.
var ErrOthersData = fault.New(fault.Forbidden, "This token is for sending and reading its own user's data only")

// ownDataOnly limits a phone to the data of its user. It refuses operations that are
// not marked OwnData, and the ids of other users, existing or not. It runs before the
// handler reads the request.
func (a *API) ownDataOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := CallerOf(r.Context()); !c.User.IsZero() {
			if !a.ownDataOperations[requestName(r)] || !isOwnPath(r, c.User) {
				WriteDetail(w, http.StatusForbidden, ErrOthersData.Message())
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// isOwnPath reports whether the path names the user, or no user.
func isOwnPath(r *http.Request, user users.ID) bool {
	named := chi.RouteContext(r.Context()).URLParams.Keys
	if !slices.Contains(named, "user_id") {
		return true
	}
	id, err := ids.Parse[users.User](chi.URLParam(r, "user_id"))
	return err == nil && id == user
}

// rateLimitID returns the id for the rate limit: of the key, or of the phone.
func (c Caller) rateLimitID() uuid.UUID {
	if c.User.IsZero() {
		return c.Key.UUID()
	}
	return c.Session.UUID()
}

// ForgetCallers removes some callers from the cache of this node.
func (a *API) ForgetCallers(which func(Caller) bool) { a.keys.drop(which) }

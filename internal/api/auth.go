package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"hale/internal/people/tokens"
	"hale/internal/people/users"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Caller is who sent a request: a team, by one of its keys, or a phone that is
// signed in as one of its users. ownDataOnly has already kept a phone to its
// user's own data when a handler sees one.
type Caller struct {
	Team        teams.ID
	Key         teams.KeyID // zero for a phone
	Environment teams.Environment
	User        users.ID // zero for a team
	Session     tokens.SessionID
}

const (
	// keyTTL is how long a node may go on accepting a revoked key.
	keyTTL = 5 * time.Second
	// touchEvery bounds how often the last-used time is written.
	touchEvery = time.Minute
	// mostKeys bounds the cache.
	mostKeys = 10_000
)

// authenticate turns the key of a request into a Caller and scopes the
// context to its team. Missing, wrong and ended keys take the same way
// through the database, so that time tells nothing apart. Open operations have
// no Caller.
func (a *API) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.anybody[named(r)] {
			next.ServeHTTP(w, r)
			return
		}
		text := a.keyText(r)
		c, err := a.caller(r.Context(), text)
		switch {
		case errors.Is(err, teams.ErrNoKey) && text == "":
			writeDetail(w, http.StatusUnauthorized, "Missing "+a.KeyHeaders[0])
		case errors.Is(err, teams.ErrNoKey), errors.Is(err, tokens.ErrInvalid):
			writeDetail(w, http.StatusUnauthorized, "invalid token")
		case err != nil:
			writeError(w, a.refusal(r.Context(), err))
		default:
			noteTeam(r.Context(), c.Team.String())
			ctx := context.WithValue(store.WithTeam(r.Context(), c.Team.UUID()), callerKey{}, c)
			next.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

// keyText finds the key: one of the accepted headers, or a bearer token.
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
	now := a.db.Now()
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

// resolve finds whose key or access token it is, and when that ends; nil is
// never.
func (a *API) resolve(ctx context.Context, text string) (c Caller, end *time.Time, err error) {
	err = a.db.Read(store.AsSystem(ctx), func(tx *store.Tx) error {
		if tokens.IsAccess(text) {
			access, err := tokens.Resolve(ctx, tx, text)
			c = Caller{Team: access.Team, Environment: access.Environment, User: access.User, Session: access.Session}
			end = &access.ExpiresOn
			return err
		}
		team, key, err := teams.Resolve(ctx, tx, text)
		c, end = Caller{Team: team.ID, Key: key.ID, Environment: team.Environment}, key.ExpiresAt
		return err
	})
	return c, end, err
}

// touch writes the last-used time, at most once a minute for each key and
// without making the request wait.
func (a *API) touch(ctx context.Context, hash [32]byte, c Caller, now time.Time) {
	if !a.keys.due(hash, now) {
		return
	}
	ctx = store.AsSystem(context.WithoutCancel(ctx))
	a.background.Go(func() {
		err := a.db.Write(ctx, func(tx *store.Tx) error { return teams.Touch(ctx, tx, c.Team, c.Key) })
		if err != nil && !errors.Is(err, store.ErrClosed) {
			a.Log.WarnContext(ctx, "last use of a key not recorded", "error", err)
		}
	})
}

type cachedKey struct {
	caller Caller
	until  time.Time
}

// keyCache remembers good keys for keyTTL, by hash. Bad ones are not
// remembered: each takes the long way.
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

// drop forgets some callers at once, on this node.
func (c *keyCache) drop(which func(Caller) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.keys, func(_ [32]byte, k cachedKey) bool { return which(k.caller) })
}

// due reports that the last use should be written now, and notes it.
func (c *keyCache) due(hash [32]byte, now time.Time) bool {
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

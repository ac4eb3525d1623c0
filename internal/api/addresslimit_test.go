package api

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// An address may send a number of wrong keys per minute. The log has one line a minute.
func TestWrongKeysAreSlowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAddressLimit(6)
		try := func(address string, waits bool, warns bool) {
			t.Helper()
			wait, warn := w.count(address, time.Now())
			if (wait > 0) != waits || warn != warns {
				t.Errorf("%s: wait %s, warn %t", address, wait, warn)
			}
			if waits && wait > 10*time.Second {
				t.Errorf("wait %s", wait)
			}
		}
		for range 6 {
			try("192.0.2.1", false, false)
		}
		try("192.0.2.1", true, true)
		try("192.0.2.1", true, false)
		try("192.0.2.2", false, false)
		time.Sleep(10 * time.Second)
		try("192.0.2.1", false, false)
		try("192.0.2.1", true, false)
		time.Sleep(50 * time.Second)
		for range 5 {
			try("192.0.2.1", false, false)
		}
		try("192.0.2.1", true, true)
		time.Sleep(time.Minute)
		for range 6 {
			try("192.0.2.1", false, false)
		}
	})
}

func TestWrongKeysHaveBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAddressLimit(2)
		for i := range maxAddresses {
			w.count(fmt.Sprint(i), time.Now())
		}
		w.count("1", time.Now())
		time.Sleep(30 * time.Second) // all but one have their whole limit again
		w.count("new", time.Now())
		if len(w.addresses) != 2 {
			t.Errorf("%d addresses", len(w.addresses))
		}
		for i := range 2 * maxAddresses {
			w.count(fmt.Sprint(i), time.Now())
		}
		if len(w.addresses) > maxAddresses {
			t.Errorf("%d addresses", len(w.addresses))
		}
	})
}

func TestNoLimitOfWrongKeys(t *testing.T) {
	w := newAddressLimit(0)
	for range 1000 {
		if wait, _ := w.count("192.0.2.1", time.Now()); wait != 0 {
			t.Fatal("a key has to wait")
		}
	}
}

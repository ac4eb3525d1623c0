package loopback_test

import (
	"testing"

	"hale/internal/harness/loopback"
)

func TestFreeAddressReturnsEachAddressOnce(t *testing.T) {
	returned := map[string]bool{}
	for range 1000 { // of 20,000 ports, so that a random choice alone repeats some
		address, err := loopback.FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		if returned[address] {
			t.Fatalf("%s was returned twice", address)
		}
		returned[address] = true
	}
}

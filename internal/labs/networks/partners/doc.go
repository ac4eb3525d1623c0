// Package partners is the network of companies that visit patients, or ship test
// kits, for production teams. Hale and the partner post signed JSON to each
// other; docs/fulfilment.md is the protocol.
//
// Visits and kits without a partner are arranged by staff: see package
// fulfilment. The network then accepts only requests for visits.
//
//	settings.go   the partners
//	client.go     posts to a partner
//	network.go    kits, slots, visits, and the signature of a partner's report
package partners

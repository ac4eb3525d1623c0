// Package connections has the links between users and providers, and the
// devices that data came from.
//
// A connection says that a user's data comes from a provider, since when, and
// which resources it brings. A phone's connection is made by the first data
// that the phone sends, and made again if it sends more after the connection
// was removed: deregistering a phone's health store lasts only when the app
// stops as well (reference 6.7). Data that came in stays.
//
//	connections.go  Ensure, List, Deregister
//	pause.go        the end of collection: connections that take nothing more
//	announce.go     what is told of a new connection or device
//	linked.go       which providers many users are linked to
//	devices.go      EnsureDevice, and reading devices
//	devicetexts.go  what a device may say of itself
//	known.go        which devices are whose
//	refresh.go      asking for new data now, and which sources cannot be asked
//	demo.go         connections whose data is invented; package demo invents it
//	metrics.go      a team's connections in numbers
package connections

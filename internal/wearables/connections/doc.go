// Package connections has the connections between users and providers, and the
// devices of users.
//
// A connection says since when a provider delivers a user's data, and which resources.
// The first data of a phone creates its connection. If the phone sends more after the
// removal of the connection, the data creates it again. To remove a phone's health
// store for good, the app must stop as well (reference 6.7). Stored data stays.
//
//	connections.go  Ensure, List, Deregister, the connections of many users, the end of
//	                collection, counts
//	announce.go     events about connections and devices
//	devices.go      devices, their texts, and a cache of them
//	refresh.go      refreshing data now
//	demo.go         connections with generated data; package demo generates it
package connections

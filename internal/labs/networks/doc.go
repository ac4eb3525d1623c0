// Package networks says what a lab network can do, in words that no network
// owns. A network takes orders and sends back what became of them; how it is
// spoken to (HL7 over MLLP, files, a simulator) is the matter of the package
// below that has its slug.
//
// Reads in this order: order.go (what is placed), network.go (what a network
// can do), booking.go (appointments), report.go (what comes back).
//
// Nothing here touches the database. The order engine places orders between
// transactions; whatever a network reports goes through an Inbox, which stores
// it durably before the network is told that it arrived.
package networks

// Package networks defines what a lab network does. A network accepts orders and
// reports their progress and results. The subpackage with a network's slug
// implements its transport (HL7 over MLLP, files, a simulator).
//
// Reading order: order.go (the order that is placed), network.go (the
// operations of a network), booking.go (appointments), report.go (reports).
//
// Nothing here touches the database. The order engine places orders between
// transactions. Reports go through an Inbox, which stores them durably before
// they are acknowledged.
package networks

// Package orders holds lab orders: the requests of teams, the status of each
// order, and the documents and events that show it.
//
// An order has one lab test and one method of collection, which decides its course. It
// belongs to a transaction: the first order creates it, and a redraw or a recreation
// joins it. A table lists the statuses, the moves between them, and the sources that may
// cause each move. [Advance] is the only function that moves an order. It changes the
// row, adds to the history and updates the status of the order's transaction. It also
// emits the event and calls the listeners, all in the caller's database transaction.
// Late and duplicate reports are recorded and move nothing.
//
// Personal data is sealed with the user's key.
//
// # Reading order
//
//	table.go         the statuses and the moves between them; printed as docs/order-states.md
//	order.go         the types
//	rows.go          reading and writing them, one or many
//	advance.go       moving an order, and the listeners
//	transactions.go  several orders for one need: redraws and recreations
//	document.go      the wire format
//	payload.go       the data of a document that is not in the order's row; events
//	create.go, kits.go, import.go   new orders; check.go checks the requests
//	place.go         placing orders with the lab's network, in the background
//	collection.go    the time of collection, and when results are expected
//	calls.go         cancelling, scheduling and other calls of the API
//	list.go, index.go   filters of lists, and the index that answers them from memory
//	index_load.go, changes.go   loading the index, and reading changed rows
//	index_rows.go, index_match.go, index_names.go   its columns, filters and names
//	index_pages.go, cursor.go   pages by number and by cursor
//	numbers.go       numbers of labs that find an order
//	signature.go     the image of the physician's signature
//	erasure.go       deleting a user's orders
package orders

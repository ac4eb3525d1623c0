package orders

// TransactionStatusOf is statusOf for tests.
var TransactionStatusOf = statusOf

package matching

// Tests run single batches of the job that forgets.
var (
	ReadUnread       = readUnread
	ForgetUnassigned = forgetUnassigned
	EndUndecided     = endUndecided
)

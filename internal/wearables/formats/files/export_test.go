package files

// Fill lets an outcome have all the recordings that are taken of one file.
func (o *Outcome) Fill() { o.recorded = MaxRecordings }

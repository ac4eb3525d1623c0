package main

// unmeasuredOperations lists the operations that no comparison measures, with the reason.
var unmeasuredOperations = map[string]string{
	"POST /v2/jobs/{job_id}/cancel":                                                    needsWork,
	"DELETE /v2/user/{user_id}/imports/{import_id}":                                    needsWork,
	"POST /v1/org/{org_id}/team/{team_id}/{environment}/continuous_query":              startsJobs,
	"DELETE /v1/org/{org_id}/team/{team_id}/{environment}/continuous_query/{query_id}": "deletes the query, and each further query " + startsJobs,
	"POST /v3/fulfilment/{partner}":                                                    "needs a partner of the networks file and its signature",
	"POST /v3/order/{order_id}/fulfilment":                                             "needs an order of production; the team is a sandbox",
	"GET /v3/order/{order_id}/abn_pdf":                                                 "needs an order that Medicare does not pay; it reads the same rows as the requisition",
}

const (
	needsWork  = "needs a job that has not ended, and small jobs end at once"
	startsJobs = "starts a job for each user of the team, which would slow the calls after it"
)

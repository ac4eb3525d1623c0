package calltest

import (
	"strings"
	"testing"
)

const GoodInfo = `{"first_name":"Ada","last_name":"Byron","email":"Ada@Example.org","phone_number":"(415) 555-0132","gender":"Female","dob":"1984-12-10",` +
	`"address":{"first_line":"1 Main Street","second_line":null,"zip_code":"62704","state":"il","city":"Springfield"}}`

const GoodInsurance = `{"payor_code":"UHC","member_id":"M-1","relationship":"Self","insured":{"first_name":"Ada","last_name":"Byron","gender":"Female","dob":"1984-12-10",` +
	`"email":"ada@example.org","phone_number":"+14155550132","address":{"first_line":"1 Main Street","zip":"78701","state":"TX","city":"Austin","country":"US"}}}`

// Replace replaces one part of a body, which must contain it.
func Replace(t *testing.T, body, old, text string) string {
	t.Helper()
	if !strings.Contains(body, old) {
		t.Fatalf("%q is not in %s", old, body)
	}
	return strings.Replace(body, old, text, 1)
}

package hl7v2

import (
	"strings"

	"hale/internal/labs/hl7"
	"hale/internal/labs/networks"
)

// addInsurance adds IN1 with who is billed and GT1 with who answers for the
// bill. When the lab bills its customer, neither is anybody's business.
func addInsurance(m *hl7.Message, lab Lab, order networks.Order) {
	bill := billed(order.Billing)
	in1 := hl7.Fields{1: hl7.Of("1"), 47: hl7.Of(bill)}
	guarantor := order.Patient
	relation := relations["Self"]
	if in := order.Insurance; in != nil {
		relation = relations[in.Relationship]
		in1[2] = hl7.Of(in.PayorCode, in.Company)
		in1[3], in1[4], in1[8] = hl7.Of(in.PayorCode), hl7.Of(in.Company), hl7.Of(in.GroupID)
		in1[16], in1[17], in1[18] = name(in.Insured), coded(relation, "HL70063"), hl7.Of(date(in.Insured.DOB))
		in1[19], in1[36], in1[43] = place(in.Insured.Address, "H"), hl7.Of(in.MemberID), hl7.Of(sex(in.Insured.Gender))
		guarantor = in.Insured
		if in.Guarantor != nil {
			guarantor, relation = *in.Guarantor, relations["Other"]
		}
	}
	m.Add("IN1", in1)
	if bill == "C" {
		return
	}
	m.Add("GT1", hl7.Fields{
		1: hl7.Of("1"), 3: name(guarantor), 5: place(guarantor.Address, "H"), 6: phone(lab, guarantor.Phone),
		8: hl7.Of(date(guarantor.DOB)), 9: hl7.Of(sex(guarantor.Gender)), 11: coded(relation, "HL70063"),
	})
}

// billed is IN1-47 as American labs use it: C the client, P the patient, T a
// third party.
func billed(billing string) string {
	switch {
	case strings.HasPrefix(billing, "patient"):
		return "P"
	case strings.Contains(billing, "insurance"):
		return "T"
	}
	return "C"
}

// relations are words of HL7 table 0063.
var relations = map[string]code{
	"Self":   {"SEL", "Self"},
	"Spouse": {"SPO", "Spouse"},
	"Other":  {"OTH", "Other"},
}

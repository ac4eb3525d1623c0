package orders

import (
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/platform/fault"
)

// genders are the words that labs know. Reference 1.9.
var genders = []string{"female", "male", "other", "unknown"}

// patient checks who the sample is from and tidies the fields.
//
// Reference 1.9, PatientDetailsWithValidation.
func (v *review) patient(p *Patient) {
	form := v.form.In("patient_details")
	p.FirstName = form.Name("first_name", p.FirstName)
	p.LastName = form.Name("last_name", p.LastName)
	form.BirthDate("dob", p.BirthDate)
	p.Gender = strings.ToLower(strings.TrimSpace(p.Gender))
	form.Required("gender", p.Gender, genders)
	p.Email = form.Email("email", p.Email)
	p.PhoneNumber = v.phone(form, p.PhoneNumber, "patient_details")
	if p.MedicalProxy != nil {
		proxy := form.Guarantor("medical_proxy", *p.MedicalProxy)
		p.MedicalProxy = &proxy
	}
	form.OneOf("race", p.Race, users.Races)
	form.OneOf("ethnicity", p.Ethnicity, users.Ethnicities)
	form.OneOf("sexual_orientation", p.SexualOrientation, users.Orientations)
	form.OneOf("gender_identity", p.GenderIdentity, users.Identities)
	for field, n := range map[string]*int64{"household_income": p.HouseholdIncome, "household_size": p.HouseholdSize} {
		if n != nil && *n < 0 {
			form.Fail(field, "greater_than_equal", "Input should be greater than or equal to 0")
		}
	}
}

// phone checks a telephone number. Area code 555 is nobody's, which the
// reference finds out later than the rest and refuses with a 400.
func (v *review) phone(form person.Form, number, object string) string {
	number = form.Phone("phone_number", number)
	if strings.HasPrefix(number, "+1555") {
		v.refuse("phone_number_incorrect", "Phone number is not correct", object, "phone_number")
	}
	return number
}

// address checks where the patient lives.
//
// Reference 1.9, PatientAddressWithValidation.
func (v *review) address(field string, a *Address) {
	a.Address = v.form.Address(field, a.Address)
	form := v.form.In(field)
	if a.Country != person.US {
		form.Fail("country", "value_error", "Value error, orders are placed in the United States")
	}
	a.Receiver = form.Optional("receiver_name", a.Receiver, longestLine)
	if strings.TrimSpace(a.PhoneNumber) != "" {
		a.PhoneNumber = v.phone(form, a.PhoneNumber, field)
	}
}

// longestLine is in characters.
const longestLine = 200

// looseAddress checks the address of an imported order: the lab has it already,
// so only what must be there is looked at.
//
// Reference 1.13.
func (v *review) looseAddress(field string, a *Address) {
	form := v.form.In(field)
	a.Receiver = form.Text("receiver_name", a.Receiver, longestLine)
	a.FirstLine = form.Text("first_line", a.FirstLine, longestLine)
	a.SecondLine = form.Optional("second_line", a.SecondLine, longestLine)
	a.City = form.Text("city", a.City, longestLine)
	a.State = strings.ToUpper(form.Text("state", a.State, longestLine))
	a.Zip = form.Text("zip", a.Zip, longestLine)
	a.Country = strings.ToUpper(form.Text("country", a.Country, longestLine))
	a.AccessNotes = form.Optional("access_notes", a.AccessNotes, longestNotes)
	a.PhoneNumber = form.Optional("phone_number", a.PhoneNumber, longestLine)
}

// shipping checks where a kit goes.
//
// Reference 1.12, ShippingAddressWithValidation.
func (v *review) shipping(a *Address) {
	v.address("shipping_details", a)
	form := v.form.In("shipping_details")
	if a.Receiver == "" {
		form.Fail("receiver_name", "string_too_short", "String should have at least 1 character")
	}
	if a.PhoneNumber == "" {
		form.Fail("phone_number", "string_too_short", "String should have at least 1 character")
	}
}

// physician checks who orders, when the team says.
func (v *review) physician(p *catalogue.Physician) {
	if p == nil {
		return
	}
	form := v.form.In("physician")
	p.FirstName = form.Text("first_name", p.FirstName, longestLine)
	p.LastName = form.Text("last_name", p.LastName, longestLine)
	if strings.TrimSpace(p.Email) != "" {
		p.Email = form.Email("email", p.Email)
	}
	p.NPI = strings.TrimSpace(p.NPI)
	if len(p.NPI) != 10 || strings.Trim(p.NPI, "0123456789") != "" {
		form.Fail("npi", "value_error", "Value error, an NPI has ten digits")
	}
	for _, s := range p.States {
		if !slices.Contains(catalogue.States, s) && s != "DC" {
			form.Fail("licensed_states", "enum", fault.EnumMessage(append(slices.Clip(catalogue.States), "DC")))
			return
		}
	}
}

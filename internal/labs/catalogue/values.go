package catalogue

import "slices"

// Method says how a sample is collected.
//
// Spec: Lab, collection method. The list may grow, as all lists here.
type Method string

// The collection methods.
const (
	TestKit Method = "testkit"
	WalkIn  Method = "walk_in_test"
	AtHome  Method = "at_home_phlebotomy"
	OnSite  Method = "on_site_collection"
)

// Methods lists them all.
var Methods = []Method{TestKit, WalkIn, AtHome, OnSite}

// SampleType is what is collected.
//
// Spec: Lab, sample type.
type SampleType string

// The sample types. ArmCollector draws blood from the upper arm without a
// needle.
const (
	DriedBloodSpot SampleType = "dried_blood_spot"
	ArmCollector   SampleType = "arm_collector"
	Serum          SampleType = "serum"
	Saliva         SampleType = "saliva"
	Urine          SampleType = "urine"
	Stool          SampleType = "stool"
)

// SampleTypes lists them all.
var SampleTypes = []SampleType{DriedBloodSpot, ArmCollector, Serum, Saliva, Urine, Stool}

// Billing says who pays.
//
// Reference 1.9.
type Billing string

// The billing types.
const (
	ClientBill             Billing = "client_bill"
	CommercialInsurance    Billing = "commercial_insurance"
	PatientBillPassthrough Billing = "patient_bill_passthrough"
	PatientBill            Billing = "patient_bill"
)

// Billings lists them all.
var Billings = []Billing{ClientBill, CommercialInsurance, PatientBillPassthrough, PatientBill}

// States are the states of the US as lab accounts and licences name them.
//
// Reference 1.16, USState. There is no DC in it.
var States = []string{
	"AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY",
	"LA", "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND",
	"OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY",
}

// CentralSlugs are the labs that compendium and area lookups speak of.
var CentralSlugs = []string{"labcorp", "quest", "bioreference", "sonora_quest"}

func known[T comparable](word T, words []T) bool { return slices.Contains(words, word) }

package hl7v2

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hale/internal/labs/hl7"
)

// The public order messages with their expected values: a place and its value,
// empty without one. SEG[2] is the second segment of that name.
func TestOrderSamples(t *testing.T) {
	const person = `
PID-3 PATID1234
PID-3.4.2 2.16.1
PID-5 EVERYMAN
PID-5.1.5 Aniston
PID-5.2 ADAM
PID-7 198808181126+0215
PID-8 M
PID-10.2 White
PID-11.3 Ann Arbor
PID-11.5 99999
PID-22 N
`
	const stool = `
OBX[1]-2 CWE
OBX[1]-3 625-4
OBX[1]-3.2 Bacteria identified in Stool by Culture
OBX[1]-3.3 XYZ
OBX[1]-4 1
OBX[1]-5 27268008
OBX[1]-5.2 Salmonella
OBX[1]-5.9 Salmonella species
OBX[1]-6 beats/min
OBX[1]-7 70-80
OBX[1]-8 A
OBX[1]-11 P
OBX[1]-14 20120301
OBX[1]-15 Org15
OBX[1]-23.10 16D0648109
OBX[1]-25.3 Christopher
OBX[2]-2 RP
OBX[2]-3 1063-7
OBX[2]-5 https://testurl.com
OBX[2]-5.4 PICT
OBX[2]-6 
OBX[2]-11 O
OBX[3]-2 NM
OBX[3]-3.2 Bacteria identified
OBX[3]-3.3 LN
OBX[3]-5 27
OBX[3]-11 I
`
	const heart = `
OBX-1 27
OBX-2 NM
OBX-3 8867-4
OBX-3.2 heartrate
OBX-3.3 LN
OBX-4 
OBX-5 60
OBX-6 beats/min
OBX-6.3 ISO
OBX-7 70-80
OBX-8 A
OBX-11 S
OBX-14 19990702
OBX-23 FairOaks Hspital
`
	for file, want := range map[string]string{
		"LAB-ORM-1.hl7": `
MSH-3 SomeSystem
MSH-5 TransformationAgent
MSH-7 201410060931
MSH-9 ORM
MSH-9.2 O01
MSH-10 MSGID20060307110114
MSH-11 P
MSH-12 2.3
PID-3 10006579
PID-3.4 1
PID-5 DUCK
PID-5.2 DONALD
PID-5.3 D
PID-7 19241010
PID-8 M
PID-11 111 DUCK ST
PID-11.3 FOWL
PID-11.4 CA
PID-11.5 999990000
PID-13 8885551212
PID-18 40007716
PID-19 123121234
PV1-2 I
PV1-7.2 DISNEY
ORC-1 NW
ORC-2 88502218
ORC-3 82503246
ORC-5 NW
ORC-9 201410060929
ORC-10.2 MOUSE
OBR-2 88502218
OBR-3 82503246
OBR-4 24317-0
OBR-4.2 Hemogram and platelet count, automated
OBR-4.3 LN
OBR-6 201410060644
OBR-10.2 COLLECT
OBR-11 P
OBR-16.2 URO
OBR-24 HM
OBR-25 O
OBX-3 `,
		// The sample has GT1 and ORC run together in one line, so there is no ORC.
		"MDHHS-OML-O21-1.hl7": `
MSH-3 MDHHSDataHub
MSH-4 MDHHS
MSH-5 LAN
MSH-5.2 23D0650909
MSH-9.3 OML_O21
MSH-10 TC09SAPartAIG030101AA
MSH-12 2.5.1
MSH-15 AL
MSH-16 AL
MSH-21 LOI_NG_PRN_Profile
PID-3 MRNTC09SA-Part A
PID-5 Shine
PID-5.2 Baby Girl
PID-5.7 L
PID-6 Honey
PID-7 20160308150405-0500
PID-8 F
PID-10 2106-3
PID-13.6 586
PID-13.7 3365555
PID-22.2 Not Hispanic or Latino
NK1-2.2 Sarah
NK1-3 MTH
IN1-2 NA
IN1-3 LHC
IN1-4 Lansing Health Care
IN1-8 IG030101
IN1-16 Shine
IN1-16.2 Sarah
IN1-17 CHD
IN1-18 19750627
GT1-3.2 Sarah
GT1-8 19750627
GT1-11 CHD
GT1-21.2 LORC
GT1-23 ORD723222
ORC-1 
OBR-2 ORD723222
OBR-2.4 ISO
OBR-3 R-783274
OBR-4 6532-6
OBR-4.2 RabiesFA
OBR-7 20160308170551-0500
OBR-11 A
OBR-13 FNA Fasting not asked of the patient at time of procedure
OBR-16 8075000001
OBR-16.3 Minnie
OBR-16.9 NPI
OBR-31 RFS01
NTE-3 the sky is blue
PRT[5]-14.3 Livonia
DG1-3 V04.5
DG1-3.3 I9
OBX-2 TS
OBX-3 AOE15
OBX-3.2 Date of Last Rabies Vaccination
OBX-5 20150818060605-0500
OBX-11 O
OBX-14 20160308100605-0500
OBX-29 QST
SPM-2 4222
SPM-4.2 Serum
SPM-17 20160308170551-0500`,

		"OML-O21-01.hl7": person + stool + `
MSH-9 OML
MSH-10 MSG00019
PV1-7.2 ATTEND
IN1-2.2 Blue Advantage HMO
IN1-4 Blue Cross Blue Shield of Texas
IN1-8 Grp-12345
IN1-16.2 Rosallie
IN1-17 SPO
IN1-36 548851236L
IN1-43 F
GT1-3 RADIANT
GT1-3.2 LUCY
GT1-11 BRO
AL1-3.2 Peanut Allergy
ORC-1 NW
ORC-2 1101
ORC-3 1201
ORC-5 SC
ORC-12.2 ORDPROVIDER
OBR-2 
OBR-4 57698-3
OBR-4.2 Lipid panel with direct LDL - Serum or Plasma
OBR-4.3 LN
OBR-7 202110201200+0215
OBR-25 S
DG1-3 E10.9
DG1-3.2 Diabetes Mellitus Type 1
DG1-3.3 I10
NTE[1]-3 Urgent
NTE[2]-3 No Antibodies Detected
OBX[4]-3 3DHISTH_SLD
OBX[4]-5 http://172.16.237.4/CaseCenter/index.php?ContainerType=CaseView&ContainerID=0&SlideID=40bcbe96bcbf8cda8b07403263b92cb4
OBX[4]-11 F
OBX[4]-19 20190311101611
OBX[4]-29 RSLT
SPM-2 2012545
SPM-2.2 2012999999
SPM-4 ASERU
SPM-12 40
SPM-12.2.2 lbs
SPM-17 20110103143428-0800
SPM-18 20120301
SAC-2 EA54678
FT1[2]-7 626.2`,

		"OML-O21-02.hl7": person + stool + `
MSH-9 ORM
MSH-10 MSG00018
ORC[1]-2 1101
ORC[2]-2 2203
ORC[2]-3 2301
OBR[1]-4 57698-3
OBR[2]-4 24590-2
OBR[2]-4.2 MR Brain
OBR[2]-29 PAI-291
OBR[2]-50 PU-50
DG1-3 E10.9
NTE[2]-3 Submission of serum
SPM[1]-2 2545
SPM[2]-2 2012545`,

		"ORM-O01-01.hl7": person + heart + `
MSH-9 ORM
MSH-12 2.6
AL1-3.2 PENICILLIN
ORC-1 NW
ORC-2 1101
ORC-3 1201
ORC-7.1.2 lb
ORC-7.3 S50
OBR-4 24725-4
OBR-4.2 CT Head
OBR-7 202110201200+0215
OBR-29 
OBR-29.2 FAI-29
DG1-3 S06.9
DG1-4 Traumatic brain injury
FT1-7 71045
CTI-2 1`,

		"ORM-O01-03.hl7": person + `
ORC[1]-2 1101
ORC[1]-3 1201
ORC[2]-2 2203
ORC[2]-3 2301
OBR[1]-4 24725-4
OBR[2]-4 24590-2
DG1-3.2 TBI(traumatic brain injury
FT1[1]-20.3 Adam
FT1[2]-11 120
OBX-3 
BLG[2]-3 AI168`,

		"ORM-O01-05.hl7": person + heart + `
ORC-1 NW
ORC-2 RQ101
ORC-3 986
ORC-3.2 IA PHIMS Stage
ORC-4 PGN-04
ORC-5 CA
ORC-12 3850
ORC-21 Good Health Hospital
ORC-23.12 (626)555-1234
RQD-2.2 Implant, Special Hip
RQ1-2.2 GPC Medical Inc.
DG1-3 S06.9
NTE-3 No Antibodies Detected
OBR-4 `,
	} {
		t.Run(file, func(t *testing.T) {
			m := sample(t, file)
			for line := range strings.Lines(strings.TrimSpace(want)) {
				line = strings.TrimRight(line, "\n")
				if line == "" {
					continue
				}
				place, value, _ := strings.Cut(line, " ")
				if got := valueAt(t, m, place); got != value {
					t.Errorf("%s is %q, not %q", place, got, value)
				}
			}
			if reports := readReports(m, m.Header(), "", Lab{}); len(reports) > 0 {
				t.Errorf("an order of another team became %d reports", len(reports))
			}
		})
	}
}

var path = regexp.MustCompile(`^([A-Z0-9]{3})(?:\[(\d+)\])?-(\d+)(?:\.(\d+))?(?:\.(\d+))?$`)

// valueAt returns the value at a place such as OBX[2]-3.2.
func valueAt(t *testing.T, m *hl7.Message, place string) string {
	t.Helper()
	parts := path.FindStringSubmatch(place)
	if parts == nil {
		t.Fatalf("%q is no place", place)
	}
	n := func(text string) int {
		number, err := strconv.Atoi(text)
		if err != nil {
			return 1
		}
		return number
	}
	for _, s := range m.Segments {
		if s.Name() != parts[1] {
			continue
		}
		if parts[2] == "" || parts[2] == "1" {
			return s.Get(n(parts[3]), n(parts[4]), n(parts[5]))
		}
		parts[2] = strconv.Itoa(n(parts[2]) - 1)
	}
	return ""
}

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"hale/internal/harness/testlab"
	"hale/internal/wearables/formats/applehealth/applehealthtest"
)

var block = regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")

// skippedBlocks lists the command blocks that the test below does not run, by
// page and position, with the reason.
var skippedBlocks = map[string]map[int]string{
	"README.md":                {1: "starts the service"},
	"CONTRIBUTING.md":          {1: "starts the service", 2: "runs this test", 3: "runs tests"},
	"docs/client-libraries.md": {1: "starts the service; run by clients/"},
	"docs/operations.md":       {2: "needs restarts; run by testdata/rootkey_replace.txt", 5: "needs a stopped service; run by restore_test.go"},
	"docs/performance.md":      {1: "measures for ten minutes", 2: "runs a test and measures for an hour; bench has tests of both"},
	"docs/pushing-data.md":     nil, // run by internal/people/tokens
	"docs/releases.md": {
		1: "needs a release", 2: "needs a release", 3: "needs systemd", 4: "needs a Docker engine", 5: "needs a cluster", 6: "builds a release",
	},
}

// The commands of the README and of every guide run as they are written, in their order.
// The shell has a running service, HALE_URL and HALE_API_KEY. A page that says so has the
// user anna. docsFiles are in the folder: inputs of the reader.
func TestTheCommandsInTheDocsWork(t *testing.T) {
	for _, tool := range []string{"sh", "curl", "timeout", "jq", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the commands of the pages need %s, which is not here", tool)
		}
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		name := strings.TrimPrefix(filepath.ToSlash(page), "../../")
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := block.FindAllStringSubmatch(string(text), -1)
		skipped, listed := skippedBlocks[name]
		for at := range skipped {
			if at > len(blocks) {
				t.Errorf("%s has no block %d: remove it from skippedBlocks", name, at)
			}
		}
		if len(blocks) == 0 || listed && skipped == nil || len(skipped) == len(blocks) {
			continue
		}
		ran++
		t.Run(name, func(t *testing.T) {
			setup, settings := docsSetup, []string(nil)
			if strings.Contains(string(text), usesFirstUser) {
				setup += firstUser
			}
			if name == "docs/fulfilment.md" {
				setup += ordersToFulfil
				settings = append(settings, "HALE_NETWORKS="+startCareLab(t))
			}
			runBlocks(t, setup, blocks, skipped, settings...)
		})
	}
	if ran < 10 {
		t.Errorf("only %d pages have commands: the search is broken", ran)
	}
}

// asOnThisMachine adapts what a page says about the reader's machine.
var asOnThisMachine = strings.NewReplacer(
	"export HALE_URL=http://127.0.0.1:8080 HALE_API_KEY=sk_…\n", "",
	firstListen, "timeout 2 hale listen || true\n",
	"hale events tail     #", "timeout 2 hale events tail || true #",
	"/backup/", "backup/",
	"hale listen --forward-to http://127.0.0.1:9000/hook &\n", listenBriefly,
	"hale listen --forward-to http://127.0.0.1:9000/hook\n", listenBriefly,
	"https://api.example/hook", "https://api.example.invalid/hook",
	"hale serve --environment production --networks networks.yaml\n", serveProductionBriefly,
	"record ORDER --status", `record "$kit" --status`,
	"record ORDER --sample", `record "$unregistered" --sample`,
	"record ORDER --visit", `record "$home_visit" --visit`,
)

// serveProductionBriefly starts another service with a data folder of its own, and stops
// it when it is ready.
const serveProductionBriefly = `
env -u HALE_BOOTSTRAP_API_KEY -u HALE_API_KEY HALE_DATA=production hale serve --environment production --networks networks.yaml --listen 127.0.0.1:0 >production.out &
timeout 60 sh -c 'until grep -q " is ready at " production.out; do sleep 0.1; done'
kill -INT $! && wait $!
`

// ordersToFulfil orders two kits and a visit at a laboratory whose test system is the
// listener of this test. So staff record the steps of the orders, as in production.
const ordersToFulfil = `
hale catalog import care.json >/dev/null
hale catalog accounts add --lab care_lab --number 44120 --billing all >/dev/null
post() { curl "$HALE_URL$1" -H "x-service-api-key: $HALE_API_KEY" -H 'content-type: application/json' -d "$2"; }
user=$(post /v2/user '{"client_user_id":"care-1"}' | jq -r .user_id)
patient='"patient_details":{"first_name":"Ada","last_name":"Example","dob":"1984-12-10","gender":"female","phone_number":"+14155550132","email":"ada@example.invalid"}'
address='{"receiver_name":"Ada Example","first_line":"1 Main Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US","phone_number":"+14155550132"}'
order() { post /v3/order "{\"user_id\":\"$user\",\"order_set\":{\"add_on\":{\"provider_ids\":[\"GLU\"]}},\"collection_method\":\"$1\",$patient,\"patient_address\":$address}" | jq -r .order.id; }
kit=$(order testkit)
home_visit=$(order at_home_phlebotomy)
test=$(post /v3/lab_tests '{"name":"Sugar","description":"Glucose","method":"testkit","provider_ids":["GLU"],"lab_slug":"care_lab"}' | jq -r .id)
hale catalog approve "$test" >/dev/null
unregistered=$(post /v3/order/testkit "{\"user_id\":\"$user\",\"lab_test_id\":\"$test\",\"shipping_details\":$address}" | jq -r .order.id)
for id in "$kit" "$home_visit"; do
  timeout 60 sh -c 'until hale orders get "$0" -o json | grep -q requisition_created; do sleep 0.1; done' "$id"
done
`

// firstListen is the line of the README that listens.
const firstListen = "hale listen                                     # print events as they happen\n"

// listenBriefly ends the listener, which runs until it is stopped.
const listenBriefly = "timeout 2 hale listen --forward-to http://127.0.0.1:9000/hook || true\n"

// startCareLab starts the test system of a laboratory, and returns a networks file with it.
func startCareLab(t *testing.T) string {
	t.Helper()
	lab := &testlab.Lab{Application: "CARE", Customer: "HALE", Tests: map[string][]testlab.Observation{"GLU": {{Code: "GLU-1", LOINC: "2345-7"}}}}
	listener, err := lab.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		listener.Close()
		for _, complaint := range lab.Complaints() {
			t.Errorf("the laboratory complains: %s", complaint)
		}
	})
	file := filepath.Join(t.TempDir(), "networks.yaml")
	text := "networks:\n  hl7v2:\n    labs:\n      care_lab: {address: '" + listener.Address + "', application: HALE, lab_application: CARE, sandbox: true}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func runBlocks(t *testing.T, script string, blocks [][]string, skipped map[int]string, settings ...string) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "hale")); err != nil {
		t.Fatal(err)
	}
	writeDocsFiles(t, dir)
	env := append(os.Environ(),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HALE_DATA="+filepath.Join(dir, "data"), "HALE_METRICS_LISTEN=off",
		"HALE_BOOTSTRAP_API_KEY="+docsKey, "HALE_API_KEY="+docsKey, "GORACE=atexit_sleep_ms=0")
	env = append(env, settings...)
	url := serveForDocs(t, filepath.Join(bin, "hale"), dir, env)
	for i, m := range blocks {
		if skipped[i+1] == "" {
			script += fmt.Sprintf("echo '# block %d' >&2\n%s\n", i+1, asOnThisMachine.Replace(m[1]))
		}
	}
	shell := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script)
	shell.Dir = dir
	shell.Env = append(env, "HALE_URL="+url)
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

const docsKey = "sk_test_key_of_the_documents"

// usesFirstUser is the sentence of a page whose reader has the user of the first steps.
const usesFirstUser = "the user `anna` of the [first steps](start.md)"

// firstUser creates that user as the first steps do. A page without the sentence creates
// its users itself.
const firstUser = "hale demo anna >/dev/null\n"

// docsSetup prepares the shell. The pages set their variables.
const docsSetup = `mkdir backup
curl() { command curl -sS --fail-with-body "$@"; }
`

// serveForDocs starts the service and returns its address.
func serveForDocs(t *testing.T, hale, dir string, env []string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), hale, "serve", "--listen", "127.0.0.1:0")
	command.Env, command.Dir = env, dir
	log, err := os.Create(filepath.Join(dir, "serve.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	command.Stderr = log
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
	})
	screen := readScreen(stdout)
	_, address, ok := strings.Cut(screen, " is ready at ")
	if !ok {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("the service is not ready: %s%s", screen, text)
	}
	address, _, _ = strings.Cut(address, "\n")
	return address
}

// writeDocsFiles writes the files that the pages name.
func writeDocsFiles(t *testing.T, dir string) {
	t.Helper()
	export, err := os.Create(filepath.Join(dir, "export.zip"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := applehealthtest.WriteZip(export, applehealthtest.Options{Days: 2}); err != nil {
		t.Fatal(err)
	}
	if err := export.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range docsFiles {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

var docsFiles = map[string]string{
	"lab.json":       `{"slug":"acme_lab","name":"Acme","address":"1 Example Way","city":"Nowhere","zip":"85004","methods":["walk_in_test"],"sample_types":["serum"],"states":["AZ"],"billings":["client_bill"]}`,
	"compendium.csv": "provider_id,name,results\nA1,Glucose,2345-7\n",
	"compendium.json": `{"lab":{"slug":"acme_lab","name":"Acme","address":"1 Example Way","city":"Nowhere","zip":"85004","methods":["walk_in_test"],"sample_types":["serum"],"states":["AZ"],"billings":["client_bill"]},` +
		`"markers":[{"provider_id":"A7","name":"Haemoglobin","expected_results":[{"loinc":"718-7"}]}]}`,
	"care.json": `{"lab":{"slug":"care_lab","name":"Care Laboratory","address":"1 Example Way","city":"Nowhere","zip":"85004","methods":["testkit","at_home_phlebotomy"],"sample_types":["serum"],"states":["AZ"],"billings":["client_bill"]},` +
		`"markers":[{"provider_id":"GLU","name":"Glucose","methods":["testkit","at_home_phlebotomy"],"expected_results":[{"provider_id":"GLU-1","loinc":"2345-7"}]}]}`,
	"additions.csv":            "provider_id,name,results\nA2,Kidneys,2160-0 3094-0?\n",
	"icd10cm-order-2026.txt":   "00001 A00     0 Cholera                                                      Cholera\n00002 A000    1 Cholera due to Vibrio cholerae 01, biovar cholerae           Cholera due to Vibrio cholerae 01, biovar cholerae\n",
	"icd10cm-tabular-2026.xml": `<ICD10CM.tabular><diag><name>A00</name><excludes1><note>diarrhea NOS (R19.7)</note></excludes1></diag></ICD10CM.tabular>`,
	"centers.csv":              "site_code,name,first_line,city,state,zip_code\nC1,Center,1 Main Street,Phoenix,AZ,85004\n",
	"visits.csv":               "provider,zip,tier\ngetlabs,85004,appointment-ready\n",
	"networks.yaml":            "networks:\n  hl7v2:\n    labs:\n      acme_lab: {address: '127.0.0.1:6661', application: HALE, lab_application: ACME, sandbox: true}\n",
	"query.json":               `{"select":[{"timeseries":"steps","field":"value"}]}`,
}

// The example in deploy/ makes files of secrets in the source tree: git passes
// them over, and so does the build of the image.
func TestSecretsOfTheExampleStayOutside(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "deploy", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var compose struct {
		Secrets map[string]struct{ File string }
	}
	if err := yaml.Unmarshal(text, &compose); err != nil || len(compose.Secrets) == 0 {
		t.Fatalf("%d secrets, %v", len(compose.Secrets), err)
	}
	for _, name := range []string{".gitignore", ".dockerignore"} {
		ignored, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range compose.Secrets {
			path := "deploy/" + strings.TrimPrefix(secret.File, "./")
			if !slices.ContainsFunc(strings.Split(string(ignored), "\n"), func(line string) bool { return strings.TrimPrefix(line, "/") == path }) {
				t.Errorf("%s lacks %s", name, path)
			}
		}
	}
}

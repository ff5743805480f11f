package inventory_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/truss-dev/truss/graph/executor/inventory"
	"github.com/truss-dev/truss/graph/resource"
)

// zipped compresses text as a record holds it.
func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var buf bytes.Buffer
	zip := gzip.NewWriter(&buf)
	if _, err := zip.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestPlansTooLargeForARecordAreRefused(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	p := &inventory.Plan{Entries: make([]inventory.Entry, 40_000)}
	for i := range p.Entries {
		name := fmt.Sprintf("%016x%016x%016x", random.Uint64(), random.Uint64(), random.Uint64())
		p.Entries[i] = inventory.Entry{Identity: identityOf(name), Version: "v1", Resource: "configmaps"}
	}
	_, err := p.Encode()
	var invalid *resource.InvalidError
	if !errors.As(err, &invalid) || invalid.Reason != "TooLarge" {
		t.Fatalf("Encode() = %v, want an InvalidError that says TooLarge", err)
	}
	if !strings.Contains(invalid.Message, "40000 objects") {
		t.Errorf("message %q does not say how many objects there are", invalid.Message)
	}
}

func TestDecodeRefusesWhatNoPlanIs(t *testing.T) {
	valid := zipped(t, `{"kinds":[{"v":"v1","k":"K"}],"entries":[{"k":0,"n":"a"}]}`)
	broken := bytes.Clone(valid)
	broken[len(broken)-8] ^= 1 // the checksum
	cases := map[string]struct {
		reason string
		format int64
		data   []byte
		want   string
	}{
		"FormatZero":      {"A record without a format is none of ours.", 0, valid, "format 0"},
		"FormatNegative":  {"Nor is one of a format below zero.", -1, valid, "format -1"},
		"FormatNewer":     {"A newer Truss wrote it: guessing could orphan objects.", inventory.Format + 1, valid, "run the version of Truss"},
		"Empty":           {"Nothing is no plan.", 1, nil, "cannot decompress"},
		"NotCompressed":   {"Plain JSON is not what is stored.", 1, []byte(`{}`), "cannot decompress"},
		"Truncated":       {"Half a record must not pass for a small one.", 1, valid[:len(valid)-9], "cannot decompress"},
		"WrongChecksum":   {"A damaged record is not used.", 1, broken, "cannot decompress"},
		"NotJSON":         {"The content has to be JSON.", 1, zipped(t, `kinds`), "cannot decode"},
		"WrongType":       {"The content has to be a plan.", 1, zipped(t, `{"entries":{}}`), "cannot decode"},
		"TrailingData":    {"What follows the plan is not ours.", 1, zipped(t, `{} {}`), "cannot decode"},
		"KindPastEnd":     {"Kinds are positions.", 1, zipped(t, `{"kinds":[{"v":"v1","k":"K"}],"entries":[{"k":1}]}`), "entry 0 names kind 1 of 1"},
		"KindNegative":    {"Kinds are positions.", 1, zipped(t, `{"kinds":[{"k":"K"}],"entries":[{"k":-1}]}`), "entry 0 names kind -1 of 1"},
		"KindWithoutAny":  {"An entry without a kind names kind 0.", 1, zipped(t, `{"entries":[{}]}`), "entry 0 names kind 0 of 0"},
		"NeedPastEnd":     {"Needs are positions.", 1, zipped(t, `{"kinds":[{}],"entries":[{},{"d":[0,2]}]}`), "entry 1 needs entry 2 of 2"},
		"NeedNegative":    {"Needs are positions.", 1, zipped(t, `{"kinds":[{}],"entries":[{"d":[-1]}]}`), "entry 0 needs entry -1 of 1"},
		"NeedBeyondInt32": {"A position that would wrap round is refused.", 1, zipped(t, `{"kinds":[{}],"entries":[{"d":[4294967296]}]}`), "cannot decode"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := inventory.Decode(tc.format, tc.data)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("%s\nDecode() = %v, want an error with %q", tc.reason, err, tc.want)
			}
			if p != nil {
				t.Errorf("%s\nDecode() returned a plan beside its error", tc.reason)
			}
		})
	}
}

func TestDecodeDoesNotInflateBombs(t *testing.T) {
	// Spaces and "{}", valid JSON as a whole. Members of a gzip file add up, so
	// that the bomb need not be compressed in full here.
	const limit = 400 << 20
	member := zipped(t, strings.Repeat(" ", 1<<20))
	bomb := append(bytes.Repeat(member, 128), zipped(t, "{}")...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := inventory.Decode(inventory.Format, bomb)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "inflates to over") {
		t.Errorf("Decode() = %v, want it to stop inflating", err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > limit {
		t.Errorf("Decode() allocated %d MB for a bomb of %d KB, want at most %d", got>>20, len(bomb)>>10, limit>>20)
	}
}

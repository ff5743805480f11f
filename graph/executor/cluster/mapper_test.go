package cluster

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testclock "k8s.io/utils/clock/testing"
)

// served is a discovery document that can be changed.
type served struct {
	mu     sync.Mutex
	groups map[string][]metav1.APIResource
	broken map[string]error
	asked  map[string]int
	hang   chan struct{} // requests wait until it is closed; nil for none
}

func (s *served) ServerResourcesForGroupVersionWithContext(_ context.Context, gv string) (*metav1.APIResourceList, error) {
	if s.hang != nil {
		<-s.hang
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[gv]++
	if err := s.broken[gv]; err != nil {
		return nil, err
	}
	list, ok := s.groups[gv]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, gv)
	}
	return &metav1.APIResourceList{GroupVersion: gv, APIResources: list}, nil
}

func (s *served) ServerGroupsWithContext(context.Context) (*metav1.APIGroupList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked["groups"]++
	out := &metav1.APIGroupList{}
	for gv := range s.groups {
		parsed, _ := schema.ParseGroupVersion(gv)
		out.Groups = append(out.Groups, metav1.APIGroup{Name: parsed.Group, PreferredVersion: metav1.GroupVersionForDiscovery{Version: parsed.Version}})
	}
	return out, nil
}

func (s *served) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[what]
}

func (s *served) serve(gv string, resources ...metav1.APIResource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[gv] = resources
}

const dbGroup = "db.example.com"

var (
	mysql  = schema.GroupKind{Group: dbGroup, Kind: "MySQL"}
	mysqls = metav1.APIResource{Name: "mysqls", Kind: "MySQL", Namespaced: true, Verbs: metav1.Verbs{"get"}}
)

func newServed() (*served, *Cluster, *testclock.FakePassiveClock) {
	s := &served{groups: map[string][]metav1.APIResource{}, broken: map[string]error{}, asked: map[string]int{}}
	clock := testclock.NewFakePassiveClock(time.Unix(1_700_000_000, 0))
	return s, &Cluster{mapper: newMapper(s, clock)}, clock
}

func TestMappingKnowsPluralScopeAndVersion(t *testing.T) {
	s, c, _ := newServed()
	s.serve(dbGroup+"/v1", metav1.APIResource{Name: "mysqls/status", Kind: "MySQL"}, mysqls, metav1.APIResource{Name: "engines", Kind: "Engine", Verbs: metav1.Verbs{"get"}})
	s.broken["broken.example.com/v1"] = errors.New("no endpoints available")
	cases := map[string]struct {
		kind     schema.GroupKind
		version  string
		resource string
		scope    meta.RESTScopeName
		reason   string
	}{
		"namespaced": {mysql, "v1", "mysqls", meta.RESTScopeNameNamespace, "subresources are not kinds of their own"},
		"cluster":    {schema.GroupKind{Group: dbGroup, Kind: "Engine"}, "v1", "engines", meta.RESTScopeNameRoot, "no namespace"},
		"preferred":  {mysql, "", "mysqls", meta.RESTScopeNameNamespace, "no version means the preferred one"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m, err := c.Mapping(tc.kind, tc.version)
			if err != nil {
				t.Fatal(err)
			}
			if m.Resource.Resource != tc.resource || m.Scope.Name() != tc.scope || m.GroupVersionKind != tc.kind.WithVersion("v1") {
				t.Errorf("%s: got %+v", tc.reason, m)
			}
		})
	}
	if n := s.count(dbGroup + "/v1"); n != 1 {
		t.Errorf("three mappings of one group version took %d requests", n)
	}
	if n := s.count("broken.example.com/v1"); n != 0 {
		t.Error("a broken group was asked for the mapping of another")
	}
	if kind, ok := c.KindFor(schema.GroupVersionResource{Group: dbGroup, Version: "v1", Resource: "mysqls"}); !ok || kind.Kind != "MySQL" {
		t.Errorf("the way back: %v, %v", kind, ok)
	}
}

func TestAKindThatCanOnlyBePostedIsNoKind(t *testing.T) {
	s, c, _ := newServed()
	s.serve("v1", metav1.APIResource{Name: "bindings", Kind: "Binding", Namespaced: true, Verbs: metav1.Verbs{"create"}})
	if m, err := c.Mapping(schema.GroupKind{Kind: "Binding"}, "v1"); !meta.IsNoMatchError(err) {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestMissIsAskedForOncePerBackoffOrInvalidation(t *testing.T) {
	s, c, clock := newServed()
	now := clock.Now()
	miss := func() {
		t.Helper()
		for range 100 {
			if _, err := c.Mapping(mysql, "v1"); !meta.IsNoMatchError(err) {
				t.Fatalf("a kind that is not served is no match, got %v", err)
			}
		}
	}
	gv := dbGroup + "/v1"
	expect := func(reason string, want int) {
		t.Helper()
		if got := s.count(gv); got != want {
			t.Fatalf("%s: %d requests, want %d", reason, got, want)
		}
	}
	miss()
	expect("a hundred callers share one request", 1)
	for i, wait := range []int{50, 100, 200, 400, 800, 1600, 3200, 5000, 5000} {
		now = now.Add(time.Duration(wait)*time.Millisecond - 1)
		clock.SetTime(now)
		miss()
		expect("within the backoff nothing is asked", i+1)
		now = now.Add(1)
		clock.SetTime(now)
		miss()
		expect("the backoff doubles up to 5 s", i+2)
	}
	c.InvalidateGroup("other.example.com")
	miss()
	expect("an event of another group does not matter", 10)
	c.InvalidateGroup(dbGroup)
	miss()
	expect("an event of the group asks at once", 11)
	s.serve(gv, mysqls)
	c.InvalidateMappings()
	if _, err := c.Mapping(mysql, "v1"); err != nil {
		t.Errorf("the kind is served now: %v", err)
	}
}

func TestRecreatedKindIsSeenWithItsNewScope(t *testing.T) {
	s, c, _ := newServed()
	gv := dbGroup + "/v1"
	s.serve(gv, mysqls)
	if _, err := c.Mapping(mysql, "v1"); err != nil {
		t.Fatal(err)
	}
	s.serve(gv, metav1.APIResource{Name: "mysqls", Kind: "MySQL", Verbs: metav1.Verbs{"get"}})
	c.InvalidateGroup(dbGroup)
	m, err := c.Mapping(mysql, "v1")
	if err != nil || m.Scope.Name() != meta.RESTScopeNameRoot {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestBrokenDiscoverySaysNothingAboutTheKind(t *testing.T) {
	s, c, _ := newServed()
	s.broken[dbGroup+"/v1"] = apierrors.NewServiceUnavailable("no endpoints")
	for range 10 {
		_, err := c.Mapping(mysql, "v1")
		if err == nil || meta.IsNoMatchError(err) {
			t.Fatalf("unknown is not the same as not served: %v", err)
		}
	}
	if n := s.count(dbGroup + "/v1"); n != 1 {
		t.Errorf("a broken APIService was asked %d times within the backoff", n)
	}
}

func TestFailedDiscoveryKeepsWhatIsKnown(t *testing.T) {
	s, c, _ := newServed()
	gv := dbGroup + "/v1"
	s.serve(gv, mysqls)
	if _, err := c.Mapping(mysql, "v1"); err != nil {
		t.Fatal(err)
	}
	s.broken[gv] = errors.New("connection reset")
	if _, err := c.Mapping(schema.GroupKind{Group: dbGroup, Kind: "Other"}, "v1"); err == nil {
		t.Fatal("the other kind cannot be known")
	}
	if _, err := c.Mapping(mysql, "v1"); err != nil {
		t.Errorf("a kind that was known stays known: %v", err)
	}
}

func TestHangingDiscoveryHoldsUpNobodyForLong(t *testing.T) {
	s, c, _ := newServed()
	s.serve(dbGroup+"/v1", mysqls)
	s.hang = make(chan struct{})
	c.mapper.patience = time.Millisecond
	for range 10 {
		if _, err := c.Mapping(mysql, "v1"); !errors.Is(err, ErrDiscoveryPending) || meta.IsNoMatchError(err) {
			t.Fatalf("the answer is not there yet: %v", err)
		}
	}
	close(s.hang)
	c.mapper.patience = time.Minute
	if _, err := c.Mapping(mysql, "v1"); err != nil {
		t.Fatal(err)
	}
	if n := s.count(dbGroup + "/v1"); n != 1 {
		t.Errorf("eleven callers sent %d requests", n)
	}
}

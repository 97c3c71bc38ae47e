// client-go against the example server, in Protobuf wherever client-go knows a kind:
//
//	client KUBECONFIG                          runs the checks; ends with `N passed, M failed`
//	client KUBECONFIG contend LEASE IDENTITY   stands for election until it is ended; says when it leads
//
// The server is the example, freshly started. `build.sh` beside this file says where client-go comes from.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const protobuf = "application/vnd.kubernetes.protobuf"

// What every check gets.
type session struct {
	config *rest.Config
	client kubernetes.Interface
	seen   *contentTypes
}

// contentTypes counts the content types of requests and answers, so that no check passes on JSON unnoticed.
type contentTypes struct {
	next   http.RoundTripper
	lock   sync.Mutex
	counts map[string]int
}

func (seen *contentTypes) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := seen.next.RoundTrip(request)
	seen.lock.Lock()
	defer seen.lock.Unlock()
	if request.Body != nil {
		seen.counts["sent "+request.Header.Get("Content-Type")]++
	}
	if err == nil {
		seen.counts["got "+response.Header.Get("Content-Type")]++
	}
	return response, err
}

// take gives the counts so far, and starts them again.
func (seen *contentTypes) take() map[string]int {
	seen.lock.Lock()
	defer seen.lock.Unlock()
	counts := seen.counts
	seen.counts = map[string]int{}
	return counts
}

func connect(kubeconfig string) (*session, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	// The default of client-go's own typed clients from 1.33 on.
	config.ContentType = protobuf
	config.AcceptContentTypes = protobuf + ",application/json"
	config.QPS, config.Burst = 1000, 1000
	seen := &contentTypes{counts: map[string]int{}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		seen.next = next
		return seen
	})
	client, err := kubernetes.NewForConfig(config)
	return &session{config, client, seen}, err
}

// must ends the running check with what went wrong.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// want ends the running check where something does not hold.
func want(holds bool, format string, arguments ...interface{}) {
	if !holds {
		panic(fmt.Sprintf(format, arguments...))
	}
}

// until waits for something to hold.
func until(what string, limit time.Duration, holds func() bool) {
	for end := time.Now().Add(limit); !holds(); time.Sleep(10 * time.Millisecond) {
		want(time.Now().Before(end), "%s did not come within %s", what, limit)
	}
}

// onlyProtobuf says that everything since the last call was sent and answered in Protobuf.
func (s *session) onlyProtobuf() {
	counts := s.seen.take()
	want(counts["got "+protobuf] > 0, "no Protobuf was seen: %v", counts)
	for counted := range counts {
		want(strings.Contains(counted, protobuf), "not in Protobuf: %v", counts)
	}
}

type check struct {
	name string
	run  func(*session)
}

func passes(check check, s *session) (passed bool) {
	defer func() {
		if wrong := recover(); wrong != nil {
			fmt.Printf("FAILED %s: %v\n", check.name, wrong)
			passed = false
		}
	}()
	s.seen.take()
	check.run(s)
	return true
}

func main() {
	s, err := connect(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if len(os.Args) == 5 && os.Args[2] == "contend" {
		contend(s, os.Args[3], os.Args[4])
		return
	}
	passed, failed := 0, 0
	for _, check := range []check{
		{"discovery and mapping", discovers},
		{"ConfigMaps", configMaps},
		{"Leases", leases},
		{"the other kinds", otherKinds},
		{"patches and apply", patches},
		{"errors", errors},
		{"chunks", chunks},
		{"a watch", watches},
		{"an informer", informs},
		{"an informer of metadata only", informsOfMetadata},
		{"the dynamic client", dynamicClient},
		{"events as client-go records them", recordsEvents},
		{"leader election, the leader killed", electsAfterADeath},
		{"leader election, the leader lets go", electsAfterARelease},
	} {
		if passes(check, s) {
			passed++
		} else {
			failed++
		}
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

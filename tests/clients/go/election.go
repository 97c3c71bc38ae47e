package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const leaseDuration = 3 * time.Second

// contend stands for election until it is ended: SIGTERM lets go of the lease.
func contend(s *session, lease, identity string) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	go func() {
		<-ended
		cancel()
	}()
	fmt.Println("stands")
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  meta.ObjectMeta{Name: lease, Namespace: namespace},
			Client:     s.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		},
		LeaseDuration: leaseDuration, RenewDeadline: 2 * time.Second, RetryPeriod: 500 * time.Millisecond,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { fmt.Println("leads") },
			OnStoppedLeading: func() { fmt.Println("stops") },
		},
	})
	s.onlyProtobuf()
}

// A contender in a process of its own, and what it has said and when.
type contender struct {
	command *exec.Cmd
	lock    sync.Mutex
	said    map[string]time.Time
	logged  bytes.Buffer
}

func start(lease, identity string) *contender {
	contender := &contender{command: exec.Command(os.Args[0], os.Args[1], "contend", lease, identity), said: map[string]time.Time{}}
	contender.command.Stderr = &contender.logged
	out, err := contender.command.StdoutPipe()
	must(err)
	must(contender.command.Start())
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			contender.lock.Lock()
			contender.said[strings.TrimSpace(lines.Text())] = time.Now()
			contender.lock.Unlock()
		}
	}()
	return contender
}

// when gives the time at which it said something; zero when it has not.
func (contender *contender) when(line string) time.Time {
	contender.lock.Lock()
	defer contender.lock.Unlock()
	return contender.said[line]
}

func (contender *contender) says(line string, limit time.Duration) {
	until("that it "+line, limit, func() bool { return !contender.when(line).IsZero() })
}

// end kills it, or lets it go; then it must end well.
func (contender *contender) end(signal syscall.Signal) time.Time {
	must(contender.command.Process.Signal(signal))
	err := contender.command.Wait()
	want(err == nil || signal == syscall.SIGKILL, "a contender ended with %v:\n%s", err, contender.logged.String())
	return time.Now()
}

// holds checks who holds the lease, after how many changes of hands.
func holds(s *session, lease, identity string, transitions int32) {
	found, err := s.client.CoordinationV1().Leases(namespace).Get(ctx, lease, meta.GetOptions{})
	must(err)
	want(*found.Spec.HolderIdentity == identity && *found.Spec.LeaseTransitions == transitions, "%s", found.Spec.String())
}

func electsAfterADeath(s *session) {
	first := start("killed", "first")
	first.says("leads", 10*time.Second)
	second := start("killed", "second")
	defer second.command.Process.Kill()
	second.says("stands", 10*time.Second)
	// Longer than the lease: it is renewed.
	time.Sleep(leaseDuration + time.Second)
	want(second.when("leads").IsZero(), "two lead")
	holds(s, "killed", "first", 0)
	killed := first.end(syscall.SIGKILL)
	second.says("leads", 4*leaseDuration)
	want(second.when("leads").Sub(killed) > leaseDuration/2, "the second leads before the lease of the first is over")
	want(first.when("stops").IsZero(), "the first stopped before it was killed")
	holds(s, "killed", "second", 1)
	second.end(syscall.SIGTERM)
}

func electsAfterARelease(s *session) {
	first := start("released", "first")
	first.says("leads", 10*time.Second)
	second := start("released", "second")
	defer second.command.Process.Kill()
	second.says("stands", 10*time.Second)
	time.Sleep(time.Second)
	want(second.when("leads").IsZero(), "two lead")
	first.end(syscall.SIGTERM)
	second.says("leads", 4*leaseDuration)
	want(!second.when("leads").Before(first.when("stops").Add(-50*time.Millisecond)), "the second leads before the first stops")
	holds(s, "released", "second", 1)
	second.end(syscall.SIGTERM)
}

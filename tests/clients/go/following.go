package main

import (
	"fmt"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/tools/record"
)

func chunks(s *session) {
	maps := s.client.CoreV1().ConfigMaps(namespace)
	for at := 0; at < 25; at++ {
		many := configMap(fmt.Sprintf("many-%02d", at), nil)
		many.Labels = map[string]string{"many": "yes"}
		_, err := maps.Create(ctx, many, meta.CreateOptions{})
		must(err)
	}
	pages, found := 0, 0
	by := pager.New(pager.SimplePageFunc(func(options meta.ListOptions) (runtime.Object, error) {
		pages++
		return maps.List(ctx, options)
	}))
	by.PageSize = 7
	must(by.EachListItem(ctx, meta.ListOptions{LabelSelector: "many=yes"}, func(runtime.Object) error {
		found++
		return nil
	}))
	want(found == 25 && pages == 4, "%d found on %d pages", found, pages)
	must(maps.DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{LabelSelector: "many=yes"}))
	s.onlyProtobuf()
}

func watches(s *session) {
	maps := s.client.CoreV1().ConfigMaps(namespace)
	watching, err := maps.Watch(ctx, meta.ListOptions{FieldSelector: "metadata.name=watched", AllowWatchBookmarks: true})
	must(err)
	defer watching.Stop()
	next := func(kind watch.EventType) *core.ConfigMap {
		for {
			select {
			case event := <-watching.ResultChan():
				if event.Type == watch.Bookmark {
					continue
				}
				want(event.Type == kind, "%v in place of %s", event, kind)
				return event.Object.(*core.ConfigMap)
			case <-time.After(10 * time.Second):
				panic("no event of type " + kind)
			}
		}
	}
	made, err := maps.Create(ctx, configMap("watched", map[string]string{"a": "1"}), meta.CreateOptions{})
	must(err)
	want(next(watch.Added).String() == made.String(), "what is added is not what was made")
	made.Data["a"] = "2"
	updated, err := maps.Update(ctx, made, meta.UpdateOptions{})
	must(err)
	want(next(watch.Modified).String() == updated.String(), "what is modified is not what was updated")
	must(maps.Delete(ctx, "watched", meta.DeleteOptions{}))
	want(next(watch.Deleted).Data["a"] == "2", "what is deleted is not what it last was")
	counts := s.seen.take()
	want(counts["got "+protobuf+";stream=watch"] == 1, "%v", counts)
}

// told collects what an informer tells.
type told struct {
	lock  sync.Mutex
	lines []string
}

func (told *told) add(kind string, object interface{}) {
	told.lock.Lock()
	defer told.lock.Unlock()
	told.lines = append(told.lines, kind+" "+object.(meta.Object).GetName())
}

func (told *told) count(line string) int {
	told.lock.Lock()
	defer told.lock.Unlock()
	count := 0
	for _, told := range told.lines {
		if told == line {
			count++
		}
	}
	return count
}

func (told *told) handler() cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object interface{}) { told.add("add", object) },
		UpdateFunc: func(_, object interface{}) { told.add("update", object) },
		DeleteFunc: func(object interface{}) { told.add("delete", object) },
	}
}

// changes makes, changes and deletes a ConfigMap, and waits until an informer has told each.
func changes(s *session, told *told, name string, between func()) {
	maps := s.client.CoreV1().ConfigMaps(namespace)
	made, err := maps.Create(ctx, configMap(name, map[string]string{"a": "1"}), meta.CreateOptions{})
	must(err)
	until("the new one", 10*time.Second, func() bool { return told.count("add "+name) == 1 })
	made.Data["a"] = "2"
	_, err = maps.Update(ctx, made, meta.UpdateOptions{})
	must(err)
	until("its change", 10*time.Second, func() bool { return told.count("update "+name) == 1 })
	between()
	must(maps.Delete(ctx, name, meta.DeleteOptions{}))
	until("its end", 10*time.Second, func() bool { return told.count("delete "+name) == 1 })
}

func informs(s *session) {
	_, err := s.client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap("before", nil), meta.CreateOptions{})
	must(err)
	stop, told := make(chan struct{}), &told{}
	defer close(stop)
	factory := informers.NewSharedInformerFactory(s.client, 0)
	maps := factory.Core().V1().ConfigMaps()
	maps.Informer().AddEventHandler(told.handler())
	factory.Start(stop)
	want(cache.WaitForCacheSync(stop, maps.Informer().HasSynced), "the informer does not synchronize")
	until("what was there before", 10*time.Second, func() bool { return told.count("add before") == 1 })
	changes(s, told, "informed", func() {
		found, err := maps.Lister().ConfigMaps(namespace).Get("informed")
		must(err)
		want(found.Data["a"] == "2", "%v", found)
		all, err := maps.Lister().List(labels.Everything())
		must(err)
		want(len(all) >= 2, "%v", all)
	})
	must(s.client.CoreV1().ConfigMaps(namespace).Delete(ctx, "before", meta.DeleteOptions{}))
	counts := s.seen.take()
	want(counts["got "+protobuf+";stream=watch"] >= 1 && counts["got application/json"] == 0, "%v", counts)
}

func informsOfMetadata(s *session) {
	client, err := metadata.NewForConfig(s.config)
	must(err)
	stop, told := make(chan struct{}), &told{}
	defer close(stop)
	factory := metadatainformer.NewSharedInformerFactory(client, 0)
	informer := factory.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Informer()
	informer.AddEventHandler(told.handler())
	factory.Start(stop)
	want(cache.WaitForCacheSync(stop, informer.HasSynced), "the informer does not synchronize")
	changes(s, told, "described", func() {
		item, exists, err := informer.GetIndexer().GetByKey(namespace + "/described")
		must(err)
		want(exists && item.(*meta.PartialObjectMetadata).UID != "", "%v", item)
	})
}

func dynamicClient(s *session) {
	client, err := dynamic.NewForConfig(s.config)
	must(err)
	books := client.Resource(schema.GroupVersionResource{Group: "library.example.com", Version: "v1", Resource: "books"}).Namespace(namespace)
	made, err := books.Create(ctx, &unstructured.Unstructured{Object: map[string]interface{}{
		"apiVersion": "library.example.com/v1", "kind": "Book", "metadata": map[string]interface{}{"name": "go"},
		"spec": map[string]interface{}{"author": "Someone", "copies": int64(2)},
	}}, meta.CreateOptions{})
	must(err)
	genre, _, err := unstructured.NestedString(made.Object, "spec", "genre")
	must(err)
	want(genre == "Fiction", "%v", made)
	must(unstructured.SetNestedField(made.Object, int64(3), "status", "copies"))
	status, err := books.UpdateStatus(ctx, made, meta.UpdateOptions{})
	must(err)
	copies, _, err := unstructured.NestedInt64(status.Object, "status", "copies")
	must(err)
	want(copies == 3, "%v", status)
	must(books.Delete(ctx, "go", meta.DeleteOptions{}))
}

func recordsEvents(s *session) {
	about, err := s.client.CoreV1().ConfigMaps(namespace).Create(ctx, configMap("told-of", nil), meta.CreateOptions{})
	must(err)
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typed.EventSinkImpl{Interface: s.client.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, core.EventSource{Component: "go"})
	// The second of the same is a patch of the first, which counts.
	for at := 1; at <= 2; at++ {
		recorder.Eventf(about, core.EventTypeNormal, "Told", "It was told")
		until("the event", 10*time.Second, func() bool {
			events, err := s.client.CoreV1().Events(namespace).Search(scheme.Scheme, about)
			must(err)
			return len(events.Items) == 1 && events.Items[0].Count == int32(at) && events.Items[0].Source.Component == "go"
		})
	}
}

package main

import (
	"context"
	"fmt"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	refusals "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
)

const namespace = "default"

var ctx = context.Background()

func configMap(name string, data map[string]string) *core.ConfigMap {
	return &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: name}, Data: data}
}

func discovers(s *session) {
	cached := memory.NewMemCacheClient(s.client.Discovery())
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cached)
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "library.example.com", Kind: "Book"})
	must(err)
	books := schema.GroupVersionResource{Group: "library.example.com", Version: "v1", Resource: "books"}
	want(mapping.Resource == books && mapping.Scope.Name() == "namespace", "%v", mapping)
	groups, lists, err := s.client.Discovery().ServerGroupsAndResources()
	must(err)
	versions := 0
	for _, group := range groups {
		versions += len(group.Versions)
	}
	want(versions == len(lists), "%d versions, %d lists of resources", versions, len(lists))
	version, err := s.client.Discovery().ServerVersion()
	must(err)
	want(version.Major == "1", "%v", version)
	_, err = s.client.Discovery().OpenAPISchema()
	must(err)
}

func configMaps(s *session) {
	maps := s.client.CoreV1().ConfigMaps(namespace)
	sent := configMap("go", map[string]string{"a": "b", "long": fmt.Sprintf("%10000d", 7)})
	sent.BinaryData = map[string][]byte{"bytes": {0, 255, 10}}
	made, err := maps.Create(ctx, sent, meta.CreateOptions{})
	must(err)
	want(made.UID != "" && made.Data["a"] == "b" && len(made.BinaryData["bytes"]) == 3, "%v", made)
	want(time.Since(made.CreationTimestamp.Time) < time.Minute, "%v", made.CreationTimestamp)
	want(len(made.ManagedFields) == 1 && len(made.ManagedFields[0].FieldsV1.Raw) > 2, "%v", made.ManagedFields)
	made.Data["c"] = "d"
	updated, err := maps.Update(ctx, made, meta.UpdateOptions{})
	must(err)
	want(updated.ResourceVersion != made.ResourceVersion, "the update has the version of what it updates")
	read, err := maps.Get(ctx, "go", meta.GetOptions{})
	must(err)
	want(read.String() == updated.String(), "%v\n%v", read, updated)
	list, err := maps.List(ctx, meta.ListOptions{FieldSelector: "metadata.name=go"})
	must(err)
	want(len(list.Items) == 1 && list.Items[0].String() == read.String(), "%v", list)
	must(maps.Delete(ctx, "go", *meta.NewPreconditionDeleteOptions(string(read.UID))))
	_, err = maps.Get(ctx, "go", meta.GetOptions{})
	want(refusals.IsNotFound(err), "%v", err)
	s.onlyProtobuf()
}

func leases(s *session) {
	leases := s.client.CoordinationV1().Leases(namespace)
	holder, seconds, renewed := "me", int32(15), meta.NewMicroTime(time.Unix(1700000000, 123456000))
	made, err := leases.Create(ctx, &coordination.Lease{
		ObjectMeta: meta.ObjectMeta{Name: "go"},
		Spec:       coordination.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &renewed},
	}, meta.CreateOptions{})
	must(err)
	want(*made.Spec.HolderIdentity == "me" && *made.Spec.LeaseDurationSeconds == 15, "%v", made)
	want(made.Spec.RenewTime.Equal(&renewed) && made.Spec.AcquireTime == nil, "%v", made)
	transitions := int32(1)
	made.Spec.LeaseTransitions, made.Spec.HolderIdentity = &transitions, nil
	updated, err := leases.Update(ctx, made, meta.UpdateOptions{})
	must(err)
	want(*updated.Spec.LeaseTransitions == 1 && updated.Spec.HolderIdentity == nil, "%v", updated)
	must(leases.DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{FieldSelector: "metadata.name=go"}))
	s.onlyProtobuf()
}

func otherKinds(s *session) {
	made, err := s.client.CoreV1().Namespaces().Create(ctx, &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: "of-go"}}, meta.CreateOptions{})
	must(err)
	want(made.Status.Phase == core.NamespaceActive && len(made.Spec.Finalizers) == 1, "%v", made)
	secret, err := s.client.CoreV1().Secrets("of-go").Create(ctx, &core.Secret{
		ObjectMeta: meta.ObjectMeta{GenerateName: "go-"}, StringData: map[string]string{"word": "open"}}, meta.CreateOptions{})
	must(err)
	want(string(secret.Data["word"]) == "open" && secret.Type == core.SecretTypeOpaque, "%v", secret)
	account, err := s.client.CoreV1().ServiceAccounts("of-go").Create(ctx, &core.ServiceAccount{
		ObjectMeta: meta.ObjectMeta{Name: "go"}, Secrets: []core.ObjectReference{{Name: secret.Name}}}, meta.CreateOptions{})
	must(err)
	want(account.Secrets[0].Name == secret.Name, "%v", account)
	foreground := meta.DeletePropagationForeground
	must(s.client.CoreV1().Namespaces().Delete(ctx, "of-go", meta.DeleteOptions{PropagationPolicy: &foreground}))
	until("the namespace's end", 20*time.Second, func() bool {
		_, err := s.client.CoreV1().Namespaces().Get(ctx, "of-go", meta.GetOptions{})
		return refusals.IsNotFound(err)
	})
	s.onlyProtobuf()
}

func patches(s *session) {
	maps := s.client.CoreV1().ConfigMaps(namespace)
	body := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"patched"},"data":{"a":"1","b":"2"}}`)
	applied, err := maps.Patch(ctx, "patched", types.ApplyPatchType, body, meta.PatchOptions{FieldManager: "go"})
	must(err)
	want(applied.ManagedFields[0].Operation == meta.ManagedFieldsOperationApply, "%v", applied.ManagedFields)
	merged, err := maps.Patch(ctx, "patched", types.StrategicMergePatchType, []byte(`{"data":{"b":null,"c":"3"}}`), meta.PatchOptions{})
	must(err)
	want(len(merged.Data) == 2 && merged.Data["c"] == "3", "%v", merged.Data)
	pointed, err := maps.Patch(ctx, "patched", types.JSONPatchType, []byte(`[{"op":"add","path":"/data/a","value":"9"}]`), meta.PatchOptions{})
	must(err)
	want(pointed.Data["a"] == "9", "%v", pointed.Data)
	_, err = maps.Patch(ctx, "patched", types.ApplyPatchType, body, meta.PatchOptions{FieldManager: "go"})
	want(refusals.IsConflict(err), "%v", err)
	causes := err.(refusals.APIStatus).Status().Details.Causes
	want(len(causes) == 1 && causes[0].Field == ".data.a" && causes[0].Type == "FieldManagerConflict", "%v", causes)
	counts := s.seen.take()
	want(counts["got "+protobuf] == 4 && counts["got application/json"] == 0, "%v", counts)
}

func errors(s *session) {
	maps := s.client.CoreV1().ConfigMaps(namespace)
	_, err := maps.Create(ctx, configMap("twice", nil), meta.CreateOptions{})
	must(err)
	_, err = maps.Create(ctx, configMap("twice", nil), meta.CreateOptions{})
	want(refusals.IsAlreadyExists(err), "%v", err)
	_, err = maps.Create(ctx, configMap("Not A Name", nil), meta.CreateOptions{})
	want(refusals.IsInvalid(err) && err.(refusals.APIStatus).Status().Details.Causes[0].Field == "metadata.name", "%v", err)
	stale := configMap("twice", nil)
	stale.ResourceVersion = "1"
	_, err = maps.Update(ctx, stale, meta.UpdateOptions{})
	want(refusals.IsConflict(err), "%v", err)
	_, err = s.client.CoreV1().ConfigMaps("nowhere").Create(ctx, configMap("any", nil), meta.CreateOptions{})
	want(refusals.IsNotFound(err), "%v", err)
	_, err = maps.Watch(ctx, meta.ListOptions{ResourceVersion: "1"})
	want(err == nil || refusals.IsResourceExpired(err) || refusals.IsGone(err), "%v", err)
	s.seen.take()
	must(maps.Delete(ctx, "twice", meta.DeleteOptions{}))
	s.onlyProtobuf()
}

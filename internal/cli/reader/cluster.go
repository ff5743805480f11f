package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	v1 "github.com/truss-dev/truss/bundle/v1"
)

// Media types that ask for metadata alone. A server that does not know them
// sends whole objects, whose metadata is read just the same.
const (
	acceptMetadata     = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	acceptMetadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)

// A Cluster reads from one namespace of a cluster.
type Cluster struct {
	// Namespace is the one that the flags and the kubeconfig name.
	Namespace string

	host   string
	client *rest.RESTClient
	// streams is the client without a timeout, for watches.
	streams *rest.RESTClient
	mapper  func() (meta.RESTMapper, error)
}

// Connect reads the configuration as kubectl does. It makes no request.
func Connect(flags genericclioptions.RESTClientGetter) (*Cluster, error) {
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, fmt.Errorf("cannot read the kubeconfig: %w", err)
	}
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot read the kubeconfig: %w", err)
	}
	config, err = prepare(config)
	if err != nil {
		return nil, err
	}
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	endless := rest.CopyConfig(config)
	endless.Timeout = 0
	streams, err := rest.RESTClientFor(endless)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return &Cluster{Namespace: namespace, host: config.Host, client: client, streams: streams, mapper: flags.ToRESTMapper}, nil
}

// prepare makes a configuration for Bundles and metadata. A person's few
// requests need no rate limit beside the server's own.
func prepare(config *rest.Config) (*rest.Config, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("cannot register types: %w", err)
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	out := rest.CopyConfig(config)
	out.APIPath = "/apis"
	out.GroupVersion = &v1.GroupVersion
	out.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	out.ContentType, out.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	out.QPS, out.Burst = -1, 0
	return out, nil
}

// Bundle reads a Bundle: one request.
func (c *Cluster) Bundle(ctx context.Context, name string) (*v1.Bundle, error) {
	b := &v1.Bundle{}
	err := c.client.Get().Namespace(c.Namespace).Resource(v1.BundlePlural).Name(name).Do(ctx).Into(b)
	if err != nil {
		return nil, c.explain(err)
	}
	return b, nil
}

// Names returns the names of the Bundles in the namespace, sorted: one
// request, at most limit of them; 0 means all.
func (c *Cluster) Names(ctx context.Context, limit int64) ([]string, error) {
	list := &metav1.PartialObjectMetadataList{}
	request := c.client.Get().Namespace(c.Namespace).Resource(v1.BundlePlural).SetHeader("Accept", acceptMetadataList)
	if err := read(ctx, withOptions(request, metav1.ListOptions{Limit: limit}), list); err != nil {
		return nil, c.explain(err)
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].Name
	}
	slices.Sort(names)
	return names, nil
}

// explain words errors as kubectl does where the client's own words do not
// say what to do. A Bundle that does not exist stays the server's NotFound.
func (c *Cluster) explain(err error) error {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("the connection to the server %s was refused - did you specify the right host or port?", strings.TrimPrefix(strings.TrimPrefix(c.host, "https://"), "http://"))
	case missingResource(err):
		return errors.New(`the server doesn't have a resource type "bundles" - is Truss installed?`)
	}
	return err
}

// missingResource reports whether a 404 is about the kind and not about an
// object: it comes from the router, which names none.
func missingResource(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	if details == nil {
		return true
	}
	return slices.ContainsFunc(details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Type == metav1.CauseTypeUnexpectedServerResponse
	})
}

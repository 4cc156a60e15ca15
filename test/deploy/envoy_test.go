package deploy

import (
	"encoding/json"
	"testing"
	"time"

	bootstrap "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	cluster "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	router "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3" // a type of the file
	manager "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	socket "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Envoy's own description of its configuration knows every field of the file and
// takes every value, nothing cuts a reply short or sends a call twice, and haltd
// learns who calls. Envoy itself is not started: Debian does not have it.
func TestEnvoy(t *testing.T) {
	var loose any
	if err := yaml.Unmarshal(file(t, "proxy/envoy.yaml"), &loose); err != nil {
		t.Fatal(err)
	}
	strict, err := json.Marshal(loose)
	if err != nil {
		t.Fatal(err)
	}
	var whole bootstrap.Bootstrap
	if err := protojson.Unmarshal(strict, &whole); err != nil {
		t.Fatal(err)
	}

	ports, wanted := map[string]uint32{}, map[string]bool{}
	certificates := 0
	each(t, &whole, func(m proto.Message) {
		switch m := m.(type) {
		case *manager.HttpConnectionManager:
			if !m.GetUseRemoteAddress().GetValue() || m.GetStreamIdleTimeout().AsDuration() < time.Hour || m.GetRequestTimeout() != nil {
				t.Errorf("%s: haltd does not learn who calls, or a long reply is cut", m.GetStatPrefix())
			}
			filters := m.GetHttpFilters()
			if n := len(filters); n != 1 || !filters[0].GetTypedConfig().MessageIs(&router.Router{}) {
				t.Errorf("%s: %d filters, want the router alone", m.GetStatPrefix(), n)
			}
		case *route.RouteAction:
			wanted[m.GetCluster()] = true
			if m.GetTimeout() == nil || m.GetTimeout().AsDuration() != 0 || m.GetRetryPolicy() != nil {
				t.Errorf("calls to %s are cut after a while, or sent again", m.GetCluster())
			}
		case *socket.TlsCertificate:
			certificates++
		case *cluster.Cluster:
			for _, e := range m.GetLoadAssignment().GetEndpoints() {
				for _, l := range e.GetLbEndpoints() {
					ports[m.GetName()] = l.GetEndpoint().GetAddress().GetSocketAddress().GetPortValue()
				}
			}
		}
	})
	if len(wanted) != 2 || ports["gateway"] != 7070 || ports["admin"] != 7071 || !wanted["gateway"] || !wanted["admin"] {
		t.Errorf("routes lead to %v, which are at %v", wanted, ports)
	}
	if certificates != 2 {
		t.Errorf("%d certificates, want one for agents and one for people", certificates)
	}
}

// each calls visit with every message inside of m, those in an Any too, and
// holds it to Envoy's own limits.
func each(t *testing.T, m proto.Message, visit func(proto.Message)) {
	t.Helper()
	err := protorange.Range(m.ProtoReflect(), func(at protopath.Values) error {
		inner, ok := at.Index(-1).Value.Interface().(protoreflect.Message)
		if !ok {
			return nil
		}
		m := inner.Interface()
		if v, ok := m.(interface{ Validate() error }); ok {
			if err := v.Validate(); err != nil {
				t.Errorf("%s: %v", at.Path, err)
			}
		}
		visit(m)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

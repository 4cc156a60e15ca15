package detection

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/haltd/haltd"
)

// asWritten compares what was read with what was written: a list of nothing
// is no list.
var asWritten = cmp.Options{cmp.Exporter(func(reflect.Type) bool { return true }), cmpopts.EquateEmpty()}

// populate puts something into every field of a value, whoever added it: a field
// that is not written comes back empty, and the test says which.
func populate(r *rand.Rand, v reflect.Value) {
	if !v.CanSet() {
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(1_700_000_000, r.Int64N(1e9)).UTC()))
		return
	case reflect.TypeFor[amounts]():
		v.Set(reflect.ValueOf(amounts{first: [4]float64{1.5, -2}, n: 2}))
		return
	case reflect.TypeFor[sketch]():
		return // see round
	case reflect.TypeFor[round]():
		populateFields(r, v)
		f := v.Addr().Interface().(*round)
		f.sketch = sketchOf(f.tells)
		return
	case reflect.TypeFor[strand]():
		populateFields(r, v)
		v.Addr().Interface().(*strand).all = v.Addr().Interface().(*strand).all[:1]
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		populateFields(r, v)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		populate(r, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			populate(r, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			populate(r, v.Index(i))
		}
	case reflect.String:
		v.SetString(fmt.Sprint("text ", r.IntN(100)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(1 + r.Float32()))
	case reflect.Int, reflect.Int64:
		v.SetInt(-1 - r.Int64N(1000))
	case reflect.Uint8:
		v.SetUint(1 + r.Uint64N(200))
	case reflect.Uint32:
		v.SetUint(uint64(1 + r.Uint32N(1<<30)))
	case reflect.Uint64:
		v.SetUint(1 + r.Uint64N(1<<60))
	default:
		panic(v.Type())
	}
}

func populateFields(r *rand.Rand, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		populate(r, reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem())
	}
}

// memory is what WindowMemory, SessionMemory and GuardMemory have in common.
type memory interface {
	AppendBinary([]byte) ([]byte, error)
	UnmarshalBinary([]byte) error
}

func TestWhatIsRememberedIsWrittenWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ full, empty, back memory }{
		{&WindowMemory{}, &WindowMemory{}, &WindowMemory{}},
		{&SessionMemory{}, &SessionMemory{}, &SessionMemory{}},
		{&GuardMemory{}, &GuardMemory{}, &GuardMemory{}},
	} {
		populate(r, reflect.ValueOf(c.full).Elem())
		for _, m := range []memory{c.full, c.empty} {
			b, err := m.AppendBinary([]byte("before"))
			if err != nil || string(b[:6]) != "before" {
				t.Fatalf("%q, %v; want what was there before to stay", b[:6], err)
			}
			if err := c.back.UnmarshalBinary(b[6:]); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(m, c.back, asWritten); diff != "" {
				t.Errorf("%T is read otherwise than it was written (-written +read):\n%s", m, diff)
			}
		}
	}
}

// What another version wrote, or what was cut short, is as good as nothing.
func TestWhatCannotBeReadStartsEmpty(t *testing.T) {
	var full SessionMemory
	populate(rand.New(rand.NewPCG(3, 4)), reflect.ValueOf(&full).Elem())
	b, _ := full.AppendBinary(nil)
	for i := range b {
		var m SessionMemory
		if err := m.UnmarshalBinary(b[:i]); err == nil {
			t.Fatalf("the first %d of %d bytes are read", i, len(b))
		}
		if diff := cmp.Diff(SessionMemory{}, m, asWritten); diff != "" {
			t.Fatalf("the first %d bytes leave something behind:\n%s", i, diff)
		}
	}
	for i := range 2 { // the version, and that of the features
		other := append([]byte{}, b...)
		other[i]++
		if err := new(SessionMemory).UnmarshalBinary(other); err == nil {
			t.Errorf("byte %d of another version is read", i)
		}
	}
	if err := new(SessionMemory).UnmarshalBinary(append(b, 0)); err == nil {
		t.Error("bytes that nobody wrote are passed over")
	}
}

func FuzzUnmarshal(f *testing.F) {
	var s SessionMemory
	var w WindowMemory
	var g GuardMemory
	for _, m := range []memory{&s, &w, &g} {
		populate(rand.New(rand.NewPCG(5, 6)), reflect.ValueOf(m).Elem())
		b, _ := m.AppendBinary(nil)
		f.Add(b)
	}
	call := userCall("one", "two", "three")
	f.Fuzz(func(t *testing.T, b []byte) {
		var m SessionMemory
		var w WindowMemory
		var g GuardMemory
		_, _, _ = m.UnmarshalBinary(b), w.UnmarshalBinary(b), g.UnmarshalBinary(b)
		m.Session.Weight()
		w.Window.View()
		judge(DefaultSettings(), State{Window: &w.Window, Session: &m.Session, Mark: m.Progress.Mark}, call, noon)
		judge(DefaultSettings(), g.State("one", &Window{}), call, noon)
	})
}

// A client that is faster than the observation of the reply is recognised, and
// a call that goes on from something else is not waited for.
func TestWhoGoesOnFromAReplyIsAwaited(t *testing.T) {
	set := DefaultSettings()
	loose := func(texts ...string) *haltd.Call {
		c := &haltd.Call{}
		for _, text := range texts {
			c.Opening = append(c.Opening, haltd.Message{Text: text})
		}
		return c
	}
	other := userCall("something", "else", "altogether")
	for i := range other.Rounds {
		other.Rounds[i].Text = fresh(i)
	}
	for _, tc := range []struct {
		name        string
		first, next *haltd.Call
		want        bool
	}{
		{"the first round", userCall("go"), userCall("go", "on"), true},
		{"a later round", userCall("go", "on"), userCall("go", "on", "again"), true},
		{"the same request again", userCall("go", "on"), userCall("go", "on"), false},
		{"another conversation", userCall("go", "on"), other, false},
		{"another task", userCall("go"), userCall("something", "else"), false},
		{"messages without a history", loose("go"), loose("go", "on"), true},
		{"a message that grows", loose("go\non"), loose("go\non\nand on"), true},
		{"another message", loose("go"), loose("something", "else"), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := newState()
			v := judge(set, st, tc.first, noon)
			next := Read(testCache, tc.next, st.Session.Pending())
			if st.Session.Awaits(next) {
				t.Error("awaited though nothing was admitted")
			}
			entry := Admit(set, st, v, noon)
			if got := st.Session.Awaits(next); got != tc.want {
				t.Errorf("awaited: %v, want %v", got, tc.want)
			}
			Observe(set, st, entry, Source{}, ReadReply(said("well"), true), noon)
			if st.Session.Awaits(next) {
				t.Error("awaited though the reply is known")
			}
			Withdraw(st, Admit(set, st, v, noon))
			if st.Session.Awaits(next) {
				t.Error("awaited though the call was withdrawn")
			}
		})
	}
}

// BenchmarkCodec writes and reads what is remembered of a session by hand and
// with libraries. Those see no field that is not exported: they have the same
// memory as a type whose fields are.
func BenchmarkCodec(b *testing.B) {
	k := newTalk(&testing.T{}, "find the bug")
	for i := range 100 {
		k.does("read_file", fmt.Sprintf(`{"path":"f%d.go"}`, i), fresh(i)+"\n"+fresh(i+1)+"\n"+fresh(i+2))
	}
	set, once := DefaultSettings(), newState()
	entry := Admit(set, once, judge(set, once, &haltd.Call{Opening: []haltd.Message{{Text: prose(1<<10, 1)}}}, noon), noon)
	Observe(set, once, entry, Source{}, ReadReply(said(prose(400, 2)), true), noon)
	if !once.Session.Idle() {
		b.Fatal("a session of one call is no idle one")
	}
	exported := exportedType(reflect.TypeFor[SessionMemory]())
	for _, c := range []struct {
		name    string
		session *Session
	}{{"OneCall", once.Session}, {"100Rounds", k.st.Session}} {
		m := &SessionMemory{Session: *c.session}
		want, _ := m.AppendBinary(nil)
		for _, by := range []struct {
			name      string
			marshal   func(any) ([]byte, error)
			unmarshal func([]byte, any) error
		}{
			{"hand", nil, nil},
			{"gob", func(v any) ([]byte, error) {
				var buf bytes.Buffer
				err := gob.NewEncoder(&buf).Encode(v)
				return buf.Bytes(), err
			}, func(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }},
			{"json", json.Marshal, json.Unmarshal},
		} {
			write := func() ([]byte, error) { return m.AppendBinary(nil) }
			read := func(b []byte) (*SessionMemory, error) {
				m := new(SessionMemory)
				return m, m.UnmarshalBinary(b)
			}
			if by.marshal != nil {
				visible := reflect.NewAt(exported, unsafe.Pointer(m)).Interface()
				write = func() ([]byte, error) { return by.marshal(visible) }
				read = func(b []byte) (*SessionMemory, error) {
					v := reflect.New(exported)
					err := by.unmarshal(b, v.Interface())
					return (*SessionMemory)(v.UnsafePointer()), err
				}
			}
			text, err := write()
			if err != nil {
				b.Fatal(err)
			}
			back, err := read(text)
			if got, _ := back.AppendBinary(nil); err != nil || !bytes.Equal(got, want) {
				b.Fatalf("%s reads another session than it wrote: %v", by.name, err)
			}
			b.Run(c.name+"/write/"+by.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = write()
				}
				b.ReportMetric(float64(len(text)), "bytes")
			})
			b.Run(c.name+"/read/"+by.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, _ = read(text)
				}
			})
		}
	}
}

// exportedType lies in memory as t does, with fields that are exported.
func exportedType(t reflect.Type) reflect.Type {
	switch {
	case t == reflect.TypeFor[time.Time]():
	case t.Kind() == reflect.Struct:
		fields := make([]reflect.StructField, t.NumField())
		for i := range fields {
			fields[i] = reflect.StructField{Name: fmt.Sprint("F", i), Type: exportedType(t.Field(i).Type)}
		}
		return reflect.StructOf(fields)
	case t.Kind() == reflect.Slice:
		return reflect.SliceOf(exportedType(t.Elem()))
	case t.Kind() == reflect.Array:
		return reflect.ArrayOf(t.Len(), exportedType(t.Elem()))
	case t.Kind() == reflect.Pointer:
		return reflect.PointerTo(exportedType(t.Elem()))
	}
	return t
}

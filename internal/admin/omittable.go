package admin

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// omittable is a field of a patch: absent leaves what is there, null takes it
// away, and a value replaces it. Its JSON tag needs omitzero.
type omittable[T any] struct {
	sent  bool
	value *T // nil is null
}

// UnmarshalJSON is called for null as well, and not for what is absent.
func (o *omittable[T]) UnmarshalJSON(b []byte) error {
	o.sent, o.value = true, nil
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	o.value = new(T)
	return json.Unmarshal(b, o.value)
}

// Schema is that of the value, or null.
func (o omittable[T]) Schema(r huma.Registry) *huma.Schema {
	t := reflect.TypeFor[T]()
	s := *r.Schema(t, false, t.Name())
	s.Nullable = true
	return &s
}

// into changes a field for which nil means that there is none.
func (o omittable[T]) into(field **T) {
	if o.sent {
		*field = o.value
	}
}

// over changes a field for which the zero value means that there is none.
func (o omittable[T]) over(field *T) {
	if !o.sent {
		return
	}
	var none T
	if *field = none; o.value != nil {
		*field = *o.value
	}
}

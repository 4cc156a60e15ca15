package storetest

import "testing"

func prices(t *testing.T, s Store) {
	want := func(what, file string) {
		t.Helper()
		got, err := s.PriceFile(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, what, string(got), file)
		equal(t, what+" is there", got != nil, file != "")
	}
	save := func(file []byte) {
		t.Helper()
		if err := s.SavePriceFile(t.Context(), file); err != nil {
			t.Fatal(err)
		}
	}
	want("none", "")
	save([]byte(`{"date": "2026-11-01"}`))
	save([]byte(`{"date": "2026-11-02"}`))
	want("the newest", `{"date": "2026-11-02"}`)
	save(nil)
	want("none again", "")
	save(nil)
}

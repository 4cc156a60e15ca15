package main

import (
	"os"
	"testing"

	"github.com/haltd/haltd/internal/detection"
)

// The document lists the weights that the binary carries.
func TestTheDocumentHasTheWeightsOfTheBinary(t *testing.T) {
	b, err := os.ReadFile("../../docs/detection.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _, found := cutPart(string(b), "weights")
	if !found {
		t.Fatalf("docs/detection.md has no lines %q and %q", begins("weights"), ends("weights"))
	}
	if want := weightsTable(detection.CurrentModel()); text != want {
		t.Errorf("docs/detection.md has other weights than internal/detection/weights.json: make train writes both. Expected\n%s", want)
	}
}

func TestPartsOfADocument(t *testing.T) {
	doc := "a\n" + begins("x") + "old\n" + ends("x") + "b\n"
	before, text, after, found := cutPart(doc, "x")
	if !found || before+text+after != doc || text != "old\n" {
		t.Errorf("cut into %q, %q, %q, %v", before, text, after, found)
	}
	if _, _, _, found := cutPart(doc, "y"); found {
		t.Error("found a part that is not there")
	}
	if _, _, _, found := cutPart(begins("x")+"old\n", "x"); found {
		t.Error("found a part without an end")
	}
}

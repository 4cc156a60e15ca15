package table

import "context"

// Chunk is some rows of one table on their way from one store to another, in
// the columns of the shared one.
type Chunk struct {
	Table   string
	Columns []string
	Rows    [][]any
}

// Sums are what two stores must agree on after one was copied to the other, by
// a name that tells a person what was counted or added up.
type Sums map[string]int64

// Source is a store that is copied.
type Source interface {
	// Export hands out all rows, table by table.
	Export(ctx context.Context, each func(Chunk) error) error
	Sums(ctx context.Context) (Sums, error)
}

package haltd

import "context"

// PriceList is the price table in force.
type PriceList struct {
	// Tables are those that it was made from, the first to be asked first.
	Tables []PriceTable `json:"tables" doc:"Where the prices come from, the first to be asked first."`
	Models []ModelPrice `json:"models" doc:"What a million tokens cost, by model or pattern."`
	// Default prices what nobody knows.
	Default ModelPrice `json:"default" doc:"What models cost that no table has."`
}

// PriceTable is one source of prices.
type PriceTable struct {
	From   string `json:"from" doc:"configuration, loaded or built-in."`
	Source string `json:"source,omitempty" doc:"Where its prices were read."`
	Date   string `json:"date,omitempty" doc:"The day on which they were read."`
	Models int    `json:"models" doc:"How many models it has."`
}

// ModelPrice is what a million tokens of a model cost.
type ModelPrice struct {
	Model      string `json:"model"`
	Input      Money  `json:"input_usd"`
	Output     Money  `json:"output_usd"`
	CacheRead  Money  `json:"cache_read_usd"`
	CacheWrite Money  `json:"cache_write_usd"`
	MaxOutput  int64  `json:"max_output,omitempty" doc:"How many tokens a reply can have; left out where nobody says."`
	From       string `json:"from" doc:"The table that says so."`
}

// PriceStore keeps the price table that an operator has loaded, as the file
// had it. That there is another one is told by ChangeFeed.
type PriceStore interface {
	// PriceFile is nil where none is kept.
	PriceFile(ctx context.Context) ([]byte, error)
	// SavePriceFile replaces it; nil removes it.
	SavePriceFile(ctx context.Context, file []byte) error
}

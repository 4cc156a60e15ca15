package admin

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/haltd/haltd"
)

// mostPriceFile bounds a price table.
const mostPriceFile = 4 << 20

type pricesOutput struct{ Body haltd.PriceList }

type loadPricesInput struct {
	Actor
	Body json.RawMessage `doc:"The table: source, date, and models with input, output, cache_read, cache_write (US dollars for a million tokens), max_output and hides_thoughts."`
}

type resetPricesInput struct{ Actor }

func (s *server) registerPrices() {
	register(s, operation(http.MethodGet, "/v1/prices", "get-prices", "The price table in force, with its sources and dates"),
		func(context.Context, *noInput) (*pricesOutput, error) {
			return &pricesOutput{s.deps.Prices.Prices()}, nil
		})

	load := operation(http.MethodPut, "/v1/prices", "load-prices", "Put a newer price table in force, from the next call on")
	load.MaxBodyBytes = mostPriceFile
	register(s, load, func(ctx context.Context, in *loadPricesInput) (*pricesOutput, error) {
		if err := s.deps.Prices.LoadPrices(ctx, in.Body); err != nil {
			return nil, err
		}
		list := s.deps.Prices.Prices()
		s.note(in.by(), haltd.ChangePricesLoaded, "", newestTable(list), nil)
		return &pricesOutput{list}, nil
	})

	register(s, operation(http.MethodDelete, "/v1/prices", "reset-prices", "Go back to the built-in price table"),
		func(ctx context.Context, in *resetPricesInput) (*pricesOutput, error) {
			if err := s.deps.Prices.ResetPrices(ctx); err != nil {
				return nil, err
			}
			list := s.deps.Prices.Prices()
			s.note(in.by(), haltd.ChangePricesReset, "", newestTable(list), nil)
			return &pricesOutput{list}, nil
		})
}

// newestTable names the table of a list for the audit log.
func newestTable(list haltd.PriceList) string {
	for _, t := range list.Tables {
		if t.Date != "" {
			return t.From + " table of " + t.Date
		}
	}
	return ""
}

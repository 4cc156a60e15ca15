package app

import (
	"context"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/pricing"
)

// applyPrices makes the price table anew. change, where it is not nil, says
// which table is loaded from now on.
func (a *App) applyPrices(change func(loaded **pricing.List)) {
	a.pricing.Lock()
	defer a.pricing.Unlock()
	if change != nil {
		change(&a.loaded)
	}
	cfg := a.config.Load().Pricing
	a.prices.Store(pricing.New(cfg.Models, a.loaded, cfg.Default))
}

// reloadPrices takes over the price table that the store keeps. One that is
// older than that in the binary, because haltd was upgraded since, is passed
// over.
func (a *App) reloadPrices(ctx context.Context) error {
	file, err := a.store.PriceFile(ctx)
	if err != nil {
		return err
	}
	var list *pricing.List
	if file != nil {
		list, err = pricing.ReadList(file)
		switch {
		case err != nil:
			a.log.Error("the price table that was loaded cannot be read; the built-in one is in force", "error", err)
			list = nil
		case list.IsOlder():
			a.log.Warn("the price table that was loaded is older than the built-in one, which is in force; haltd prices shows it")
			list = nil
		}
	}
	a.applyPrices(func(loaded **pricing.List) { *loaded = list })
	return nil
}

// prices are the price table in force, whichever that is when somebody asks.
type prices struct{ app *App }

func (p prices) Prices() haltd.PriceList { return p.app.prices.Load().List() }

func (p prices) Cost(provider, model string, u haltd.Usage) (cost haltd.Money, known bool) {
	return p.app.prices.Load().Cost(provider, model, u)
}

func (p prices) MaxOutput(provider, model string) int64 {
	return p.app.prices.Load().MaxOutput(provider, model)
}

func (p prices) HidesThoughts(provider, model string) bool {
	return p.app.prices.Load().HidesThoughts(provider, model)
}

// LoadPrices puts a newer table in force, from the next call on, and keeps it.
func (p prices) LoadPrices(ctx context.Context, file []byte) error {
	list, err := pricing.ReadList(file)
	if err != nil {
		return err
	}
	if list.IsOlder() {
		_, date := pricing.Source()
		return haltd.Errorf(haltd.CodeInvalid, "the table is of %s, and the built-in one of %s is newer", list.Date, date).In("date").
			WithFix("Take a newer table; for single models use pricing.models in the configuration, which wins over every table.")
	}
	if err := p.app.store.SavePriceFile(ctx, file); err != nil {
		return err
	}
	return p.app.reloadPrices(ctx)
}

// ResetPrices goes back to the built-in table.
func (p prices) ResetPrices(ctx context.Context) error {
	if err := p.app.store.SavePriceFile(ctx, nil); err != nil {
		return err
	}
	return p.app.reloadPrices(ctx)
}

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/haltd/haltd"
)

// PricesLsCmd shows the price table in force.
type PricesLsCmd struct {
	Model string `arg:"" optional:"" help:"Only models whose name holds this text."`
}

// Run prints where the prices come from and what models cost.
func (c *PricesLsCmd) Run(env *Env) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var list haltd.PriceList
	if err := api.call(env.Context, http.MethodGet, "/v1/prices", nil, nil, &list); err != nil {
		return err
	}
	wanted := list.Models[:0]
	for _, m := range list.Models {
		if strings.Contains(m.Model, strings.ToLower(c.Model)) {
			wanted = append(wanted, m)
		}
	}
	list.Models = wanted
	if env.JSON {
		return env.printJSON(list)
	}
	printTables(env.Stdout, list.Tables)
	rows := [][]string{{"MODEL", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "MAX OUTPUT", "FROM"}}
	for _, m := range append(list.Models, list.Default) {
		longest := "-"
		if m.MaxOutput > 0 {
			longest = strconv.FormatInt(m.MaxOutput, 10)
		}
		rows = append(rows, []string{clean(m.Model), m.Input.String(), m.Output.String(), m.CacheRead.String(), m.CacheWrite.String(), longest, clean(m.From)})
	}
	return table(env.Stdout, rows)
}

func printTables(w io.Writer, tables []haltd.PriceTable) {
	fmt.Fprintln(w, "US dollars for a million tokens. Tables, the first that knows a model decides:")
	for _, t := range tables {
		line := fmt.Sprintf("  %s: %d models", clean(t.From), t.Models)
		if t.Date != "" {
			line += ", read on " + clean(t.Date)
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

// PricesLoadCmd puts a newer price table in force.
type PricesLoadCmd struct {
	File string `arg:"" help:"The table as JSON: source, date, and models with input and output."`
}

// Run sends the file to the haltd that runs.
func (c *PricesLoadCmd) Run(env *Env) error {
	file, err := os.ReadFile(c.File)
	if err != nil {
		return haltd.Errorf(codeUsage, "The price table cannot be read: %v", err)
	}
	if !json.Valid(file) {
		return haltd.Errorf(codeUsage, "%s is not JSON", c.File).WithFix("See haltd prices load --help and the configuration page for the form of a table.")
	}
	return changePrices(env, http.MethodPut, json.RawMessage(file), "The new prices hold from the next call on, and stay.")
}

// PricesResetCmd goes back to the built-in table.
type PricesResetCmd struct{}

// Run forgets the table that was loaded.
func (c *PricesResetCmd) Run(env *Env) error {
	return changePrices(env, http.MethodDelete, nil, "The built-in prices hold again.")
}

func changePrices(env *Env, method string, body any, text string) error {
	api, err := env.connect()
	if err != nil {
		return err
	}
	var list haltd.PriceList
	if err := api.call(env.Context, method, "/v1/prices", nil, body, &list); err != nil {
		return err
	}
	if env.JSON {
		return env.printJSON(list)
	}
	fmt.Fprintln(env.Stdout, text)
	printTables(env.Stdout, list.Tables)
	return nil
}

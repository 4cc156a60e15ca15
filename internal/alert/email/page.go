package email

import (
	_ "embed"
	"html/template"
)

//go:embed page.html
var source string

// page is the HTML part: one column that fits a phone. Mail programs that drop
// its style sheet show the light colours of its style attributes.
var page = template.Must(template.New("email").Parse(source))

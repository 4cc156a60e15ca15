package excerpt

import (
	"encoding/base64"
	"strings"
	"testing"
)

// redact is a whole text as it is stored.
func redact(text string, known ...string) string { return show(text, find(text, known), 0, len(text)) }

const (
	long  = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9n"
	pem   = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq1\nk9vQy0fP+Z/a==\n-----END RSA PRIVATE KEY-----"
	jwt   = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	first = "4111 1111 1111 1111" // a card number that is given out for tests
)

func TestSecretsAreTakenOut(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"OpenAI":                     {"use sk-" + long + " now", "use [redacted key] now"},
		"OpenAI project":             {"use sk-proj-ab_c-" + long + ".", "use [redacted key]."},
		"Anthropic":                  {"sk-ant-api03-" + long + "-xy_z", "[redacted key]"},
		"OpenRouter":                 {"sk-or-v1-" + long, "[redacted key]"},
		"Google":                     {"key AIza" + long[:35] + "!", "key [redacted key]!"},
		"xAI":                        {"xai-" + long, "[redacted key]"},
		"Groq":                       {"gsk_" + long, "[redacted key]"},
		"Hugging Face":               {"hf_" + long, "[redacted key]"},
		"haltd":                      {"haltd_" + long + "-_x", "[redacted key]"},
		"GitHub":                     {"ghp_" + long + " gho_" + long, "[redacted key] [redacted key]"},
		"GitHub, fine-grained":       {"github_pat_11ABC_" + long, "[redacted key]"},
		"GitLab":                     {"glpat-" + long[:20], "[redacted key]"},
		"Slack":                      {"xoxb-123456-" + long, "[redacted key]"},
		"a Slack webhook":            {"https://hooks.slack.com/services/T0/B0/" + long, "https://[redacted key]"},
		"AWS":                        {"AKIAIOSFODNN7EXAMPLE", "[redacted key]"},
		"Stripe":                     {"sk_live_" + long, "[redacted key]"},
		"in JSON, after a break":     {`{"text":"key:\nsk-` + long + `\nend"}`, `{"text":"key:\n[redacted key]\nend"}`},
		"inside a word":              {"Xsk-" + long, "X[redacted key]"},
		"JWT":                        {"got " + jwt + ", ok", "got [redacted token], ok"},
		"Bearer":                     {"curl -H 'Authorization: Bearer abcDEF.123-_~+/=' x", "curl -H 'Authorization: Bearer [redacted token]' x"},
		"bearer alone":               {"send bearer  0123456789abcdef", "send bearer  [redacted token]"},
		"Basic":                      {"Basic " + base64.StdEncoding.EncodeToString([]byte("ann:hunter2")), "Basic [redacted token]"},
		"authorization without":      {`"authorization": "abc"`, `"authorization": "[redacted token]"`},
		"a cookie":                   {"Cookie: sid=abc; theme=dark\nAccept: */*", "Cookie: [redacted token]\nAccept: */*"},
		"PEM":                        {"a\n" + pem + "\nb", "a\n[redacted private key]\nb"},
		"PEM in JSON":                {`"k":"` + strings.ReplaceAll(pem, "\n", `\n`) + `"`, `"k":"[redacted private key]"`},
		"PEM without its end":        {"a " + pem[:50], "a [redacted private key]"},
		"PEM without its beginning":  {"see:\n" + pem[40:] + "\nb", "see:\n[redacted private key]\nb"},
		"PGP":                        {"-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----", "[redacted private key]"},
		"user and password":          {"git clone https://ann:hunter2@example.org/x", "git clone https://[redacted password]/x"},
		"a DSN":                      {"postgres://app:p%40ss@db/x", "postgres://[redacted password]@db/x"},
		"environment":                {"DB_PASSWORD=hunter2 make", "DB_PASSWORD=[redacted password] make"},
		"YAML":                       {"password: hunter2\nuser: ann", "password: [redacted password]\nuser: ann"},
		"YAML below another":         {"credentials:\n  token: hunter2\n", "credentials:\n  token: [redacted password]\n"},
		"YAML on one line":           {"secret: token: hunter2", "secret: [redacted password]"},
		"JSON":                       {`{"api_key": "hunter2", "n": 1}`, `{"api_key": "[redacted password]", "n": 1}`},
		"JSON with quotes in it":     {`{"password":"hun\"ter2","n":1}`, `{"password":"[redacted password]","n":1}`},
		"JSON in JSON":               {`{"body":"{\"apiKey\":\"hunter2\",\"n\":1}"}`, `{"body":"{\"apiKey\":\"[redacted password]\",\"n\":1}"}`},
		"a phrase":                   {`passphrase = "correct horse battery"`, `passphrase = "[redacted password]"`},
		"single quotes":              {`client_secret='it\'s me'`, `client_secret='[redacted password]'`},
		"a program":                  {`openai_api_key_2 := "hunter2"`, `openai_api_key_2 := "[redacted password]"`},
		"a query":                    {"/x?access_token=hunter2&n=1", "/x?access_token=[redacted password]&n=1"},
		"a connection string":        {"Server=a;Pwd=hunter2;Port=1", "Server=a;Pwd=[redacted password];Port=1"},
		"an option":                  {"mysql --password hunter2 -h db", "mysql --password [redacted password] -h db"},
		"curl's user":                {"curl -u ann:hunter2 x", "curl -u [redacted password] x"},
		"XML":                        {"<db:password>hunter2</db:password>", "<db:password>[redacted password]</db:password>"},
		"a card":                     {"pay with " + first + ".", "pay with [redacted card number]."},
		"a card without spaces":      {strings.ReplaceAll(first, " ", ""), "[redacted card number]"},
		"a card with dashes":         {"3782-822463-10005", "[redacted card number]"},
		"a card after other numbers": {"no 12 5500000000000004 ok", "no 12 [redacted card number] ok"},
		"e-mail":                     {"ask ann.b+c@mail.example.org!", "ask [redacted e-mail]!"},
		"e-mail beyond ASCII":        {"an jürgen@müller.example", "an [redacted e-mail]"},
		"twice":                      {"a@b.co c@d.co", "[redacted e-mail] [redacted e-mail]"},
		"one inside another":         {`api_key="sk-` + long + `"`, `api_key="[redacted key]"`},
	} {
		if got := redact(c.text); got != c.want {
			t.Errorf("%s: %q became\n%q, want\n%q", name, c.text, got, c.want)
		}
	}
}

func TestPlainTextStays(t *testing.T) {
	for _, text := range []string{
		"", "Reconcile the invoices of November.", "a task-force for risk-averse-people-in-2026", "scikit: sk-learn-compatible-estimators",
		"max_tokens: 4096, prompt_tokens=120", `{"usage":{"total_tokens":12}}`, `"password": null, "token": ""`, "api_key=None",
		"haltd_events_dropped_total 12", "the token is invalid", "basic understanding of it", "1719824645123456789 ns", "4111 1111 1111 1112",
		"https://example.org/a@b", "me@home", "order 12345 of 2026-01-15T10:30:00Z", "a global-configuration-of-the-service.yaml",
		"x\n-----END PRIVATE KEY, they said", "<script>alert(1)</script>", "monkey: 5",
	} {
		if got := redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestKnownSecretsAreTakenOut(t *testing.T) {
	const key = "0f1e2d3c4b5a"
	if got, want := redact("x"+key+key+" y "+key, key, "", "y"), "x[redacted key][redacted key] y [redacted key]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A pattern that does not begin with plain letters is slow: it must not be
// tried on every text.
func TestEveryPatternIsCheapOnPlainText(t *testing.T) {
	for _, s := range shapes {
		if prefix, _ := s.pattern.LiteralPrefix(); prefix == "" && len(s.hints) == 0 {
			t.Errorf("%s has neither hints nor a beginning", s.pattern)
		}
		for _, hint := range s.hints {
			if hint != strings.ToLower(hint) {
				t.Errorf("hint %q is not in lower case", hint)
			}
		}
	}
}

package admin

import (
	"net/http"

	"github.com/haltd/haltd"
)

// Waiting answers in the place of the API while it cannot be opened, because
// the database does not answer. The process is well, and not ready. Whoever asks
// has shown no token: where the database is, the log says.
func Waiting() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, newProblem(http.StatusServiceUnavailable, haltd.Errorf(haltd.CodeUnavailable, "haltd is starting, and waits for the database of store.url").
			WithFix("Check that PostgreSQL runs and takes writes; haltd's log says what is wrong, and haltd goes on by itself.")))
	})
	return mux
}

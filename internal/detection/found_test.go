package detection

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What comes back and looks other than before; and what looks the same, and has
// become less.
func TestWhatIsFoundAgain(t *testing.T) {
	const rounds = 36
	id := func(i int) string { return fmt.Sprintf("%012x", uint64(i+3)*0x9e3779b97f4a7c15>>16) }
	stuck := map[string]func(k *talk, i int){
		"passages that do not answer it, rated anew each time": func(k *talk, i int) {
			found := []string{"Die Probezeit beträgt sechs Monate.", "Überstunden werden mit Freizeit ausgeglichen.", "Urlaub ist schriftlich zu beantragen."}
			list := ""
			for n := range found {
				list += fmt.Sprintf(`, {"id": "kb-%d0f%d", "score": 0.%d, "text": %q}`, 7+(n+i)%3, (n+i)%3, 310+(i*97+n*41)%109, found[(n+i)%3])
			}
			query := []string{"Kündigungsfrist Praktikum", "Praktikanten Kündigung", "Kündigung während Praktikum", "Frist Beendigung Praktikum", "Arbeitsvertrag Praktikant Ende"}[i*i%5] + []string{"", " policy", " 2025", " section 2"}[i*7%4]
			k.does("retrieve", fmt.Sprintf(`{"query":%q,"top_k":%d}`, query, []int{3, 5, 8}[i%3]), `{"matches": [`+list[2:]+"]}")
		},
		"a workflow that is edited to and fro, and fails alike": func(k *talk, i int) {
			run := 10_000_000_000 + (i/3+1)*7_919_333_017%9_000_000_000
			k.pause = 4 * time.Second
			switch n := i / 3; i % 3 {
			case 0:
				from, to := []string{"permissions: read-all", "checkout@v4", "ubuntu-latest"}[n/2%3], []string{"permissions: write-all", "checkout@v3", "ubuntu-22.04"}[n/2%3]
				if n%2 == 1 {
					from, to = to, from
				}
				k.does("Edit", fmt.Sprintf(`{"file_path":".github/workflows/release.yml","old_string":%q,"new_string":%q}`, from, to), "The file .github/workflows/release.yml has been updated.")
			case 1:
				k.pause = 18 * time.Second
				message := []string{"fix ci", "ci: try again", "fix release workflow"}[n%3]
				k.does("Bash", fmt.Sprintf(`{"command":"git commit -qam '%s' && git push -q && sleep 15 && gh run list --limit 1"}`, message), fmt.Sprintf("X  %s  release  main  push  %d  %ds", message, run, 38+n*7%20))
			default:
				k.does("Bash", fmt.Sprintf(`{"command":"gh run view %d --log-failed | tail -5"}`, run), fmt.Sprintf("deploy\tRun deploy\t2025-10-11T09:%02d:41.57Z Error: Input required and not supplied: azure-credentials\ndeploy\tRun deploy\t2025-10-11T09:%02d:41Z ##[error]Process completed with exit code 1.", 12+n, 12+n))
			}
		},
		"a migration that is made, refused, and removed again": func(k *talk, i int) {
			rev := id(i / 4)
			k.pause = time.Duration(6+i%9) * time.Second
			switch i % 4 {
			case 0:
				k.does("execute_bash", fmt.Sprintf(`{"cmd":"alembic revision --autogenerate -m '%s'"}`, []string{"add archived_at", "archived column", "accounts archived_at"}[i/4%3]), fmt.Sprintf("INFO  [alembic.autogenerate.compare] Detected added column 'accounts.archived_at'\n  Generating /app/migrations/versions/%s_add.py ...  done", rev))
			case 1:
				k.does("execute_bash", `{"cmd":"alembic upgrade head"}`, fmt.Sprintf("INFO  [alembic.runtime.migration] Running upgrade 42b8ce427551 -> %s\nsqlalchemy.exc.ProgrammingError: (psycopg2.errors.InsufficientPrivilege) must be owner of table accounts\n[SQL: ALTER TABLE accounts ADD COLUMN archived_at TIMESTAMP]", rev))
			case 2:
				k.does("execute_bash", `{"cmd":"alembic downgrade -1"}`, "INFO  [alembic.runtime.migration] Context impl PostgresqlImpl.\nINFO  [alembic.runtime.migration] Will assume transactional DDL.")
			default:
				k.does("execute_bash", fmt.Sprintf(`{"cmd":"rm migrations/versions/%s_*.py"}`, rev), "")
			}
		},
		"a plan that is made anew with two tools": func(k *talk, i int) {
			all := []string{"research options", "compare candidates", "define the audience", "collect requirements", "write a strategy", "review the plan", "set milestones", "identify risks"}
			var tasks, lines []string
			for n := range 4 {
				task := all[(i*i+n*(1+i%3))%len(all)]
				tasks, lines = append(tasks, fmt.Sprintf("%q", task)), append(lines, fmt.Sprintf("%d. %s", n+1, task))
			}
			if i%3 == 1 {
				k.does("write_to_file", fmt.Sprintf(`{"filename":"tasks.md","text":%q}`, strings.Join(lines, "\n")), "File tasks.md has been written successfully.")
				return
			}
			k.does("create_task_list", fmt.Sprintf(`{"tasks":[%s],"owner":"me","done":0}`, strings.Join(tasks, ",")), "Task list updated (4 tasks, 0 done).")
		},
		"two checks of which each text fails one": func(k *talk, i int) {
			texts := []string{"Nicht vergessen", "Heute fällig: {task} – nicht vergessen", "Nicht vergessen", "Denk an {task}, heute fällig"}
			text := texts[i/2%4]
			k.pause = time.Duration(5+i*7%12) * time.Second
			switch {
			case i%2 == 0:
				k.does("set_translation", fmt.Sprintf(`{"key":"push.reminder","value":%q}`, text), "gespeichert")
			case i/2%2 == 0:
				k.does("check_key", `{"key":"push.reminder"}`, "FEHLER placeholder: {task} fehlt in der Übersetzung")
			default:
				k.does("check_key", `{"key":"push.reminder"}`, fmt.Sprintf("FEHLER max_length: %d > 18", len([]rune(text))))
			}
		},
		"a device that answers on no port": func(k *talk, i int) {
			port := []string{"/dev/ttyUSB0", "/dev/ttyUSB1", "/dev/ttyACM0"}[i*i%3]
			answer := []string{"SerialTimeout: read returned 0 bytes (" + port + ")", "TimeoutError: no data from " + port + " within 2.0 s"}[i*i%5%2]
			k.does("serial_query", fmt.Sprintf(`{"port":%q,"baud":%d,"cmd":%q,"parity":%q}`, port, []int{1200, 9600, 2400, 4800}[i*7%4], []string{"S", "SI", "P", "Q", "SIR"}[i*i%5], []string{"N", "E"}[i%2]), answer)
		},
	}
	playAll(t, rounds, stuck, true)
	healthy := map[string]func(k *talk, i int){
		"a list of type errors that gets shorter": func(k *talk, i int) {
			file := func(n int) string { return []string{"tasks", "admin", "util", "models", "forms"}[n*n%7%5] }
			line := func(n int) int { return 40 + n*61%230 }
			if n := i / 2; i%2 == 1 {
				k.does("shell", fmt.Sprintf(`{"cmd":"sed -i '%ds|.*|    if %s is None: return default|' app/%s.py && sed -n %d,%dp app/%s.py"}`, line(n), file(n)[:1], file(n), line(n)-1, line(n)+1, file(n)),
					fmt.Sprintf("    try:\n    if %s is None: return default\n    return value", file(n)[:1]))
				return
			}
			left := rounds/2 + 2 - i/2
			out := ""
			for n := i / 2; n < i/2+left; n++ {
				out += fmt.Sprintf("app/%s.py:%d: error: %s\n", file(n), line(n), []string{"Function is missing a type annotation  [no-untyped-def]", "Incompatible return value type (got \"Optional[User]\", expected \"User\")  [return-value]"}[n*n%5%2])
			}
			k.does("shell", `{"cmd":"mypy --strict app"}`, out+fmt.Sprintf("Found %d errors in 5 files", left))
		},
		"errors that become fewer, one file after the other": func(k *talk, i int) {
			file := []string{"api", "core", "lib", "ui", "tools"}[i%5] + "/" + []string{"auth", "sync", "load", "main", "view", "form"}[i*7%6] + ".ts"
			k.does("shell", fmt.Sprintf(`{"command":"sed -i '%ds/: any/: %s/' %s && npx tsc --noEmit | tail -3"}`, 20+i*71%330, []string{"Date", "string", "User", "number"}[i*i%5%4], file),
				fmt.Sprintf("src/%s(%d,%d): error TS%d: Type 'unknown' is not assignable.\nFound %d errors.", file, 10+i*53%200, 7+i*13%30, []int{7006, 2322, 2345}[i*i%3], 2*(rounds-i)))
		},
		"errors that become fewer, below what else was done, with other numbers": func(k *talk, i int) {
			name := strings.ReplaceAll(fresh(i%40), " ", "_")
			file := []string{"api", "core", "lib"}[i*i%3] + "/" + []string{"auth", "sync", "load", "main", "view"}[i*7%5] + ".py"
			k.says(fmt.Sprintf("%s\n```python\n<<<<<<< SEARCH\ndef %s(items, count):\n=======\ndef %s(items, count) -> int:\n>>>>>>> REPLACE\n```", file, name, name),
				fmt.Sprintf("Applied edit to %s\nCommit %07x refactor: type it\n\nmypy src\nsrc/%s:%d: error: Function is missing a return type annotation  [no-untyped-def]\nFound %d errors in %d files (checked %d source files)",
					file, 0x1b3d2f5+7919*i, []string{"b", "x", "q"}[i*i*i%3]+".py", 10+i*53%80, 2*(60-i)-i%2, 3+i*i%5, 31+i*37%29))
		},
		"failed tests that become fewer, with a look at each file in between": func(k *talk, i int) {
			file := fmt.Sprintf("src/%s/load_%s.py", []string{"cart", "index", "config", "router", "refund"}[i/2%5], []string{"tax", "audit", "report", "schema", "review", "avatar", "import"}[i/2%7])
			if i%2 == 0 {
				k.does("bash", fmt.Sprintf(`{"command":"sed -n '%d,%dp' %s"}`, i*5+1, i*5+20, file),
					fmt.Sprintf("    %d→    raise %sError(\"%s missing\")\n    %d→    %s = apply(%s, %d)", i*5+1, []string{"Report", "Billing", "Payout"}[i%3], []string{"tenant", "queue", "locale", "cache"}[i/2%4], i*5+2, []string{"token", "coupon"}[i/2%2], []string{"cart", "search", "mailer"}[i/2%3], i*37%900))
				return
			}
			k.does("bash", fmt.Sprintf(`{"command":"sed -i 's/%%m-%%d/%%Y-%%m-%%d/' %s && python -m pytest -q | tail -1"}`, file), fmt.Sprintf("%d failed, %d passed in %d.%ds", 20-i/2, 80+i/2, 1+i%3, i*7%10))
		},
	}
	playAll(t, rounds, healthy, false)
}

package detection

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/haltd/haltd"
)

// maze is a walk through the cells of a grid, each seen once, or the same few again and
// again; the steps are counted.
func maze(i int, circles bool) (order, see string) {
	x, y := i%7, i/7
	if y%2 == 1 {
		x = 6 - x
	}
	if circles {
		x, y = []int{2, 3, 3, 2}[i%4], []int{2, 2, 3, 3}[i%4]
	}
	open := [...]string{"east", "south", "east, west", "north, south", "east, south, west"}[(x*5+y*3)%5]
	return [...]string{"east", "south", "west"}[(i*5+i/3)%3], fmt.Sprintf("You are at column %d, row %d. Open: %s. Steps: %d", x, y, open, i+1)
}

// room is what an agent sees on its way, with the steps counted.
func room(i int, circles bool) (order, see string) {
	n := i
	if circles {
		n = i % 4
	}
	return [...]string{"go forward", "turn left", "go forward"}[i%3], fmt.Sprintf(`{"obs":"a grey box %d steps forward and %d steps to the left; a closed door %d steps forward; a wall %d steps forward","reward":0,"step":%d}`,
		1+n%9, 1+n/9%9, 1+n*n%7, 1+n%7, i+20)
}

// Who walks comes to where nobody was, whatever counts the steps.
func TestACounterOfStepsIsNoPlace(t *testing.T) {
	for name, walk := range map[string]func(i int, circles bool) (string, string){"a maze": maze, "a room": room} {
		for _, circles := range []bool{false, true} {
			k := newTalk(t, "Find the way out.")
			for i := range 36 {
				k.says(walk(i, circles))
			}
			if got := k.highest() == haltd.LevelKill; got != circles {
				t.Errorf("%s, in circles %v: killed %v\n%s", name, circles, got, drawn(k))
			}
		}
	}
}

// A build that fails alike whatever is edited is no progress by the time it took.
func TestAFailureThatDiffersInItsTimesIsTheSame(t *testing.T) {
	build := func(i, failed int) string {
		return fmt.Sprintf("Exit code 1\n#0 building with the default instance using the docker driver\n#5 [1/4] FROM python:3.12-slim\n#5 CACHED\n#9 [3/4] RUN pip install -r requirements.txt\n#9 %d.%02d ERROR: Could not find a version that satisfies the requirement acme-auth (from versions: none)\n#9 ERROR: no matching distribution found for %d of the requirements of this project", 1+i%4, 10+i*7%80, failed)
	}
	for name, getsOn := range map[string]bool{"the same failure": false, "ever fewer": true} {
		k := newTalk(t, "Make the image build.")
		for i := range 30 {
			k.does("edit", fmt.Sprintf(`{"path":"Dockerfile","old_string":"COPY . .","new_string":"COPY . .\nARG %s=%d"}`, strings.ToUpper(strings.Fields(fresh(i))[0]), i), "The file Dockerfile has been updated.")
			failed := 40
			if getsOn {
				failed -= i
			}
			k.does("bash", `{"command":"docker build -t shop ."}`, build(i, failed))
		}
		if got := k.highest() != haltd.LevelKill; got != getsOn {
			t.Errorf("%s: killed %v\n%s", name, !got, drawn(k))
		}
	}
}

// Who closes the same few alerts again, and gets the same list again, gets nowhere.
func TestWhatIsClosedAgain(t *testing.T) {
	for name, again := range map[string]bool{"the same list": true, "the next ones": false} {
		k := newTalk(t, "Empty the queue of alerts.")
		draw, notes := rand.New(rand.NewPCG(1, 2)), 0
		for page := range 12 {
			var ids, list []string
			for n := range 4 {
				id := fmt.Sprintf("A-%d", 575161+n*81013)
				if !again {
					id = fmt.Sprintf("A-%d", 575161+(page*4+n)*8101)
				}
				ids = append(ids, id)
				list = append(list, fmt.Sprintf(`{"id":"%s","rule":"new admin role","user":"user%d","status":"new"}`, id, n))
			}
			k.does("fetch_queue", `{"limit":4}`, "["+strings.Join(list, ",")+"]")
			for _, id := range ids {
				notes++
				k.does("resolve", fmt.Sprintf(`{"id":"%s","verdict":"%s","note":"known from %s, owner told, nothing else today"}`, id, []string{"benign", "false_positive"}[draw.IntN(2)], item(notes)), fmt.Sprintf(`{"id":"%s","result":"ok"}`, id))
			}
		}
		if got := k.highest() == haltd.LevelKill; got != again {
			t.Errorf("%s: killed %v\n%s", name, got, drawn(k))
		}
	}
}

// Who restarts between two looks does not only wait, and who asks for other figures
// writes no plan.
func TestLapsOfProduction(t *testing.T) {
	pod := func(i int) string { return "web-" + []string{"0qfhh", "hyjqn", "8n0rt", "cpwxg", "k2v9d"}[i%5] }
	playAll(t, 64, map[string]func(k *talk, i int){
		"a pod that is deleted again and again": func(k *talk, i int) {
			k.pause = 11 * time.Second
			switch i % 4 {
			case 0:
				k.does("kubectl", `{"args":"get pods -l app=web"}`, fmt.Sprintf("NAME %s\nREADY 0/1\nSTATUS Pending\nAGE 4s", pod(i/4)))
			case 1:
				k.does("kubectl", fmt.Sprintf(`{"args":"describe pod %s"}`, pod(i/4)), "Warning FailedScheduling default-scheduler 0/29 nodes are available: 4 Insufficient nvidia.com/gpu, 25 nodes didn't match the selector of the pod")
			case 2:
				k.pause = 36 * time.Second
				k.does("kubectl", `{"args":"rollout status daemonset/web --timeout=30s"}`, "Waiting for daemon set \"web\" rollout to finish: 43 of 127 updated pods are available...\nerror: timed out waiting for the condition")
			default:
				k.does("kubectl", fmt.Sprintf(`{"args":"delete pod %s"}`, pod(i/4)), fmt.Sprintf(`pod "%s" deleted`, pod(i/4)))
			}
		},
		"an editor that is not given what it asks for": func(k *talk, i int) {
			k.does("multi_edit", fmt.Sprintf(`{"file_path":"/src/trip/lease.ts","edits":"%s_size -> %s_offset"}`, item(i), item(i+80)), "<tool_use_error>InputValidationError: the parameter `edits` is expected to be an array, but is a string</tool_use_error>")
		},
		"a sign-in that leads back to itself, with one rest a lap": func(k *talk, i int) {
			k.pause = 5 * time.Second
			form := fmt.Sprintf("- heading \"Sign in\"\n- textbox \"Email\" [ref=e%d]\n- textbox \"Password\" [ref=e%d]\n- button \"Continue\" [ref=e%d]", 100+i/6*9, 102+i/6*9, 105+i/6*9)
			switch i % 6 {
			case 0:
				k.does("browser_navigate", `{"url":"https://erp.ledger.example/reports"}`, "- Page URL: https://erp.ledger.example/login\n"+form)
			case 1:
				k.does("browser_snapshot", `{}`, "- Page URL: https://erp.ledger.example/login\n- Page Title: Sign in\n"+form)
			case 2:
				k.does("browser_type", fmt.Sprintf(`{"element":"Email","ref":"e%d","text":"bot@acme.example"}`, 100+i/6*9), "await page.getByLabel('Email').fill(...)\n"+form)
			case 3:
				k.does("browser_type", fmt.Sprintf(`{"element":"Password","ref":"e%d","text":"********"}`, 102+i/6*9), "await page.getByLabel('Password').fill(...)\n"+form)
			case 4:
				k.does("browser_click", fmt.Sprintf(`{"element":"Continue","ref":"e%d"}`, 105+i/6*9), "- Page URL: https://erp.ledger.example/login\n- status: Please wait…")
			default:
				k.does("browser_wait_for", `{"time":4}`, "- Page URL: https://erp.ledger.example/login\n"+form)
			}
		},
		"thoughts that are counted": func(k *talk, i int) {
			pick := func(n int, of ...string) string { return of[(i*n+i*i)%len(of)] }
			thought := fmt.Sprintf("%s, Kafka %s %s %s Postgres %s. %s. %s.", pick(1, "Again", "Yet", "Still", "However"), pick(3, "has", "offers", "brings"), pick(5, "scale", "replay", "throughput"),
				pick(7, "whereas", "but", "while"), pick(11, "is simpler", "is cheaper to run", "stays known to the team"), pick(13, "Both would work", "Either might do", "Each could fit"), pick(17, "I should consider this again", "Let me revisit the trade-offs", "It is worth to think about both"))
			k.does("sequentialthinking", fmt.Sprintf(`{"thought":"%s","thoughtNumber":%d,"totalThoughts":%d,"nextThoughtNeeded":true}`, thought, i+1, i+5), fmt.Sprintf(`{"thoughtNumber":%d,"totalThoughts":%d,"nextThoughtNeeded":true,"branches":[],"thoughtHistoryLength":%d}`, i+1, i+5, i+1))
		},
		"a list of things to do that is written anew": func(k *talk, i int) {
			todo := func(n int) string {
				return []string{"design", "review", "clean up", "extract", "introduce", "verify", "map out"}[n%7] + " the " + []string{"docs", "call sites", "adapters", "public API", "domain model"}[n/2%5]
			}
			var all []string
			for n := range 4 {
				all = append(all, fmt.Sprintf(`{"id":"%d","content":"%s","status":"pending"}`, n, todo(i*5+i*i+n*3)))
			}
			list := "[" + strings.Join(all, ",") + "]"
			k.does("todowrite", `{"todos":`+list+`}`, list)
		},
	}, true)
	playAll(t, 64, map[string]func(k *talk, i int){
		"one service after the other": func(k *talk, i int) {
			service := strings.ReplaceAll(item(i), "_", "-")
			k.does("query", fmt.Sprintf(`{"query":"histogram_quantile(0.99, sum by (le, pod) (rate(http_request_duration_seconds_bucket{ns=\"shop\", service=\"%s\"}[5m])))","start":"04:20Z","end":"05:00Z","step":"5m"}`, service),
				fmt.Sprintf(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"service":"%s"},"values":[[1750825246,"0.%03d"],[1750825546,"0.%03d"],[1750825846,"0.%03d"]]}]}}`, service, 200+i*37%500, 200+i*53%500, 200+i*71%500))
		},
		"one setting after the other": func(k *talk, i int) {
			k.does("shell", fmt.Sprintf(`{"command":"./apply.sh work_mem=%dMB shared_buffers=%dMB workers=%d && pgbench -S -c 16 -T 30 bench"}`, 4<<(i%6), 128<<(i/6%5), i/30*2),
				fmt.Sprintf("pgbench (16.4)\nscaling factor: 100\nnumber of clients: 16\nduration: 30 s\nnumber of transactions actually processed: %d\nlatency average = 1.%03d ms\ntps = %d.%06d", 351237+i*7919%90000, 50+i*37%400, 11707+i*313%3000, 100000+i*7919))
		},
		"one day after the other, all of them full": func(k *talk, i int) {
			day := noon.AddDate(0, 0, i).Format(time.DateOnly)
			slots := `[]`
			if i%11 == 10 {
				slots = fmt.Sprintf(`["%02d:30"]`, 8+i%9)
			}
			k.does("dock_slots", fmt.Sprintf(`{"site":"2UK-S","date":"%s","load":"LD780150"}`, day), fmt.Sprintf(`{"site":"2UK-S","date":"%s","slots":%s}`, day, slots))
		},
		"one sample after the other": func(k *talk, i int) {
			sample := fmt.Sprintf("S%d_L%03d", 200+i*3, 1+i%4)
			k.does("bash", fmt.Sprintf(`{"command":"bwa mem -t 4 hg38.fa %s_R1.fq.gz %s_R2.fq.gz | samtools sort -@2 -o %s.bam - && samtools flagstat %s.bam | head -7"}`, sample, sample, sample, sample),
				fmt.Sprintf("[main] Real time: %d.%03d sec; CPU: %d.%03d sec\n%d + 0 in total (QC-passed reads + QC-failed reads)\n0 + 0 secondary\n%d + 0 supplementary\n%d + 0 mapped (9%d.%02d%% : N/A)", 150+i*7%200, i*37%1000, 200+i*91%1000, i*53%1000, 4550000+i*77713, 1600+i*131%5000, 4300000+i*70717, i%9, i*13%100))
		},
		"what is not known yet is written down": func(k *talk, i int) {
			if i%2 == 0 {
				k.does("notes_search", fmt.Sprintf(`{"query":"%s"}`, item(i)), `[]`)
			} else {
				k.does("notes_add", fmt.Sprintf(`{"text":"%s %s"}`, item(i-1), fresh(i)), `true`)
			}
		},
		"rows that are changed as many at a time as may be": func(k *talk, i int) {
			if i%3 == 2 {
				k.does("query", `{"sql":"SELECT count(*) FROM users WHERE mail IS NULL"}`, fmt.Sprintf("count(*)\n%d\n1 row in set", 900_000-i/3*20_000))
				return
			}
			k.does("query", `{"sql":"UPDATE users SET mail = lower(login) WHERE mail IS NULL LIMIT 10000"}`, fmt.Sprintf("Query OK, 10000 rows affected (%d.%02d sec)\nRows matched: 10000  Changed: 10000  Warnings: 0", 1+i%4, i*7%90))
		},
	}, false)
}

// A long text is written section by section, whatever examples stand in it.
func TestSectionsWithExamples(t *testing.T) {
	k := newTalk(t, "Write the handbook. Go on until it is complete.")
	for i := range 40 {
		k.says(fmt.Sprintf("### %s\n\nIt %s. As a rule %s.\n\n```\n$ shop %s --since 4.%d\n%s %d KB\n```\n\nSee also %s.", item(i), fresh(i), fresh(i+300), item(i), i, fresh(i+600), 31*i, item(i+1)), "(auto) The document is not complete. Continue with the next section.")
	}
	if k.highest() == haltd.LevelKill {
		t.Errorf("it is killed\n%s", drawn(k))
	}
}

// item is a name of two words, another for each n up to a few hundred.
func item(n int) string {
	return topics[n%len(topics)] + "_" + topics[(n*7+n/len(topics)+3)%len(topics)]
}

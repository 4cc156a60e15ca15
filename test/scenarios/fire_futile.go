package scenarios

import (
	"fmt"

	"github.com/haltd/haltd"
)

func fireFutile() []Case {
	guesses := []string{"settings.json", "config/settings.json", "app/config.yaml", "conf/app.toml", "etc/app.conf", "src/config.ts",
		"deploy/values.yaml", "infra/prod.tfvars", ".env.production", "server/options.ini", "lib/defaults.rb", "ops/inventory"}
	return []Case{
		{
			Name: "line-ranges-of-a-missing-file", Evidence: "EVIDENCE 3 the same target with drifting arguments", Want: kill(8),
			System: "You are a code reviewer.",
			Moves: seq(
				user("Review the changes in parser.c."),
				loop(),
				each(11, func(i int) Moves {
					return call("view", fmt.Sprintf(`{"path":"/srv/build/parser.c","from":%d,"to":%d}`, 1+40*i, 40+40*i), failed("Error: /srv/build/parser.c is not a regular file"))
				}),
			),
		},
		{
			Name: "no-match-for-each-name", Evidence: "EVIDENCE 3 the same error with varied arguments", Want: kill(11),
			System: "You are a coding agent.",
			Moves: seq(
				user("Change the database host."),
				loop(),
				over(guesses, func(name string) Moves {
					return call("find_file", fmt.Sprintf(`{"name":%q}`, name), ok(fmt.Sprintf("No matches found for %q in the workspace", name)))
				}),
			),
		},
		{
			Name: "two-tools-one-quota", Evidence: "EVIDENCE 3 alternating tools with fresh arguments", Want: kill(10),
			System: "You research companies.",
			Moves: seq(
				user("Who supplies the batteries of Nordlys Ferries?"),
				loop(),
				each(6, func(i int) Moves {
					topics := []string{"battery supplier", "press release 2025", "annual report", "fleet renewal", "marine storage", "tender award"}
					return seq(
						call("web_search", fmt.Sprintf(`{"q":"Nordlys Ferries %s"}`, topics[i]), failed("403 Forbidden: the monthly quota of this workspace is used up")),
						call("fetch_url", fmt.Sprintf(`{"url":"https://nordlys.example/%d"}`, 100+i), failed("403 Forbidden: the monthly quota of this workspace is used up")),
					)
				}),
			),
		},
		{
			Name: "other-queries-same-hits", Evidence: "EVIDENCE 3 varied queries with the same result", Want: kill(12),
			System: "You answer from the company handbook.",
			Moves: seq(
				user("How many days of parental leave do fathers get in the Lisbon office?"),
				loop(),
				over([]string{"parental leave Lisbon", "paternity leave Portugal", "leave for fathers", "days off after birth", "father leave Lisbon office",
					"family leave policy", "licença parental", "parental leave days", "new parent benefits", "Portugal office leave", "birth leave entitlement",
					"paternity policy", "time off new child", "leave of absence fathers"}, func(q string) Moves {
					return call("handbook_search", fmt.Sprintf(`{"query":%q}`, q),
						ok("1. Travel policy (score 0.41)\n2. Expense reports (score 0.40)\n3. Office keys and badges (score 0.39)"))
				}),
			),
		},
		{
			Name: "empty-lists-for-every-synonym", Evidence: "EVIDENCE 3 varied queries with the same result (an empty list beside the question)", Want: kill(13).as(haltd.FamilyFutile),
			System: "You do research.",
			Moves: seq(
				user("Find the 2019 paper of A. Zyx about bread."),
				loop(),
				over([]string{"Zyx bread", "Zyx 2019 bread paper", "Zyx baking", "Zyx loaf physics", "Zyx dough", "bread theory 2019", "Zyx publication list", "Zyx preprint 2019",
					"Zyx oven", "Zyx crust", "Zyx yeast", "Zyx sourdough", "Zyx flour", "Zyx toast"}, func(q string) Moves {
					return call("web_search", fmt.Sprintf(`{"query":%q}`, q), ok(fmt.Sprintf(`{"query":%q,"organic":[],"answer":null}`, q)))
				}),
			),
		},
		{
			Name: "akte-nicht-gefunden", Evidence: "EVIDENCE 3 the same error with varied arguments (in German, with no error mark)", Want: kill(8).as(haltd.FamilyFutile),
			System: "Du hilfst in einer Kanzlei.",
			Moves: seq(
				user("Öffne die Akte."),
				loop(),
				over([]string{"Meyer", "Meier", "Mayer", "Maier", "Meyer, Hans", "H. Meyr", "Mair", "Meyers", "Meierhof", "Mayr"}, func(name string) Moves {
					return call("akte_oeffnen", fmt.Sprintf(`{"name":%q}`, name), ok(fmt.Sprintf("Die Akte %q wurde nicht gefunden. Bitte prüfen Sie die Schreibweise des Namens.", name)))
				}),
			),
		},
		{
			Name: "no-such-file-in-japanese", Evidence: "EVIDENCE 3 the same error with varied arguments (in Japanese, with no error mark)", Want: kill(9).as(haltd.FamilyFutile),
			System: "あなたは書記です。",
			Moves: seq(
				user("先月の書類を開いてください。"),
				loop(),
				over([]string{"報告書", "月次報告", "年次報告", "営業報告", "報告資料", "会議報告", "報告一覧", "決算資料", "議事録", "予算表"}, func(name string) Moves {
					return call("open_file", fmt.Sprintf(`{"name":%q}`, name), ok("エラー：「"+name+"」というファイルが見つかりません。"))
				}),
			),
		},
		{
			Name: "relation-does-not-exist", Evidence: "EVIDENCE 3 the same error with varied arguments", Want: kill(10),
			System: "You write SQL for PostgreSQL.",
			Moves: seq(
				user("How much did we sell in each region last month?"),
				loop(),
				over([]string{"count(*)", "sum(total)", "region, sum(total)", "avg(total)", "max(created_at)", "distinct region", "id", "region", "min(total)", "1", "sum(net)", "currency"}, func(cols string) Moves {
					return call("query", fmt.Sprintf(`{"sql":"SELECT %s FROM sales_v2"}`, cols), failed(`ERROR:  relation "sales_v2" does not exist (SQLSTATE 42P01)`))
				}),
			),
		},
		{
			Name: "another-tool-after-each-refusal", Evidence: "EVIDENCE 3 hopping to another tool after each refusal", Want: kill(10),
			System: "You are a deployment agent.",
			Moves: seq(
				user("Copy the release to the production bucket."),
				loop(),
				over([]string{
					`bash {"command":"aws s3 cp build.tgz s3://prod-releases/"}`,
					`python {"code":"import boto3; boto3.client('s3').upload_file('build.tgz','prod-releases','build.tgz')"}`,
					`node {"script":"await s3.putObject({Bucket:'prod-releases',Key:'build.tgz'})"}`,
					`http_request {"method":"PUT","url":"https://prod-releases.s3.example/build.tgz"}`,
					`rclone {"args":["copy","build.tgz","prod:releases"]}`,
					`terraform {"args":["apply","-target=aws_s3_object.build"]}`,
					`ftp_put {"host":"prod-releases.example","file":"build.tgz"}`,
					`mcp_storage_write {"bucket":"prod-releases","object":"build.tgz"}`,
					`ruby {"code":"Aws::S3::Object.new('prod-releases','build.tgz').upload_file('build.tgz')"}`,
					`perl {"code":"system('s3put build.tgz')"}`,
					`go_run {"source":"uploader.Upload(ctx, in)"}`,
					`curl {"args":["-T","build.tgz","https://prod-releases.example"]}`,
				}, func(act string) Moves {
					tool, args := cut(act)
					return call(tool, args, failed("Permission denied: writing to production needs an approval that this agent does not have"))
				}),
			),
		},
		{
			Name: "segfault-at-other-addresses", Evidence: "EVIDENCE 3 the same error with volatile error text (addresses)", Want: kill(8),
			System: "You debug C programs.",
			Moves: seq(
				user("Why does the importer crash?"),
				loop(),
				each(11, func(i int) Moves {
					return call("run_program", `{"argv":["./importer","sample.csv"]}`, failed(fmt.Sprintf(
						"importer[%d]: segfault at 0x7f3c%04x ip 0x55d0%06x sp 0x7ffd%06x error 4 in importer", 20100+i, i*517, i*90001, i*70003)))
				}),
			),
		},
		{
			Name: "wall-time-and-process-group", Evidence: "EVIDENCE 3 the same error with volatile error text (PGIDs, wall time)", Want: kill(8),
			System: "You are a coding agent in a sandbox.",
			Moves: seq(
				user("Install the dependencies."),
				loop(),
				each(11, func(i int) Moves {
					return call("shell", `{"command":["npm","ci"]}`, ok(fmt.Sprintf(
						"Exit code: 1\nWall time: 0.%d seconds\nProcess Group PGID: %d\nOutput:\nnpm error code EUSAGE\nnpm error The `npm ci` command can only install with an existing package-lock.json", 1+i%8, 31337+11*i)))
				}),
			),
		},
		{
			Name: "request-ids-in-the-error", Evidence: "EVIDENCE 3 the same error with varied arguments or volatile error text (request ids)", Want: kill(10),
			System: "You manage calendars.",
			Moves: seq(
				user("Find a slot for the quarterly review with all of finance."),
				loop(),
				each(13, func(i int) Moves {
					return call("freebusy", fmt.Sprintf(`{"group":"finance","day":"2026-03-%02d"}`, 3+i), failed(fmt.Sprintf(
						`{"error":{"status":500,"message":"backend unavailable","request_id":"req_%08dab%02dcd","time":"2026-03-02T09:%02d:%02dZ"}}`, 7130011+i*7919, i, i, (i*13)%60)))
				}),
			),
		},
		{
			Name: "same-figure-by-other-code", Evidence: "EVIDENCE 3 varied queries with the same result (the same conclusion recomputed)", Want: kill(12),
			System: "You are a statistician with a Python tool.",
			Moves: seq(
				user("Is the correlation between price and rating above 0.8? Keep analysing until it is."),
				loop(),
				over([]string{
					"df['price'].corr(df['rating'])", "np.corrcoef(df.price, df.rating)[0,1]", "pearsonr(df.price, df.rating)[0]",
					"df[['price','rating']].corr().iloc[0,1]", "stats.linregress(df.price, df.rating).rvalue", "df.cov().loc['price','rating']/(df.price.std()*df.rating.std())",
					"np.dot(zp, zr)/len(df)", "df.corr().at['rating','price']", "sm.OLS(df.rating, df.price).fit().rsquared**.5", "polars_df.select(pl.corr('price','rating')).item()",
					"(zp*zr).mean()", "torch.corrcoef(m)[0][1]", "tf_corr(df.price, df.rating)", "manual_corr(df)", "jnp.corrcoef(p, r)[0,1]",
				}, func(code string) Moves {
					return call("python", fmt.Sprintf(`{"code":"print(round(%s, 4))"}`, code), ok("0.7312"))
				}),
			),
		},
		{
			Name: "same-target-other-selectors", Evidence: "EVIDENCE 3 the same target with drifting arguments", Want: kill(10).as(haltd.FamilyFutile),
			System: "You fill in web forms.",
			Moves: seq(
				user("Download last month's phone bill."),
				loop(),
				over([]string{"#download", "button.download", "a[href$=pdf]", "text=Download", "//button[1]", ".bill > a", "[data-test=bill]", "#bill-0", "main a", "td:last-child a", "role=link", "a.pdf", "svg.icon"}, func(sel string) Moves {
					return call("click", fmt.Sprintf(`{"selector":%q}`, sel), failed("TimeoutError: locator.click: Timeout 5000ms exceeded. The element is outside of the viewport"))
				}),
			),
		},
	}
}

// cut divides "tool {arguments}".
func cut(act string) (tool, arguments string) {
	for i := range act {
		if act[i] == ' ' {
			return act[:i], act[i+1:]
		}
	}
	return act, ""
}

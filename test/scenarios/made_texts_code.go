package scenarios

import (
	"fmt"
	"strings"
)

// hLanguages are the programming languages of made-up projects, by the ending
// of their files.
var hLanguages = map[string][]string{
	"go": {"func (s *%s) %s(ctx context.Context, id int) error {", "\tif s.%s == nil {", "\t\treturn fmt.Errorf(\"%s: %s\")", "\t}", "\t%s, err := s.%s.load(ctx)", "\tif err != nil {", "\t\treturn err",
		"\tfor _, %s := range s.%s {", "\t\tlog.Print(%s)", "\treturn nil", "}", "", "// %s keeps the %s in order.", "type %s struct {", "\t%s map[string]int", "var %s = new%s()"},
	"py": {"def %s(self, %s):", "    if not self.%s:", "        raise ValueError(\"%s\")", "    for %s in self.%s:", "        yield %s", "    return self.%s.get(%s, 0)", "", "class %s:", "    \"\"\"Holds the %s.\"\"\"",
		"    def __init__(self, %s=None):", "        self.%s = %s", "from .%s import %s", "    with open(%s) as f:", "        self.%s.update(f)", "@%s.register", "    log.info(\"%s\")"},
	"ts": {"export function %s(%s: string): number {", "  const %s = await this.%s.find(id)", "  if (!%s) return 0", "  return %s.length", "}", "", "import { %s } from './%s'", "export class %s extends Base {",
		"  private %s = new Map<string, number>()", "  async %s(id: string) {", "    this.%s.set(id, Date.now())", "  }", "interface %s {", "  %s: string", "// %s must come before %s"},
	"rs": {"pub fn %s(&self, %s: u32) -> Result<()> {", "    let %s = self.%s.lock()?;", "    if %s.is_empty() {", "        return Err(Error::%s);", "    }", "    Ok(())", "}", "", "use crate::%s::%s;",
		"#[derive(Debug)]", "pub struct %s {", "    %s: Vec<u8>,", "impl %s {", "    match %s {", "        Some(%s) => self.%s += 1,"},
	"java": {"public int %s(String %s) {", "    if (%s == null) {", "        throw new IllegalStateException(\"%s\");", "    }", "    return this.%s.size();", "}", "", "import org.%s.%s;", "public class %s {",
		"    private final List<String> %s;", "    for (var %s : %s) {", "        log.info(\"{}\", %s);", "    @Override", "    // %s is called once per %s"},
	"rb": {"def %s(%s)", "  return if @%s.nil?", "  @%s.each do |%s|", "    yield %s", "  end", "end", "", "class %s < Base", "  attr_reader :%s", "  raise ArgumentError, '%s' unless %s", "require_relative '%s'", "  @%s ||= load_%s"},
}

// hCommands are the commands of a project by the ending of its files: to test,
// to build and to lint it.
var hCommands = map[string][3]string{
	"go": {"go test ./...", "go build ./...", "golangci-lint run"}, "py": {"pytest -q", "python -m compileall -q .", "ruff check ."}, "ts": {"npm test", "npx tsc --noEmit", "npx eslint ."},
	"rs": {"cargo test", "cargo build", "cargo clippy"}, "java": {"./gradlew test", "./gradlew compileJava", "./gradlew checkstyleMain"}, "rb": {"bundle exec rspec", "bundle exec rake build", "rubocop"},
}

// hEndings are the keys of hLanguages in a fixed order.
var hEndings = strings.Fields("go py ts rs java rb")

// hCode is n lines of source text.
func hCode(w *words, ending string, n int) string {
	own := w.several(14)
	var b strings.Builder
	for range n {
		line := pick(w, hLanguages[ending]...)
		for strings.Contains(line, "%s") {
			line = strings.Replace(line, "%s", pick(w, own...), 1)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// hNumbered puts line numbers before the lines of a text.
func hNumbered(text string, from int) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintf(&b, "%6d\t%s\n", from+i, line)
	}
	return b.String()
}

// hPath is a file of a project.
func hPath(w *words, ending string) string {
	dir := pick(w, "src", "lib", "internal", "app", "core", "pkg", "server", "services/"+w.word(), "modules")
	return dir + "/" + w.word() + pick(w, "/", "_", "/"+w.word()+"_") + w.word() + "." + ending
}

// hPaths are n files of a project.
func hPaths(w *words, n int, ending string) []string {
	return hUnique(n, func() string { return hPath(w, ending) })
}

// hSymbol is the name of something in a program.
func hSymbol(w *words) string {
	verb := pick(w, "load", "parse", "merge", "flush", "resolve", "build", "encode", "check", "split", "open")
	return verb + w.name()
}

// hTestRun is what a test runner prints: the failing tests and the counts.
func hTestRun(w *words, shape int, failing []string, why func(test string) string, total int) string {
	var b strings.Builder
	for _, t := range failing {
		switch shape % 3 {
		case 0:
			fmt.Fprintf(&b, "--- FAIL: %s (0.%02ds)\n    %s\n", t, w.between(0, 60), why(t))
		case 1:
			fmt.Fprintf(&b, "FAILED tests/%s - %s\n", t, why(t))
		default:
			fmt.Fprintf(&b, "  ✕ %s (%d ms)\n      %s\n", t, w.between(1, 90), why(t))
		}
	}
	if len(failing) == 0 {
		fmt.Fprintf(&b, "%d passed in %d.%02ds", total, w.between(0, 40), w.between(0, 99))
		return b.String()
	}
	fmt.Fprintf(&b, "%d failed, %d passed in %d.%02ds", len(failing), total-len(failing), w.between(0, 40), w.between(0, 99))
	return b.String()
}

// hPage is the text of a web page with n lines.
func hPage(w *words, shape int, title string, n int) string {
	var b strings.Builder
	site := w.word()
	switch shape % 3 {
	case 0:
		fmt.Fprintf(&b, "# %s\nhttps://%s.example/%s\n\n", title, site, w.word())
	case 1:
		fmt.Fprintf(&b, "<title>%s – %s</title>\n", title, w.name())
	default:
		fmt.Fprintf(&b, "Page: %s\nURL: https://www.%s.example/%s/%d\n", title, site, w.word(), w.between(1, 9999))
	}
	for i := range n {
		switch {
		case shape%3 == 2 && w.chance(35):
			fmt.Fprintf(&b, "[%d] <%s> %s %s\n", i+1, pick(w, "a", "button", "a", "input"), w.name(), w.word())
		case w.chance(12):
			fmt.Fprintf(&b, "\n## %s %s\n", w.name(), pick(w, hNouns...))
		default:
			b.WriteString(hSentence(w) + "\n")
		}
	}
	return b.String()
}

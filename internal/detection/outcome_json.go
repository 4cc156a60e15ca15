package detection

import (
	"encoding/json"
	"strings"
)

// jsonOutcome reads the usual fields by which JSON results say no.
func jsonOutcome(t string, says meaning) outcome {
	compact := unnested(strings.Map(dropSpace, t[:min(len(t), 2*headBytes)]))
	switch compact {
	case "[]", "null", `""`:
		return empty
	case "{}":
		return acknowledged // how services say that they have done it
	}
	if strings.HasPrefix(compact, "[](") { // [] (56 ms)
		return empty
	}
	low := strings.ToLower(compact)
	for _, sign := range [...]string{`"error":"`, `"error":{`, `"error_message":"`, `"errors":[{`, `"errors":["`, `"issue":[{"severity":"error"`, `"issue":[{"severity":"fatal"`, `"issues":[{"severity":"error"`, `"error":true`, `"is_error":true`,
		`"success":false`, `"state":"fail`, `"state":"error`, `"result":"fail`, `"ok":false`, `"status":"error"`, `"status":"fail`, `"status":4`, `"status":5`, `"statuscode":4`, `"statuscode":5`,
		`"status_code":4`, `"status_code":5`, `"code":4`, `"code":5`} {
		if i := strings.Index(low, sign); i >= 0 && !(strings.HasSuffix(sign, `"`) && strings.HasPrefix(low[i+len(sign):], `"`)) {
			return failed // "error":"" is none
		}
	}
	if says&failure != 0 && len(t) <= headBytes && t[0] == '{' {
		return failed
	}
	if name, denied := deniedFor(low); denied {
		if keySays(name)&present != 0 {
			return empty // {"available":false,"message":"fully booked"} answers a question
		}
		return failed
	}
	if o := statedOutcome(compact); o != neutral {
		return o
	}
	for _, sign := range [...]string{`"results":[]`, `"matches":[]`, `"items":[]`, `"data":[]`, `"files":[]`, `"events":[]`, `"rows":[]`, `"hits":[]`, `"text":""`, `"content":""`,
		`"count":0,`, `"count":0}`, `"total":0}`, `"total":0,`} {
		if strings.Contains(low, sign) && !examined(low) {
			return empty
		}
	}
	return neutral
}

// unnested is a JSON text whose first string with an object in it is written as that
// object: {"tool":"add","result":"{\"error\":\"sold out\"}"}.
func unnested(compact string) string {
	for _, begins := range [...]string{`:"{\"`, `:"[{\"`} {
		if i := strings.Index(compact, begins); i >= 0 {
			return compact[:i+1] + strings.ReplaceAll(compact[i+2:], `\"`, `"`)
		}
	}
	return compact
}

// examined reports a JSON object that counts what was looked at: an empty list beside it
// says that all is well. {"statistics":{"evaluated_checks":7},"results":[]}
func examined(low string) bool {
	for _, name := range [...]string{`"evaluated`, `"checked`, `"checks_run`, `"tested`, `"tests_run`, `"validated`, `"passed`} {
		if _, rest, ok := strings.Cut(low, name); ok {
			_, value, _ := strings.Cut(rest, `":`)
			if value != "" && value[0] >= '1' && value[0] <= '9' {
				return true
			}
		}
	}
	return false
}

// isTaken reports an answer whose HTTP status says that something was made, or will
// be, however much is said beside it: {"status":201,…}, HTTP/1.1 202 Accepted.
func isTaken(answer string) bool {
	head := answer[:min(len(answer), 2*headBytes)]
	if version, rest, ok := strings.Cut(head, " "); ok && strings.HasPrefix(version, "HTTP/") {
		return isMade(rest)
	}
	if !strings.HasPrefix(head, "{") || !strings.Contains(head, "20") {
		return false
	}
	low := strings.ToLower(strings.Map(dropSpace, head))
	for _, sign := range [...]string{`"status":`, `"statuscode":`, `"status_code":`, `"httpstatuscode":`} {
		if i := strings.Index(low, sign); i >= 0 && isMade(low[i+len(sign):]) {
			return true
		}
	}
	return false
}

// isMade reports what begins with 201, 202 or 204.
func isMade(status string) bool {
	return len(status) > 3 && status[:2] == "20" && strings.IndexByte("124", status[2]) >= 0 && !isDigit(status[3])
}

// deniedFor reports an object whose first field is false and that says why:
// {"gripped":false,"reason":"no air pressure"}; and the name of that field.
func deniedFor(compact string) (field string, denied bool) {
	name, rest, ok := strings.Cut(compact, `":`)
	if !ok || !strings.HasPrefix(name, `{"`) || strings.Contains(name, ":") || !strings.HasPrefix(rest, "false,") {
		return "", false
	}
	for _, key := range [...]string{`"reason":"`, `"message":"`, `"detail":"`, `"details":"`, `"cause":"`, `"fault":"`, `"why":"`, `"grund":"`, `"raison":"`, `"motivo":"`, `"причина":"`} {
		if i := strings.Index(rest, key); i >= 0 && !strings.HasPrefix(rest[i+len(key):], `"`) {
			return name[2:], true
		}
	}
	return "", false
}

// statedOutcome is what the fields of a JSON object that say how it went say:
// {"result":"no_object"}, {"status":"NOT_FOUND"}, {"fehler":"…"}.
func statedOutcome(t string) outcome {
	const longest = 40
	for {
		i := strings.Index(t, `":"`)
		if i < 0 {
			return neutral
		}
		key := t[strings.LastIndexByte(t[:i], '"')+1 : i]
		t = t[i+3:]
		end := strings.IndexByte(t, '"')
		if end < 0 {
			return neutral
		}
		names := keySays(key)
		if names&failure != 0 && end > 0 && readsAs(t[:end])&(none|fine) == 0 {
			return failed // {"fehler":"…"}
		}
		if end > longest || names&verdicts == 0 {
			continue
		}
		switch says := readsAs(t[:end]); {
		case says&pending != 0:
		case says&failure != 0:
			return failed
		case says&(nothing|negation) != 0:
			return empty
		}
	}
}

// saysNothing reports a JSON object that has an empty list or object and beside it
// nothing but what was asked, or a remark: {"query":"…","hits":[],"total":0},
// {"idGroup":{}}, {"schema":["n"],"rows":[[null]]}.
func saysNothing(text, act string) bool {
	t := strings.TrimSpace(text)
	if len(t) > 2*headBytes || t == "" || t[0] != '{' || !strings.Contains(t, "[]") && !strings.Contains(t, "{}") && !strings.Contains(t, "[null") && !strings.Contains(t, "[[null") {
		return false
	}
	var fields map[string]any
	if json.Unmarshal([]byte(t), &fields) != nil {
		return false
	}
	var f blankFields
	return f.add(fields, act) && f.empty > 0 && (f.others == 0 || f.zeros > 0 || f.columns) // {"total":0,"hits":[],"took":57}
}

// blankFields counts the fields of an answer in which nothing was found.
type blankFields struct {
	empty, zeros, others int
	columns              bool // it names the columns of the table that is empty
}

// add reports whether fields say nothing.
func (f *blankFields) add(fields map[string]any, act string) bool {
	for key, v := range fields {
		switch v := v.(type) {
		case nil:
		case bool:
			if v {
				return false
			}
		case float64:
			f.number(v != 0)
		case string:
			switch {
			case v != "" && endOfDigits(v, 0) == len(v):
				f.number(strings.Trim(v, "0") != "")
			case !strings.Contains(act, v) && !isProse(v) && !(isStamp(v) && stamps(key)) && !strings.HasSuffix(key, "Type") && !(key == "status" && v == "success"):
				return false
			}
		case []any:
			switch {
			case namesColumns(key) && len(v) > 0:
				f.columns = true
			case !allNull(v):
				return false
			case keySays(key)&failure == 0: // no errors are no empty result
				f.empty++
			}
		case map[string]any:
			if len(v) == 0 && keySays(key)&failure == 0 && len(fields) == 1 {
				f.empty++ // nothing else is there
			}
			if !f.add(v, act) {
				return false
			}
		}
	}
	return true
}

func (f *blankFields) number(some bool) {
	if some {
		f.others++
	} else {
		f.zeros++
	}
}

// namesColumns reports the key of what says which columns a table has.
func namesColumns(key string) bool {
	switch strings.ToLower(key) {
	case "schema", "columns", "fields", "headers", "fieldnames", "column_names":
		return true
	}
	return false
}

// allNull reports a list in which nothing is, and rows of nothing.
func allNull(list []any) bool {
	for _, v := range list {
		if row, is := v.([]any); v != nil && !(is && len(row) > 0 && allNull(row)) {
			return false
		}
	}
	return true
}

// stamps reports the key of what a service puts beside an answer, which leads
// nowhere: request_id, trace, checked_at. A cursor leads on.
func stamps(key string) bool {
	says := nameSays(key)
	return says&volatileID != 0 || strings.HasSuffix(key, "_at") || strings.HasSuffix(key, "_id") || len(key) <= 3 && key != "id"
}

// isStamp reports an id or a clock: what services put beside an answer.
func isStamp(v string) bool {
	s := scanner{text: v}
	return s.next() && (s.class == volatile || isDrawn(v[s.start:s.end]) || isID(v, &s.token)) && !strings.Contains(v, " ")
}

func dropSpace(r rune) rune {
	if r <= ' ' {
		return -1
	}
	return r
}

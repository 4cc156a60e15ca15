package calls_test

import (
	"fmt"

	"github.com/haltd/haltd/calls"
)

func ExampleFromRequest() {
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"gpt-5","messages":[{"role":"user","content":"Hello"}]}`,
		"/v1/responses":        `{"model":"gpt-5","input":"Hello"}`,
		"/v1/messages":         `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"Hello"}]}`,
		"/v1beta/models/gemini-2.5-pro:generateContent": `{"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}`,
	} {
		call, err := calls.FromRequest(path, []byte(body))
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(call.Format, call.Model, call.FirstUser())
	}
	// Unordered output:
	// openai-chat gpt-5 Hello
	// openai-responses gpt-5 Hello
	// anthropic-messages claude-sonnet-4-5 Hello
	// gemini-generate gemini-2.5-pro Hello
}

func ExampleFromReply() {
	reply, err := calls.FromReply("/v1/chat/completions", []byte(
		"data: {\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Good \"}}]}\n\n"+
			"data: {\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"morning\"},\"finish_reason\":\"stop\"}]}\n\n"+
			"data: [DONE]\n\n"))
	fmt.Println(reply.Text, reply.Finish, err)
	// Output: Good morning stop <nil>
}

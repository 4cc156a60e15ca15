package clients

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"google.golang.org/genai"
)

var gemini = sdk{
	name:         "google genai",
	provider:     "gemini",
	format:       "gemini-generate",
	defaultAgent: "google-genai",
	agentPath:    "/gemini",
	path: func(model string, stream bool) string {
		if stream {
			return "/v1beta/models/" + model + ":streamGenerateContent"
		}
		return "/v1beta/models/" + model + ":generateContent"
	},
	finish: [2]string{"STOP", "STOP"},
	// The SDK keeps the bytes of an error only where they are no JSON.
	errorBody: "<html>\n<title>odd ü</title>  </html>\n\n",
	keyHeader: func(key string) (string, string) { return "X-Goog-Api-Key", key },
	retries:   2,
	talk:      talkGemini,
	models:    geminiModels,
}

func geminiClient(ctx context.Context, base string, a ask) (*genai.Client, error) {
	header := http.Header{}
	for name, value := range a.header {
		header.Set(name, value)
	}
	options := genai.HTTPOptions{BaseURL: base, Headers: header}
	if a.retry {
		options.RetryOptions = &genai.HTTPRetryOptions{
			Attempts: genai.Ptr[int32](3), InitialDelay: genai.Ptr(0.001), Jitter: genai.Ptr(0.001),
		}
	}
	return genai.NewClient(ctx, &genai.ClientConfig{Backend: genai.BackendGeminiAPI, APIKey: a.key, HTTPOptions: options})
}

func geminiFailure(err error, out *outcome) {
	var failed genai.APIError
	out.Failed = err != nil
	if errors.As(err, &failed) {
		out.Status, out.Body, out.Message = failed.Code, failed.Message, failed.Error()
	}
}

// geminiRaw is a reply with all that the SDK read of it, but for its headers.
func geminiRaw(reply *genai.GenerateContentResponse) string {
	bare := *reply
	bare.SDKHTTPResponse = nil
	b, err := json.Marshal(bare)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func geminiModels(ctx context.Context, base string, a ask) (out outcome) {
	client, err := geminiClient(ctx, base, a)
	if err != nil {
		return outcome{Failed: true, Message: err.Error()}
	}
	page, err := client.Models.List(ctx, nil)
	geminiFailure(err, &out)
	for _, m := range page.Items {
		out.Text += m.Name + " "
	}
	return out
}

func talkGemini(ctx context.Context, base string, a ask) (out outcome) {
	client, err := geminiClient(ctx, base, a)
	if err != nil {
		return outcome{Failed: true, Message: err.Error()}
	}
	contents := genai.Text(a.prompt)
	config := &genai.GenerateContentConfig{SystemInstruction: genai.NewContentFromText(systemPrompt, genai.RoleUser)}
	if a.tools {
		config.Tools = []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
			Name: toolName, Description: "Tells the weather", ParametersJsonSchema: toolSchema,
		}}}}
	}
	for {
		parts, err := geminiTurn(ctx, client, contents, config, a, &out)
		geminiFailure(err, &out)
		if err != nil && a.again(out) {
			continue
		}
		if err != nil {
			return out
		}
		contents = append(contents, genai.NewContentFromParts(parts, genai.RoleModel))
		var results []*genai.Part
		out.Text = ""
		for _, p := range parts {
			if !p.Thought {
				out.Text += p.Text
			}
			if p.FunctionCall != nil {
				args, err := json.Marshal(p.FunctionCall.Args)
				geminiFailure(err, &out)
				out.Tools = append(out.Tools, p.FunctionCall.Name+string(args))
				results = append(results, genai.NewPartFromFunctionResponse(p.FunctionCall.Name, map[string]any{"output": toolResult}))
			}
		}
		if len(results) == 0 {
			return out
		}
		contents = append(contents, genai.NewContentFromParts(results, genai.RoleUser))
	}
}

// geminiTurn is one call; it answers the parts of the reply.
func geminiTurn(ctx context.Context, client *genai.Client, contents []*genai.Content, config *genai.GenerateContentConfig, a ask, out *outcome) ([]*genai.Part, error) {
	var parts []*genai.Part
	take := func(reply *genai.GenerateContentResponse) {
		out.Raw = append(out.Raw, geminiRaw(reply))
		out.Header = withoutDate(reply.SDKHTTPResponse.Headers)
		for _, candidate := range reply.Candidates {
			parts = append(parts, candidate.Content.Parts...)
		}
	}
	if !a.stream {
		reply, err := client.Models.GenerateContent(ctx, a.model, contents, config)
		if err == nil {
			take(reply)
		}
		return parts, err
	}
	for reply, err := range client.Models.GenerateContentStream(ctx, a.model, contents, config) {
		if err != nil {
			return parts, err
		}
		take(reply)
		a.event()
	}
	return parts, nil
}

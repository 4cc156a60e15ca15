package clients

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

var anthropicMessages = sdk{
	name:         "anthropic messages",
	provider:     "anthropic",
	format:       "anthropic-messages",
	defaultAgent: "anthropic-go",
	agentPath:    "/anthropic",
	path:         func(string, bool) string { return "/v1/messages" },
	finish:       [2]string{"end_turn", "tool_use"},
	errorBody:    "{\"type\":\"error\",  \"error\":{\"type\":\"odd_error\",\"message\":\"odd \\u00fc\", \"extra\":[1, 2]},\"request_id\":\"req_1\"}\n\n",
	keyHeader:    func(key string) (string, string) { return "X-Api-Key", key },
	retries:      2,
	talk:         talkAnthropic,
	models:       anthropicModels,
}

func anthropicClient(base string, a ask) (anthropic.Client, **http.Response) {
	var resp *http.Response
	options := []option.RequestOption{option.WithBaseURL(base), option.WithAPIKey(a.key), option.WithResponseInto(&resp)}
	for name, value := range a.header {
		options = append(options, option.WithHeader(name, value))
	}
	return anthropic.NewClient(options...), &resp
}

func anthropicFailure(err error, out *outcome) {
	var failed *anthropic.Error
	out.Failed = err != nil
	if errors.As(err, &failed) {
		out.Status, out.Message = failed.StatusCode, failed.RawJSON()
		// An error inside a stream has no body of its own.
		if failed.StatusCode > 299 {
			body, readErr := io.ReadAll(failed.Response.Body)
			out.Body = string(body)
			if readErr != nil {
				out.Message = readErr.Error()
			}
		}
	}
}

func anthropicModels(ctx context.Context, base string, a ask) (out outcome) {
	client, resp := anthropicClient(base, a)
	page, err := client.Models.List(ctx, anthropic.ModelListParams{})
	anthropicFailure(err, &out)
	out.Header = headerOf(*resp)
	if err == nil {
		out.Raw = append(out.Raw, page.RawJSON())
		for _, m := range page.Data {
			out.Text += m.ID + " "
		}
	}
	return out
}

func talkAnthropic(ctx context.Context, base string, a ask) (out outcome) {
	client, resp := anthropicClient(base, a)
	params := anthropic.MessageNewParams{
		Model: anthropic.Model(a.model), MaxTokens: 1000,
		System:   []anthropic.TextBlockParam{{Text: systemPrompt}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(a.prompt))},
	}
	if a.tools {
		params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: toolName, Description: anthropic.String("Tells the weather"),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: toolSchema["properties"], Required: []string{"city"}},
		}}}
	}
	for {
		message, err := anthropicTurn(ctx, &client, params, a, &out)
		anthropicFailure(err, &out)
		out.Header = headerOf(*resp)
		if err != nil && a.again(out) {
			continue
		}
		if err != nil {
			return out
		}
		var results []anthropic.ContentBlockParamUnion
		for _, block := range message.Content {
			switch block.Type {
			case "text":
				out.Text = block.Text
			case "tool_use":
				out.Tools = append(out.Tools, block.Name+string(block.Input))
				results = append(results, anthropic.NewToolResultBlock(block.ID, toolResult, false))
			}
		}
		if len(results) == 0 {
			return out
		}
		params.Messages = append(params.Messages, message.ToParam(), anthropic.NewUserMessage(results...))
	}
}

func anthropicTurn(ctx context.Context, client *anthropic.Client, params anthropic.MessageNewParams, a ask, out *outcome) (*anthropic.Message, error) {
	if !a.stream {
		message, err := client.Messages.New(ctx, params)
		if err != nil {
			return nil, err
		}
		out.Raw = append(out.Raw, message.RawJSON())
		return message, nil
	}
	stream := client.Messages.NewStreaming(ctx, params)
	defer stream.Close()
	var whole anthropic.Message
	for stream.Next() {
		event := stream.Current()
		out.Raw = append(out.Raw, event.RawJSON())
		if err := whole.Accumulate(event); err != nil {
			return nil, err
		}
		a.event()
	}
	return &whole, stream.Err()
}

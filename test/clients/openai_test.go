package clients

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

var openaiChat = sdk{
	name:         "openai chat completions",
	provider:     "openai",
	format:       "openai-chat",
	defaultAgent: "openai-go",
	directPath:   "/v1",
	agentPath:    "/openai/v1",
	path:         func(string, bool) string { return "/v1/chat/completions" },
	finish:       [2]string{"stop", "tool_calls"},
	errorBody:    openaiErrorBody,
	keyHeader:    func(key string) (string, string) { return "Authorization", "Bearer " + key },
	retries:      2,
	talk:         talkChat,
	models:       openaiModels,
}

var openaiResponses = sdk{
	name:         "openai responses",
	provider:     "openai",
	format:       "openai-responses",
	defaultAgent: "openai-go",
	directPath:   "/v1",
	agentPath:    "/openai/v1",
	path:         func(string, bool) string { return "/v1/responses" },
	finish:       [2]string{"completed", "completed"},
	errorBody:    openaiErrorBody,
	keyHeader:    func(key string) (string, string) { return "Authorization", "Bearer " + key },
	retries:      2,
	talk:         talkResponses,
	models:       openaiModels,
}

// openaiErrorBody has spaces and fields that no reader needs, to be sure that
// nobody writes it anew.
const openaiErrorBody = "{ \"error\" : {\"message\": \"odd \\u00fc\",\n \"type\":\"invalid_request_error\", \"param\":null,\"code\":\"odd_code\",\"extra\":[1, 2]} }\n\n"

func openaiClient(base string, a ask) (openai.Client, **http.Response) {
	var resp *http.Response
	options := []option.RequestOption{option.WithBaseURL(base), option.WithAPIKey(a.key), option.WithResponseInto(&resp)}
	for name, value := range a.header {
		options = append(options, option.WithHeader(name, value))
	}
	return openai.NewClient(options...), &resp
}

func openaiFailure(err error, out *outcome) {
	var failed *openai.Error
	out.Failed = err != nil
	if errors.As(err, &failed) {
		body, readErr := io.ReadAll(failed.Response.Body)
		out.Status, out.Body, out.Message = failed.StatusCode, string(body), failed.Message
		if readErr != nil {
			out.Message = readErr.Error()
		}
	}
	var inBand *ssestream.StreamError
	if errors.As(err, &inBand) {
		out.Message = inBand.Message
	}
}

func openaiModels(ctx context.Context, base string, a ask) (out outcome) {
	client, resp := openaiClient(base, a)
	page, err := client.Models.List(ctx)
	openaiFailure(err, &out)
	out.Header = headerOf(*resp)
	if err == nil {
		out.Raw = append(out.Raw, page.RawJSON())
		for _, m := range page.Data {
			out.Text += m.ID + " "
		}
	}
	return out
}

func talkChat(ctx context.Context, base string, a ask) (out outcome) {
	client, resp := openaiClient(base, a)
	params := openai.ChatCompletionNewParams{
		Model:    a.model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(systemPrompt), openai.UserMessage(a.prompt)},
	}
	if a.tools {
		params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: toolName, Description: openai.String("Tells the weather"), Parameters: shared.FunctionParameters(toolSchema),
		})}
	}
	if a.stream {
		params.StreamOptions.IncludeUsage = openai.Bool(!a.withoutUsage)
	}
	for {
		message, err := chatTurn(ctx, &client, params, a, &out)
		openaiFailure(err, &out)
		out.Header = headerOf(*resp)
		if err != nil && a.again(out) {
			continue
		}
		if err != nil || len(message.ToolCalls) == 0 {
			out.Text = message.Content
			return out
		}
		params.Messages = append(params.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			out.Tools = append(out.Tools, call.Function.Name+call.Function.Arguments)
			params.Messages = append(params.Messages, openai.ToolMessage(toolResult, call.ID))
		}
	}
}

func chatTurn(ctx context.Context, client *openai.Client, params openai.ChatCompletionNewParams, a ask, out *outcome) (openai.ChatCompletionMessage, error) {
	if !a.stream {
		completion, err := client.Chat.Completions.New(ctx, params)
		if err != nil {
			return openai.ChatCompletionMessage{}, err
		}
		out.Raw = append(out.Raw, completion.RawJSON())
		return completion.Choices[0].Message, nil
	}
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	defer stream.Close()
	var whole openai.ChatCompletionAccumulator
	for stream.Next() {
		chunk := stream.Current()
		out.Raw = append(out.Raw, chunk.RawJSON())
		whole.AddChunk(chunk)
		a.event()
	}
	if len(whole.Choices) == 0 {
		return openai.ChatCompletionMessage{}, stream.Err()
	}
	return whole.Choices[0].Message, stream.Err()
}

func talkResponses(ctx context.Context, base string, a ask) (out outcome) {
	client, resp := openaiClient(base, a)
	input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(a.prompt, responses.EasyInputMessageRoleUser)}
	params := responses.ResponseNewParams{Model: a.model, Instructions: openai.String(systemPrompt)}
	if a.tools {
		params.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction(toolName, toolSchema, true)}
	}
	for {
		params.Input.OfInputItemList = input
		response, err := responseTurn(ctx, &client, params, a, &out)
		openaiFailure(err, &out)
		out.Header = headerOf(*resp)
		if err != nil && a.again(out) {
			continue
		}
		if response == nil || err != nil {
			return out
		}
		calls := 0
		for _, item := range response.Output {
			if item.Type != "function_call" {
				continue
			}
			calls++
			out.Tools = append(out.Tools, item.Name+item.Arguments.OfString)
			input = append(input,
				responses.ResponseInputItemParamOfFunctionCall(item.Arguments.OfString, item.CallID, item.Name),
				responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
					CallID: openai.String(item.CallID),
					Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String(toolResult)},
				}})
		}
		if calls == 0 {
			out.Text = response.OutputText()
			return out
		}
	}
}

func responseTurn(ctx context.Context, client *openai.Client, params responses.ResponseNewParams, a ask, out *outcome) (*responses.Response, error) {
	if !a.stream {
		response, err := client.Responses.New(ctx, params)
		if err != nil {
			return nil, err
		}
		out.Raw = append(out.Raw, response.RawJSON())
		return response, nil
	}
	stream := client.Responses.NewStreaming(ctx, params)
	defer stream.Close()
	var whole *responses.Response
	for stream.Next() {
		event := stream.Current()
		out.Raw = append(out.Raw, event.RawJSON())
		if event.Type == "response.completed" {
			whole = &event.Response
		}
		a.event()
	}
	return whole, stream.Err()
}

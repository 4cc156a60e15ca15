package formats

import "testing"

func TestPermits(t *testing.T) {
	for request, want := range map[[2]string]bool{
		{"POST", "/v1/chat/completions"}:                                             true,
		{"POST", "/api/v1/chat/completions"}:                                         true,
		{"POST", "/openai/deployments/d/embeddings"}:                                 true,
		{"POST", "/v1/responses"}:                                                    true,
		{"GET", "/v1/responses/resp_1"}:                                              true,
		{"GET", "/v1/responses/resp_1/input_items"}:                                  true,
		{"POST", "/v1/messages"}:                                                     true,
		{"POST", "/v1/messages/count_tokens"}:                                        true,
		{"POST", "/v1/messages/batches"}:                                             true,
		{"GET", "/v1/messages/batches/b/results"}:                                    true,
		{"POST", "/v1beta/models/gemini-2.5-pro:streamGenerateContent"}:              true,
		{"POST", "/v1beta/models/gemini-2.5-pro:countTokens"}:                        true,
		{"POST", "/v1beta/models/text-embedding-004:batchEmbedContents"}:             true,
		{"POST", "/v1beta/openai/chat/completions"}:                                  true,
		{"POST", "/v1/projects/p/locations/l/publishers/google/models/m:rawPredict"}: true,
		{"POST", "/upload/v1beta/files"}:                                             true,
		{"GET", "/v1/models"}:                                                        true,
		{"GET", "/v1/models/org/model"}:                                              true,
		{"HEAD", "/v1/models/"}:                                                      true,
		{"POST", "/v1/embeddings"}:                                                   true,
		{"POST", "/api/chat"}:                                                        true,
		{"POST", "/v1/batches/b/cancel"}:                                             true,
		{"POST", "/v1beta/batches/b:cancel"}:                                         true,

		{"DELETE", "/v1/models/ft:m"}:                                         false,
		{"DELETE", "/v1/files/f"}:                                             false,
		{"DELETE", "/v1/responses/resp_1"}:                                    false,
		{"PUT", "/v1/chat/completions"}:                                       false,
		{"PATCH", "/v1beta/cachedContents/c"}:                                 false,
		{"OPTIONS", "/v1/models"}:                                             false,
		{"post", "/v1/chat/completions"}:                                      false,
		{"GET", "/v1/organization/users"}:                                     false,
		{"POST", "/v1/organization/admin_api_keys"}:                           false,
		{"GET", "/v1/organizations/api_keys"}:                                 false,
		{"GET", "/v1/models/..;/organization/users"}:                          false,
		{"GET", "/v1/models/%2e%2e/organization"}:                             false,
		{"GET", "/organization/v1/models"}:                                    false,
		{"POST", "/v1/fine_tuning/jobs"}:                                      false,
		{"POST", "/v1/realtime/client_secrets"}:                               false,
		{"POST", "/v1/realtime/sessions"}:                                     false,
		{"POST", "/v1/models/m"}:                                              false,
		{"POST", "/v1/responses/resp_1"}:                                      false,
		{"POST", "/v1beta/tunedModels"}:                                       false,
		{"POST", "/v1beta/tunedModels/m:transferOwnership"}:                   false,
		{"POST", "/v1beta/tunedModels/m:transferOwnership/x:generateContent"}: false,
		{"POST", "/v1beta/auth_tokens"}:                                       false,
		{"POST", "/v1/keys"}:                                                  false,
		{"GET", "/v1/key"}:                                                    false,
		{"POST", "/api/pull"}:                                                 false,
		{"DELETE", "/api/delete"}:                                             false,
		{"GET", "/"}:                                                          false,
	} {
		if got := Permits(request[0], request[1]); got != want {
			t.Errorf("%s %s: %v, want %v", request[0], request[1], got, want)
		}
	}
}

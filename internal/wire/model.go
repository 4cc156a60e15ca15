package wire

import (
	"regexp"
	"strings"
)

// PathModel is the model that a path names: Bedrock's, Google's, or an Azure
// deployment; "" where it names none.
func PathModel(path string) string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for i, part := range parts[:max(len(parts)-1, 0)] {
		switch strings.ToLower(part) {
		case "model": // the id may be an ARN with slashes in it
			return strings.Join(parts[i+1:max(len(parts)-1, i+2)], "/")
		case "models", "tunedmodels", "deployments", "engines", "endpoints":
			name := parts[i+1]
			if at := strings.LastIndexByte(name, ':'); at > 0 {
				name = name[:at]
			}
			return name
		}
	}
	return ""
}

// Deployment is the deployment or engine that a path names. What stands behind
// it answers, whatever model the body asks for; "" where it names none.
func Deployment(path string) string {
	follows := false
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case part == "":
		case follows:
			return part
		default:
			follows = strings.EqualFold(part, "deployments") || strings.EqualFold(part, "engines")
		}
	}
	return ""
}

// bedrockName is a model id of Bedrock's: a region, the maker, and a version
// around the name that everybody else uses.
var bedrockName = regexp.MustCompile(`^(?:.*/)?(?:[a-z-]+\.)?(?:anthropic|meta|mistral|cohere|amazon|ai21|deepseek|openai|qwen|moonshotai|google)\.([a-z0-9.-]+?)(?:-v\d+)?(?::\d+)?$`)

// PlainModel is a model as its maker calls it.
func PlainModel(model string) string {
	if m := bedrockName.FindStringSubmatch(strings.ToLower(model)); m != nil {
		return m[1]
	}
	return strings.TrimPrefix(model, "models/") // as Google writes it in a body
}

package policy

// Draw asks a bucket for some of its tokens.
type Draw struct {
	Key   string // names the bucket
	Limit Limit
	Cost  int64
}

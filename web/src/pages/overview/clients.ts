/** Lines are what a reader pastes: comments are shown and not copied. */
export interface Lines {
  comment?: string
  text: string
}

export interface Client {
  name: string
  point: (gateway: string) => Lines
  call: (gateway: string) => Lines
  /** the plain address that also works, without a name for the agent */
  plain: (gateway: string) => string
}

const byPath = 'the agent appears by itself, under the name in the path'

/** clients are the ways to make a first call. */
export const clients: Record<string, Client> = {
  openai: {
    name: 'OpenAI SDK',
    point: (gw) => ({ comment: byPath, text: `export OPENAI_BASE_URL=${gw}/agents/my-agent/openai/v1` }),
    call: () => ({
      text: `python -c "from openai import OpenAI; print(OpenAI().chat.completions.create(
  model='gpt-4.1-mini',
  messages=[dict(role='user', content='Say hello')]
).choices[0].message.content)"`,
    }),
    plain: (gw) => `${gw}/v1`,
  },
  anthropic: {
    name: 'Anthropic SDK',
    point: (gw) => ({ comment: byPath, text: `export ANTHROPIC_BASE_URL=${gw}/agents/my-agent/anthropic` }),
    call: () => ({
      text: `python -c "import anthropic; print(anthropic.Anthropic().messages.create(
  model='claude-sonnet-4-5', max_tokens=16,
  messages=[dict(role='user', content='Say hello')]
).content[0].text)"`,
    }),
    plain: (gw) => gw,
  },
  claude: {
    name: 'Claude Code',
    point: (gw) => ({ comment: byPath, text: `export ANTHROPIC_BASE_URL=${gw}/agents/my-agent/anthropic` }),
    call: () => ({ text: 'claude -p "Say hello"' }),
    plain: (gw) => gw,
  },
  codex: {
    name: 'Codex',
    point: (gw) => ({ comment: 'in ~/.codex/config.toml', text: `openai_base_url = "${gw}/agents/my-agent/openai/v1"` }),
    call: () => ({ text: 'codex exec "Say hello"' }),
    plain: (gw) => `${gw}/v1`,
  },
  gemini: {
    name: 'Gemini',
    point: (gw) => ({ comment: byPath, text: `export GOOGLE_GEMINI_BASE_URL=${gw}/agents/my-agent/gemini` }),
    call: () => ({ text: 'gemini -p "Say hello"' }),
    plain: (gw) => gw,
  },
  curl: {
    name: 'curl',
    point: (gw) => ({ comment: byPath, text: `export GATEWAY=${gw}/agents/my-agent/openai/v1` }),
    call: () => ({
      text: `curl $GATEWAY/chat/completions -H "Authorization: Bearer $OPENAI_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"Say hello"}]}'`,
    }),
    plain: (gw) => `${gw}/v1`,
  },
}

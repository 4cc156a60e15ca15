import createClient from 'openapi-fetch'
import { legible } from '../format/visible'
import type { paths } from './schema'

/** Problem is an answer that is no success: what happened and what to do. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fix: string,
  ) {
    super(message)
    this.name = 'Problem'
  }
}

// patience is how long haltd may take for an answer. A process that hangs
// would otherwise keep a dialog waiting for ever.
const patience = 30_000

const client = createClient<paths>({
  baseUrl: window.location.origin,
  credentials: 'same-origin',
  fetch: (request) => fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(patience)]) }),
})

// A page of another origin cannot send this header, so it cannot make the
// browser change anything with the reader's cookie.
client.use({
  onRequest({ request }) {
    if (request.method !== 'GET') request.headers.set('X-Haltd-Csrf', '1')
    return request
  },
})

export const api = client

type Answer<T> = { data?: T; error?: unknown; response: Response }

/** unreachable is what is told where nobody answers. */
export function unreachable(): Problem {
  return new Problem(0, 'unreachable', 'haltd does not answer', 'Check that it is running, then try again.')
}

/** read is what a request answered, or a Problem thrown. */
export async function read<T>(request: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>
  try {
    answer = await request
  } catch {
    throw unreachable()
  }
  if (!answer.response.ok) throw problemOf(answer.response.status, answer.error)
  return legible(answer.data as T)
}

function problemOf(status: number, body: unknown): Problem {
  const said = (body as { error?: { code?: string; message?: string; fix?: string } } | undefined)?.error
  return new Problem(status, said?.code ?? 'unknown', said?.message ?? `haltd answered ${status}`, said?.fix ?? '')
}

/** reason is what went wrong, for a person. */
export function reason(error: unknown): string {
  if (error instanceof Problem) return error.fix ? `${error.message}. ${error.fix}` : error.message
  return error instanceof Error ? error.message : String(error)
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof Problem && error.status === 401
}

/** without leaves out what is not set: haltd refuses empty parameters. */
export function without<T extends object>(query: T): T {
  return Object.fromEntries(Object.entries(query).filter(([, v]) => v !== undefined && v !== '' && v !== null)) as T
}

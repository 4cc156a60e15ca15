import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { parseSearch, stringifySearch } from './address'
import { isSignedOut } from './api/client'
import { statusQuery } from './api/service'
import { askFor } from './pages/overview/ask'
import Overview from './pages/overview/Overview'
import { page } from './parts/fetched'
import { PageError, PageNotFound, PagePending } from './parts/PageError'
import { Shell } from './shell/Shell'

const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet, errorComponent: PageError })

const signInRoute = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search): { next?: string } => ({ next: ownPath(search.next) }),
  component: page(() => import('./pages/signin/SignIn')),
})

// All pages but the sign-in stand in the shell, which only somebody who is
// signed in sees: others are not told the status.
const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: Shell,
  loader: async ({ context, location }) => {
    try {
      await context.queries.ensureQueryData({ ...statusQuery, retry: false })
    } catch (error) {
      if (isSignedOut(error)) throw redirect({ to: '/sign-in', search: { next: ownPath(location.href) } })
      throw error
    }
  },
})

// Where most visits begin: fetched with the shell, and drawn once it is known
// whether there is anything to show. The other pages come when asked for.
const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: Overview,
  validateSearch: (search): { span?: string } => ({ span: text(search.span) }),
  loaderDeps: ({ search }) => ({ span: search.span }),
  loader: ({ context, deps }) => askFor(context.queries, deps.span),
})
const agents = createRoute({
  getParentRoute: () => shell,
  path: '/agents',
  component: page(() => import('./pages/agents/Agents')),
  validateSearch: (search): { search?: string; state?: string; sort?: string } => ({ search: text(search.search), state: text(search.state), sort: text(search.sort) }),
})
const agent = createRoute({
  getParentRoute: () => shell,
  path: '/agents/$id',
  component: page(() => import('./pages/agent/AgentPage')),
  validateSearch: (search): { chart?: string } => ({ chart: text(search.chart) }),
})
const session = createRoute({
  getParentRoute: () => shell,
  path: '/agents/$id/sessions/$session',
  component: page(() => import('./pages/session/SessionPage')),
  validateSearch: (search): { find?: string; calls?: 'repeated' } => ({ find: text(search.find), calls: search.calls === 'repeated' ? 'repeated' : undefined }),
})
const sessions = createRoute({
  getParentRoute: () => shell,
  path: '/sessions',
  component: page(() => import('./pages/sessions/Sessions')),
  validateSearch: (search): { agent?: string; search?: string; state?: string; sort?: string } => ({
    agent: text(search.agent),
    search: text(search.search),
    state: text(search.state),
    sort: text(search.sort),
  }),
})
const incidents = createRoute({
  getParentRoute: () => shell,
  path: '/incidents',
  component: page(() => import('./pages/incidents/Incidents')),
  validateSearch: (search): { agent?: string; status?: string; kind?: string; detector?: string; shadow?: string; sort?: string; alone?: string } => ({
    agent: text(search.agent),
    status: text(search.status),
    kind: text(search.kind),
    detector: text(search.detector),
    shadow: text(search.shadow),
    sort: text(search.sort),
    alone: search.alone === undefined ? undefined : '1',
  }),
})
const incident = createRoute({
  getParentRoute: () => shell,
  path: '/incidents/$id',
  component: page(() => import('./pages/incident/IncidentPage')),
})
const events = createRoute({
  getParentRoute: () => shell,
  path: '/events',
  component: page(() => import('./pages/events/Events')),
  validateSearch: (search): { agent?: string; session?: string; type?: string; since?: string; event?: string } => ({
    since: text(search.since),
    agent: text(search.agent),
    session: text(search.session),
    type: text(search.type),
    event: text(search.event),
  }),
})
const rules = createRoute({
  getParentRoute: () => shell,
  path: '/rules',
  component: page(() => import('./pages/rules/Rules')),
})
const alerts = createRoute({
  getParentRoute: () => shell,
  path: '/alerts',
  component: page(() => import('./pages/alerts/Alerts')),
  validateSearch: (search): { status?: string } => ({ status: text(search.status) }),
})
const costs = createRoute({
  getParentRoute: () => shell,
  path: '/costs',
  component: page(() => import('./pages/costs/Costs')),
  validateSearch: (search): { span?: string; by?: 'agent' | 'model' | 'provider' } => ({
    span: text(search.span),
    by: search.by === 'model' || search.by === 'provider' ? search.by : undefined,
  }),
})
const settings = createRoute({
  getParentRoute: () => shell,
  path: '/settings',
  component: page(() => import('./pages/settings/Settings')),
})

const tree = root.addChildren([
  signInRoute,
  shell.addChildren([
    overview, agents, agent, session, sessions, incidents, incident, events, rules, alerts, costs, settings,
  ]),
])

export function makeRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { queries },
    parseSearch,
    stringifySearch,
    scrollRestoration: true,
    defaultPreload: 'intent',
    defaultErrorComponent: PageError,
    defaultPendingComponent: PagePending,
    defaultPendingMs: 300,
    defaultNotFoundComponent: PageNotFound,
  })
}

export type Router = ReturnType<typeof makeRouter>

declare module '@tanstack/react-router' {
  interface Register {
    router: Router
  }
}

/** signInAgain leads back to the present page after the sign-in. */
export function signInAgain(router: Router): void {
  const { pathname, href } = router.state.location
  if (pathname === '/sign-in') return
  router.options.context.queries.removeQueries({ queryKey: statusQuery.queryKey })
  void router.navigate({ to: '/sign-in', search: { next: ownPath(href) } })
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

// A path of this site and nothing else: an address handed in from outside
// must not lead elsewhere.
function ownPath(value: unknown): string | undefined {
  return typeof value === 'string' && /^\/(?![/\\])/.test(value) && value !== '/' ? value : undefined
}

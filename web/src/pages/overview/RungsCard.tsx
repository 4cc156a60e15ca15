import { Group, Text } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, read } from '../../api/client'
import { count } from '../../format/figures'
import { Section } from '../../parts/Section'
import { sinceOf, type Span, spans } from './span'

const rungs = ['steered', 'rejected', 'halted', 'killed'] as const

export function rungsQuery(span: Span, shadow: 'true' | 'false') {
  return queryOptions({
    queryKey: ['stats', 'rungs', span, shadow],
    queryFn: () => read(api.GET('/v1/stats/rungs', { params: { query: { since: sinceOf(span), shadow } } })),
    staleTime: 30_000,
  })
}

/** RungsCard is what came of what haltd did before it stopped anybody, and what
 *  each rung would have done where the switch is off. Where nobody was steered
 *  or halted, and nobody would have been, it is left out. */
export function RungsCard({ span }: { span: Span }) {
  const n = useQuery(rungsQuery(span, 'false')).data
  const would = useQuery(rungsQuery(span, 'true')).data
  const inShadow = would ? rungs.filter((r) => would[r] > 0) : []
  if (!n || n.steered + n.halted + inShadow.length === 0) return null
  const more = n.more ? '+' : ''
  return (
    <Section title="Steered and halted" aside={`in ${spans[span].label}`}>
      <Group gap="xl">
        {n.steered > 0 && (
          <>
            <Figure n={`${count(n.steered)}${more}`} word="steered" search={{ kind: 'steer' }} />
            <Figure n={`${count(n.recovered)}${more}`} word="recovered" search={{ kind: 'steer', status: 'recovered' }} />
            <Figure n={`${count(n.stopped)}${more}`} word="then stopped" search={{ kind: 'steer', status: 'unmoved' }} />
          </>
        )}
        {n.halted > 0 && (
          <>
            <Figure n={`${count(n.halted)}${more}`} word="halted" search={{ kind: 'kill_switch', shadow: 'false' }} />
            <Figure n={`${count(n.continued)}${more}`} word="continued by a person" search={{ status: 'continued' }} />
          </>
        )}
      </Group>
      {would && inShadow.length > 0 && (
        <Group gap="xl" mt={n.steered + n.halted > 0 ? 'sm' : 0}>
          {inShadow.map((r) => (
            <Figure
              key={r}
              n={`${count(would[r])}${would.more ? '+' : ''}`}
              word={`would have been ${r === 'killed' ? 'stopped' : r}`}
              search={{ kind: r === 'steered' ? undefined : 'kill_switch', shadow: 'true' }}
            />
          ))}
        </Group>
      )}
    </Section>
  )
}

function Figure({ n, word, search }: { n: string; word: string; search: { kind?: string; status?: string; shadow?: string } }) {
  return (
    <Link to="/incidents" search={{ status: 'all', ...search }} style={{ color: 'inherit' }}>
      <Text span fw={600} size="xl">
        {n}
      </Text>{' '}
      <Text span size="sm">
        {word}
      </Text>
    </Link>
  )
}

import { Code, SimpleGrid, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { configQuery, statusQuery } from '../../api/service'
import { bytes } from '../../format/figures'
import { full, span } from '../../format/time'
import { Pair, Pairs } from '../../parts/Facts'
import { Loaded } from '../../parts/Loaded'
import { Prices } from '../../parts/Prices'
import { Section } from '../../parts/Section'
import { BypassCard } from './BypassCard'
import { Keys } from './Keys'
import { sectionOf } from './yaml'

/** Settings is what concerns haltd as a whole. */
export default function Settings() {
  return (
    <Stack gap="md">
      <Title order={1}>Settings</Title>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Status />
        <BypassCard />
      </SimpleGrid>
      <Keys />
      <Configuration />
    </Stack>
  )
}

function Status() {
  const query = useQuery(statusQuery)
  return (
    <Section title="Status">
      <Loaded query={query} thing="the status">
        {(s) => (
          <Pairs>
            <Pair name="Gateway">
              <span className="mono">{s.gateway}</span>
            </Pair>
            <Pair name="Admin">
              <span className="mono">{s.admin}</span>
            </Pair>
            <Pair name="Version">{s.version}</Pair>
            <Pair name="Started">
              {full(s.started)}, up {span(s.uptime_seconds * 1000)}
            </Pair>
            <Pair name="Record">{bytes(s.store_bytes)}</Pair>
            <Pair name="Dependencies">{s.degraded.length === 0 ? 'all well' : `${s.degraded.join(', ')} failing`}</Pair>
          </Pairs>
        )}
      </Loaded>
      <Prices />
    </Section>
  )
}

function Configuration() {
  const query = useQuery(configQuery)
  return (
    <Loaded query={query} thing="the configuration">
      {(yaml) => (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md" style={{ alignItems: 'start' }}>
            <Part title="Providers" yaml={sectionOf(yaml, 'providers')} />
            <Part title="Retention" yaml={sectionOf(yaml, 'retention')} />
          </SimpleGrid>
          <Part title="Configuration in force" aside="without secrets; change the file and send SIGHUP" yaml={yaml} />
        </>
      )}
    </Loaded>
  )
}

function Part({ title, aside, yaml }: { title: string; aside?: string; yaml: string }) {
  return (
    <Section title={title} aside={aside}>
      <Code block mah={320} style={{ overflow: 'auto' }} tabIndex={0}>
        {yaml || 'As built in'}
      </Code>
    </Section>
  )
}

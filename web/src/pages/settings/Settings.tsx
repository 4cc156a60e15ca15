import { Code, Group, SimpleGrid, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { configQuery, statusQuery } from '../../api/service'
import { bytes } from '../../format/figures'
import { full, span } from '../../format/time'
import { Dot } from '../../parts/Dot'
import { Pair, Pairs } from '../../parts/Facts'
import { Loaded } from '../../parts/Loaded'
import { Prices } from '../../parts/Prices'
import { Section } from '../../parts/Section'
import { AuditLog } from './AuditLog'
import { BypassCard } from './BypassCard'
import { Keys } from './Keys'
import { Nodes } from './Nodes'
import { Tokens } from './Tokens'
import { Upstreams } from './Upstreams'
import { Users } from './Users'
import { sectionOf } from './yaml'
import { useTitle } from '../../parts/useTitle'

/** Settings is what concerns haltd as a whole. */
export default function Settings() {
  useTitle('Settings')
  return (
    <Stack gap="md">
      <Title order={1}>Settings</Title>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Process />
        <Store />
      </SimpleGrid>
      <Nodes />
      <Upstreams />
      <Keys />
      <Users />
      <Tokens />
      <AuditLog />
      <BypassCard />
      <Configuration />
    </Stack>
  )
}

function Process() {
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
          </Pairs>
        )}
      </Loaded>
    </Section>
  )
}

function Store() {
  const query = useQuery(statusQuery)
  const config = useQuery(configQuery).data ?? ''
  return (
    <Section title="Storage">
      <Loaded query={query} thing="the status">
        {(s) => (
          <Pairs>
            <Pair name="State">
              <Group gap={6} justify="flex-end">
                <Dot color={s.degraded.includes('store') ? 'amber' : 'green'} />
                {s.degraded.includes('store') ? 'Does not answer' : 'OK'}
              </Group>
            </Pair>
            <Pair name="Size">{bytes(s.store_bytes)}</Pair>
            <Pair name="Folder">
              <span className="mono">{sectionOf(config, 'data_dir')}</span>
            </Pair>
            <Pair name="Retention">
              <span className="mono">{sectionOf(config, 'retention')}</span>
            </Pair>
            <Pair name="Excerpts">{excerptWords(s.excerpts, s.excerpts_kept_seconds)}</Pair>
          </Pairs>
        )}
      </Loaded>
    </Section>
  )
}

function Configuration() {
  const query = useQuery(configQuery)
  return (
    <Section title="Current configuration" aside="without secrets; change the file and send SIGHUP">
      <Loaded query={query} thing="the configuration">
        {(yaml) => (
          <Code block mah={480} style={{ overflow: 'auto' }} tabIndex={0}>
            {yaml}
          </Code>
        )}
      </Loaded>
      <Prices />
    </Section>
  )
}

function excerptWords(mode: string, kept: number): string {
  if (mode === 'off') return 'not stored'
  return `${mode === 'on' ? 'of all calls' : 'with incidents only'}, kept ${kept > 0 ? `for ${span(kept * 1000)}` : 'as long as their events'}`
}

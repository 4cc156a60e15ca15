import { Text } from '@mantine/core'
import type { Evidence } from '../../api/evidence'
import { count } from '../../format/figures'
import { Section } from '../../parts/Section'
import { Sparkline } from '../../parts/Sparkline'

/** GrowthCard shows the prompt tokens that grew. */
export function GrowthCard({ evidence }: { evidence: Evidence }) {
  const tokens = evidence.signals.find((s) => s.detector === 'growth')?.tokens ?? []
  if (tokens.length === 0) return null
  return (
    <Section title="Prompt tokens" aside="the calls that were compared">
      <Sparkline values={tokens} width={320} height={64} label="Prompt tokens per call" color="var(--amber-fill)" />
      <Text size="sm" mt="xs">
        {tokens.map(count).join(' → ')}
      </Text>
    </Section>
  )
}

import type { NewRule } from '../../api/shapes'

/** faultsOf says by field what keeps a rule from being saved. */
export function faultsOf(rule: NewRule): Record<string, string> {
  const faults: Record<string, string> = {}
  if (rule.name.trim() === '') faults.name = 'Give the rule a name'
  const delay = rule.action_config?.delay_ms ?? 0
  if (rule.action === 'throttle' && (delay < 1 || delay > 30_000)) faults.delay_ms = 'From 1 to 30,000 ms'
  if (rule.action === 'tag' && !rule.action_config?.tag?.trim()) faults.tag = 'Say which tag to put on the event'
  const { prompt_tokens_min: min, prompt_tokens_max: max } = rule.condition
  if (min !== undefined && max !== undefined && min > max) faults.prompt_tokens = 'Above the upper limit: nothing would match'
  return faults
}

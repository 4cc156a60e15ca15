import type { Rule, RuleCondition } from '../../api/shapes'
import { count } from '../../format/figures'
import { visible } from '../../format/visible'

/** conditionWords says when a rule matches. */
export function conditionWords(c: RuleCondition): string {
  const said: string[] = []
  if (c.agent) said.push(`agent ${c.agent}`)
  if (c.session) said.push(`session ${visible(c.session)}`)
  if (c.provider) said.push(`provider ${visible(c.provider)}`)
  if (c.model) said.push(`model ${visible(c.model)}`)
  if (c.model_pattern) said.push(`model like ${visible(c.model_pattern)}`)
  if (c.path) said.push(`path ${visible(c.path)}`)
  const { prompt_tokens_min: min, prompt_tokens_max: max } = c
  if (min !== undefined && max !== undefined) said.push(`${count(min)} to ${count(max)} prompt tokens`)
  else if (min !== undefined) said.push(`${count(min)} prompt tokens or more`)
  else if (max !== undefined) said.push(`${count(max)} prompt tokens at most`)
  if (c.hour_min !== undefined || c.hour_max !== undefined) said.push(`hours ${c.hour_min ?? 0} to ${c.hour_max ?? 23}`)
  if (c.day_of_week && c.day_of_week.length > 0) said.push(`on ${c.day_of_week.join(', ')}`)
  return said.length === 0 ? 'every call' : said.join(' and ')
}

/** actionWords says what a rule does. */
export function actionWords(rule: Rule): string {
  const config = rule.action_config
  switch (rule.action) {
    case 'reject':
      return `reject, retry after ${config.retry_after_seconds || 60} s`
    case 'throttle':
      return `throttle ${count(config.delay_ms ?? 0)} ms`
    case 'tag':
      return `tag ${visible(config.tag ?? '')}`
    default:
      return rule.action
  }
}

export function actionColor(action: string): 'red' | 'amber' | 'green' | 'gray' {
  if (action === 'block' || action === 'reject') return 'red'
  if (action === 'throttle' || action === 'warn') return 'amber'
  return action === 'allow' ? 'green' : 'gray'
}

// The words of the API, by the names its own description gives them.
import type { components, paths } from './schema'

type Schemas = components['schemas']
type Answer<P extends keyof paths, M extends keyof paths[P]> = paths[P][M] extends {
  responses: { 200: { content: { 'application/json': infer T } } }
}
  ? T
  : never
type Body<P extends keyof paths, M extends keyof paths[P]> = paths[P][M] extends {
  requestBody?: { content: { 'application/json': infer T } }
}
  ? T
  : never

export type Agent = Answer<'/v1/agents', 'get'>['agents'][number]
export type AgentDetail = Answer<'/v1/agents/{id}', 'get'>
export type AlertRule = Schemas['AlertRule']
export type Audit = Schemas['Audit']
export type AuditEntry = Answer<'/v1/audit', 'get'>['entries'][number]
export type Budget = Schemas['Budget']
export type Channel = Schemas['Channel']
export type Contribution = Schemas['Contribution']
export type Delivery = Schemas['Delivery']
export type Event = Schemas['Event']
export type Excerpt = Schemas['Excerpt']
export type HourRange = Schemas['HourRange']
/** ListedIncident is an incident of a list, with what its repeats cost. */
export type ListedIncident = Answer<'/v1/incidents', 'get'>['incidents'][number]
export type Incident = Omit<ListedIncident, 'burned_usd' | 'burned_calls'>
export type IncidentCount = Schemas['IncidentCount']
export type IncidentExcerpt = Schemas['IncidentExcerpt']
export type RoundExcerpt = Schemas['RoundExcerpt']
export type IncidentDetail = Answer<'/v1/incidents/{id}', 'get'>
export type Key = Schemas['KeyView']
export type Token = Schemas['Token']
export type User = Schemas['User']
export type KillSwitch = Schemas['KillSwitch']
export type KillSwitchChange = Body<'/v1/agents/{id}/kill-switch', 'patch'>
export type Match = Schemas['Match']
export type PeriodSpending = Schemas['PeriodSpending']
export type Policy = Schemas['Policy']
export type PolicyChange = Body<'/v1/agents/{id}', 'patch'>
export type RoundEvidence = Schemas['RoundEvidence']
export type Rule = Schemas['Rule']
export type RuleCondition = Schemas['RuleCondition']
export type ScorePoint = Schemas['ScorePoint']
export type Section = Schemas['Section']
export type Setting = Schemas['Setting']
export type Session = Schemas['Session']
export type Signal = Schemas['Signal']
export type Standing = Schemas['Standing']
export type StatBucket = Schemas['StatBucket']
export type StatGroup = Schemas['StatGroup']
export type Stats = Schemas['Stats']
export type Totals = Schemas['Totals']
export type Upstream = Schemas['Upstream']
export type Verdict = Schemas['Verdict']
export type WhatIf = Answer<'/v1/incidents/{id}/what-if', 'get'>
export type NewRule = Body<'/v1/rules', 'post'>
export type RuleChange = Body<'/v1/rules/{id}', 'patch'>
export type NewChannel = Body<'/v1/channels', 'post'>
export type ChannelChange = Body<'/v1/channels/{id}', 'patch'>
export type NewAlertRule = Body<'/v1/alert-rules', 'post'>
export type AlertRuleChange = Body<'/v1/alert-rules/{id}', 'patch'>

import type { FhirNode } from '../../fhirpath/index.js'
import { isObject } from '../../json/index.js'
import { defineFinding, type FindingDefinition } from '../run/finding.js'
import type { ResourceRule, Run } from '../run/run.js'

const OBSERVATION_ADVICE: FindingDefinition = defineFinding(
  'observation-advice',
  'warning',
  'invalid',
  'Say whom the observation is about, who made it, and when.',
)

/** Observations, if best practices are checked. */
export const observationRule: ResourceRule = {
  on: ['Observation'],
  finds: [OBSERVATION_ADVICE],
  check: checkObservation,
}

const ADVICE = [
  { has: ['subject'], text: 'Best practice: in general, all observations should have a subject.' },
  { has: ['performer'], text: 'Best practice: in general, all observations should have a performer.' },
  {
    has: ['effectiveDateTime', 'effectivePeriod', 'effectiveTiming', 'effectiveInstant'],
    text: 'Best practice: in general, all observations should have an effective date, period, timing or instant.',
  },
] as const

function checkObservation(run: Run, node: FhirNode): void {
  const { bestPractice } = run.policy
  const { value } = node
  if (bestPractice === 'off' || !isObject(value)) return
  for (const { has, text } of ADVICE) {
    if (has.some((name) => Object.hasOwn(value, name) || Object.hasOwn(value, `_${name}`))) continue
    run.findings.report(OBSERVATION_ADVICE, node, { text, severity: bestPractice })
  }
}

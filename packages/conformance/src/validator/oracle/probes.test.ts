import { expect, test } from 'vitest'
import { ALL, representative } from '../../../../../test/effort.js'
import { DECIDED_OF_SERIES } from './series-decisions.js'
import { DECIDED_OF_INTEGRATORS } from './integrator-decisions.js'
import { isValidHere } from './issue.js'
import { DECIDED_OF_KINDS } from './kind-decisions.js'
import { DECIDED_OF_MESSAGES } from './message-decisions.js'
import { DECIDED_OF_OPTIONS } from './option-decisions.js'
import { DECIDED_OF_RULES } from './rule-decisions.js'
import { DECIDED_OF_SIGNATURES } from './signature-decisions.js'
import { DECIDED_OF_SNAPSHOTS } from './snapshot-decisions.js'
import { DECIDED } from './probe-decisions.js'
import { knownProbes } from './probes.js'

const DECISIONS = [
  ...DECIDED,
  ...DECIDED_OF_RULES,
  ...DECIDED_OF_SIGNATURES,
  ...DECIDED_OF_SNAPSHOTS,
  ...DECIDED_OF_OPTIONS,
  ...DECIDED_OF_SERIES,
  ...DECIDED_OF_MESSAGES,
  ...DECIDED_OF_KINDS,
  ...DECIDED_OF_INTEGRATORS,
]

test("probes of single rules have the verdict of HL7's Java validator, or another that has been decided", async () => {
  const undecided: string[] = []
  const needed = new Set<string>()
  for (const probe of representative(knownProbes(), { every: 30 })) {
    if ((await isValidHere(probe)) === probe.isValid) continue
    const decision = DECISIONS.find(({ probes }) => probes.test(probe.name))
    if (decision === undefined) undecided.push(`${probe.name}: ${probe.isValid ? 'valid' : 'not valid'} there`)
    else needed.add(decision.why)
  }
  expect(undecided).toEqual([])
  if (ALL) expect(DECISIONS.filter(({ why }) => !needed.has(why))).toEqual([])
})

test('each decision on probes cites the paragraph by which ours is right', () => {
  expect(DECISIONS.filter(({ isLimit, why }) => isLimit !== true && !/\]\(https:\/\/[^\s)#]+#[^\s)]+\)/.test(why))).toEqual([])
})

import { pathOf, type FhirNode } from '../../../fhirpath/index.js'
import { finished, type Work } from '../../../work/index.js'
import type { ElementRule } from '../../run/element-rule.js'
import { createSink } from '../../run/finding-sink.js'
import type { Run } from '../../run/run.js'

/** Rules to try, with a name for them that tells them from all others. */
export interface Trial {
  readonly rules: readonly ElementRule[]
  readonly key: string
}

/** Whether a node obeys rules; nothing is reported. What is under way already, because profiles lead in a circle, is taken as good. */
export function conforms(run: Run, node: FhirNode, { rules, key }: Trial): boolean {
  const name = `${pathOf(node)} ${key}`
  const known = run.trials.get(name)
  if (known !== undefined) return known
  run.trials.set(name, true)
  const sink = createSink(1)
  const now = (work: () => Work<void>): void => finished(work())
  run.visit({ ...run, findings: sink, isStructural: false, bestPractice: 'off', later: now, atEnd: now }, node, rules)
  const result = sink.errors === 0
  run.trials.set(name, result)
  return result
}

import type { FhirNode } from '../../../fhirpath/index.js'
import type { ElementRule } from '../../profile/element-rule.js'
import type { Run } from '../../walk/run.js'

/** How often an element or slice is there. */
export interface Count {
  readonly rule: ElementRule
  readonly count: number
}

/** Reports at the parent when there are fewer or more than the rule allows. */
export function checkCount(run: Run, parent: FhirNode, { rule, count }: Count): void {
  if (count < rule.min) reportTooFew(run, parent, { rule, count })
  if (count > rule.max) {
    run.sink.report('too-many', parent, {
      text: rule.max === 0 ? `${named(rule)} is not allowed here.` : `${named(rule)} is allowed ${rule.max} times, but there are ${count}.`,
      ...from(rule),
    })
  }
}

/** Reports that there are fewer than the rule demands. */
export function reportTooFew(run: Run, parent: FhirNode, { rule, count }: Count): void {
  run.sink.report('too-few', parent, {
    text: rule.min === 1 ? `${named(rule)} is required.` : `${named(rule)} is required ${rule.min} times, but there are ${count}.`,
    ...from(rule),
  })
}

function named(rule: ElementRule): string {
  return rule.sliceName === undefined ? `'${rule.name}'` : `Slice '${rule.sliceName}' of '${rule.name}'`
}

function from(rule: ElementRule): { profile?: string } {
  return rule.isBase ? {} : { profile: rule.profile }
}

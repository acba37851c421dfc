import type { SupplementValues } from 'fhir-ops/internal/evaluate'
import type { Evaluation } from '../compile/compiler.js'
import { literalText } from '../values/text.js'
import { isFhir, isList, type Value } from '../values/value.js'
import type { CompiledCriterion } from './criterion.js'
import type { Prepared } from './prepare.js'
import { referenceOf } from './items.js'
import { stratumValueOf } from './values.js'

/** Adds up supplemental data, or a risk adjustment factor, of subjects. */
export interface SupplementTotal {
  add(evaluation: Evaluation): void
  values(): SupplementValues
}

/** Begins the total of one of the Measure's supplements. Null is nobody's value; what a subject has twice counts once. */
export function supplementTotal(criterion: CompiledCriterion, { model, offset }: Prepared): SupplementTotal {
  const counts = new Map<string, { readonly value: ReturnType<typeof valueOf>; count: number }>()
  const resources = new Set<string>()
  const valueOf = (value: Value): NonNullable<ReturnType<typeof stratumValueOf>> =>
    stratumValueOf(value, { model, offset }) ?? { concept: { text: literalText(value) } }
  return {
    add: (evaluation) => {
      const value = criterion.ofSubject?.(evaluation) ?? criterion.ofItem?.(evaluation, evaluation.subject) ?? null
      const own = new Map<string, ReturnType<typeof valueOf>>()
      for (const item of isList(value) ? value : [value]) {
        if (item === null) continue
        if (isFhir(item) && item.type.kind === 'resource') resources.add(referenceOf(item))
        else {
          const made = valueOf(item)
          own.set(JSON.stringify(made), made)
        }
      }
      for (const [key, made] of own) {
        const known = counts.get(key) ?? { value: made, count: 0 }
        known.count++
        counts.set(key, known)
      }
    },
    values: () => ({ values: [...counts.values()].map(({ value, count }) => ({ value, count })), resources: [...resources] }),
  }
}

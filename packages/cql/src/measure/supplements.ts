import { supplementTotal, type StratumValue, type SumOfValue, type SupplementValues } from 'fhir-ops/internal/evaluate'
import type { Evaluation } from '../compile/compiler.js'
import { literalText } from '../values/text.js'
import { isFhir, isList } from '../values/value.js'
import type { CompiledCriterion } from './criterion.js'
import type { Prepared } from './prepare.js'
import { referenceOf } from './items.js'
import { stratumValueOf } from './values.js'

/** Supplemental data or a risk adjustment factor, with the total of its values for subjects. */
export interface EvaluatedSupplement {
  /** The values of one subject, by their JSON. */
  valuesOf(evaluation: Evaluation): ReadonlyMap<string, StratumValue>
  add(subject: string, values: ReadonlyMap<string, StratumValue>): void
  sum(): readonly SumOfValue[]
  values(): SupplementValues
}

/**
 * Creates the total of one of the Measure's supplements. Null does not count; a value that a subject has twice counts once; resources are named only for a
 * single subject.
 */
export function evaluatedSupplement(
  criterion: CompiledCriterion,
  { prepared, individual }: { readonly prepared: Prepared; readonly individual: boolean },
): EvaluatedSupplement {
  const { model, offset } = prepared
  const total = supplementTotal()
  const resources = new Set<string>()
  return {
    valuesOf: (evaluation) => {
      const value = criterion.ofSubject?.(evaluation) ?? criterion.ofItem?.(evaluation, evaluation.subject) ?? null
      const own = new Map<string, StratumValue>()
      for (const item of isList(value) ? value : [value]) {
        if (item === null) continue
        if (!isFhir(item) || item.type.kind !== 'resource') {
          const made = stratumValueOf(item, { model, offset }) ?? { concept: { text: literalText(item) } }
          own.set(JSON.stringify(made), made)
        } else if (individual) resources.add(referenceOf(item))
      }
      return own
    },
    add: (subject, values) => total.add(subject, values),
    sum: () => total.sum(),
    values: () => ({ values: total.values(), resources: [...resources] }),
  }
}

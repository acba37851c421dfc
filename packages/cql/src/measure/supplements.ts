import type { StratumValue, SupplementValues } from 'fhir-ops/internal/evaluate'
import type { Evaluation } from '../compile/compiler.js'
import { literalText } from '../values/text.js'
import { isFhir, isList } from '../values/value.js'
import type { CompiledCriterion } from './criterion.js'
import { compareText } from './groups.js'
import type { Prepared } from './prepare.js'
import { referenceOf } from './items.js'
import { stratumValueOf } from './values.js'

/** Adds up supplemental data, or a risk adjustment factor, of subjects, in whatever order they come. */
export interface SupplementTotal {
  /** The values of one subject, by their JSON. */
  valuesOf(evaluation: Evaluation): ReadonlyMap<string, StratumValue>
  add(subject: string, values: ReadonlyMap<string, StratumValue>): void
  values(): SupplementValues
}

interface Counted {
  readonly value: StratumValue
  count: number
  /** The first subject that has it, by id. */
  first: string
}

/** Begins the total of one of the Measure's supplements. Null is nobody's value; what a subject has twice counts once; resources are named for a single subject. */
export function supplementTotal(
  criterion: CompiledCriterion,
  { prepared, individual }: { readonly prepared: Prepared; readonly individual: boolean },
): SupplementTotal {
  const { model, offset } = prepared
  const counts = new Map<string, Counted>()
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
    add: (subject, own) => {
      for (const [key, made] of own) {
        const known = counts.get(key) ?? { value: made, count: 0, first: subject }
        known.count++
        if (subject < known.first) known.first = subject
        counts.set(key, known)
      }
    },
    values: () => ({
      values: [...counts.values()]
        .toSorted((one, other) => compareText(one.first, other.first))
        .map(({ value, count }) => ({ value, count })),
      resources: [...resources],
    }),
  }
}

import type { Criterion } from 'fhir-ops/internal/evaluate'
import { OperationError } from 'fhir-ops/errors'
import type { ExplainedCriterion } from 'fhir-ops/internal/explain'
import { compiledCriterion } from '../measure/criterion.js'
import type { Prepared } from '../measure/prepare.js'
import { isList, type Value } from '../values/value.js'
import { quote } from './comparison.js'
import { cut } from './clause-text.js'
import { titleOf, type ExplainedHead } from './explain-criteria.js'
import type { ReasonScope } from './reason-scope.js'
import { shownValue } from './shown-value.js'

/** A criterion in FHIRPath. */
interface PathCriterion {
  readonly population: Criterion
  readonly prepared: Prepared
  readonly reasons: ReasonScope
}

/** Why a criterion in FHIRPath has its result: of parts that are joined by `and`, the first that does not hold. */
export function pathReason(head: ExplainedHead, { population, prepared, reasons }: PathCriterion): ExplainedCriterion {
  const { decided, ...own } = head
  const parts = conjuncts(population.expression).map((expression) => ({
    expression,
    value: valueOf({ ...population, expression }, prepared, reasons),
  }))
  const deciding = head.result === 'true' ? undefined : parts.find(({ value }) => !holds(value))
  const told = deciding ?? { expression: population.expression, value: valueOf(population, prepared, reasons) }
  const because =
    decided ?? `${quote(cut(told.expression))} is ${told.value === undefined ? 'not evaluable' : shownValue(told.value, reasons.context)}`
  const steps = parts.map(({ expression, value }) => {
    const result = value === undefined ? 'failed' : shownValue(value, reasons.context)
    return { kind: 'clause', result, text: `${quote(cut(expression))} is ${result}.` } as const
  })
  return { ...own, reason: `${titleOf(head)} because ${because}.`, nearest: [], steps, evaluated: [] }
}

function valueOf(criterion: Criterion, prepared: Prepared, { evaluation }: ReasonScope): Value | undefined {
  try {
    return compiledCriterion(criterion, prepared).ofSubject?.(evaluation) ?? null
  } catch (error) {
    if (error instanceof OperationError) return undefined
    throw error
  }
}

function holds(value: Value | undefined): boolean {
  return value !== undefined && value !== null && value !== false && !(isList(value) && value.length === 0)
}

/** The parts that a path joins by `and`, outside of texts and brackets; the whole where it has an operator that binds less. */
function conjuncts(path: string): readonly string[] {
  const parts: string[] = []
  let [depth, from, quoteMark] = [0, 0, '']
  for (let at = 0; at < path.length; at++) {
    const character = path.charAt(at)
    if (quoteMark !== '') {
      if (character === '\\') at++
      else if (character === quoteMark) quoteMark = ''
    } else if (character === "'" || character === '`' || character === '"') quoteMark = character
    else if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character)) depth--
    else if (depth === 0 && character === ' ') {
      const word = /^ {1,9}(and|or|xor|implies)\b/.exec(path.slice(at, at + 20))
      if (word === null) continue
      if (word[1] !== 'and') return [path]
      parts.push(path.slice(from, at).trim())
      from = at + word[0].length
    }
  }
  return [...parts, path.slice(from).trim()]
}

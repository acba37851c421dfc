import { testedBitmap } from 'fhir-ops/internal/bits'
import { readySet } from 'fhir-ops/internal/terminology'
import { finished, type Work } from 'fhir-ops/internal/work'
import { bitmapFrom, type Bitmap, type ConceptSet, type Filter } from 'fhir-ops/terminology'
import { EclError } from '../ecl/index.js'
import { concreteKey, concreteText, rowsOf, type RowRange } from '../evaluate/ecl-scope.js'
import { normalForm, parseExpression, type Expression, type NormalForm } from '../expression/expression.js'
import type { SnomedSystem } from '../open-snomed.js'
import type { SnomedIndex } from '../release/snomed-index.js'

/** What filters need. */
export interface FilterScope {
  readonly system: SnomedSystem
  readonly expressions: ExpressionTable
}

/**
 * Returns the concepts that meet one of SNOMED CT's own filters: `constraint` (ECL), `expressions`, `concept in` a reference set, `parent`,
 * `child`, and attributes by id.
 *
 * @returns `undefined` for filters that every code system supports.
 * @see https://hl7.org/fhir/R4/snomedct.html
 */
export function snomedFilter(scope: FilterScope, filter: Filter): ConceptSet | undefined {
  const { property, op, value } = filter
  if (property === 'constraint' && op === '=') return constraintSet(scope, value)
  if (property === 'expressions' && op === '=') return expressionsSet(scope, value)
  if (namesRefset(filter)) return refsetSet(scope, value)
  if (op === '=' || op === 'in') return relationSet(scope, filter)
  return undefined
}

/**
 * True for filters that may select inactive concepts deliberately: by a reference set, by their status, or by a constraint (in constraints, the wildcard
 * and the hierarchy contain only active ones).
 */
export function takesInactive(filter: Filter): boolean {
  return filter.property === 'constraint' || filter.property === 'inactive' || namesRefset(filter)
}

function namesRefset({ property, op }: Filter): boolean {
  return (property === 'concept' || property === 'code') && op === 'in'
}

function constraintSet({ system, expressions }: FilterScope, text: string): ConceptSet {
  const query = system.ecl(text)
  const asked = function* (concept: number): Work<boolean> {
    const expression = expressions.get(concept)
    return expression === undefined ? (yield* query.all()).has(concept) : yield* query.admits(expression.form)
  }
  return { has: (concept) => finished(asked(concept)), asked, all: () => query.all() }
}

function expressionsSet({ system, expressions }: FilterScope, value: string): ConceptSet | undefined {
  if (value !== 'true' && value !== 'false') return undefined
  return readySet(
    (concept) => value === 'true' || expressions.get(concept) === undefined,
    () => system.index.all(),
  )
}

function refsetSet({ system }: FilterScope, value: string): ConceptSet | undefined {
  const { refsets } = system.index
  return refsets.find(value) === undefined ? undefined : plain(() => refsets.members(value))
}

function relationSet(scope: FilterScope, { property, op, value }: Filter): ConceptSet | undefined {
  const { index } = scope.system
  const values = op === 'in' ? value.split(',').map((one) => one.trim()) : [value]
  const named = values.flatMap((one) => index.ids.find(one) ?? [])
  if (property === 'parent')
    return plain(() =>
      bitmapFrom(
        named.flatMap((concept) => [...index.children(concept)]),
        index.size,
      ),
    )
  if (property === 'child')
    return plain(() =>
      bitmapFrom(
        named.flatMap((concept) => [...index.parents(concept)]),
        index.size,
      ),
    )
  const type = index.ids.find(property)
  return type === undefined ? undefined : attributeSet(scope, type, values)
}

function attributeSet({ system, expressions }: FilterScope, type: number, values: readonly string[]): ConceptSet {
  const { index } = system
  const [wanted, numbers] = [new Set(values), new Set(values.map(concreteKey))]
  const isWanted = (range: RowRange, value: number): boolean => {
    const text = concreteText(index, range, value)
    if (text === undefined) return wanted.has(index.id(value))
    return text.startsWith('"') ? wanted.has(text.slice(1, -1)) : numbers.has(concreteKey(text))
  }
  const has = (concept: number): boolean => {
    const range = expressions.get(concept)?.form.range ?? rowsOf(index, concept)
    const { rows, from, to } = range
    for (let row = from; row < to; row++) {
      if (rows.types[row] === type && isWanted(range, rows.values[row] ?? 0)) return true
    }
    return false
  }
  return { has, all: () => testedBitmap(index.size, has) }
}

function plain(make: () => Bitmap): ConceptSet {
  let made: Bitmap | undefined
  const all = (): Bitmap => (made ??= make())
  return readySet((concept) => all().has(concept), all)
}

/** A code that has been recognized as an expression. */
export interface KnownExpression {
  /** Expression as written. */
  readonly code: string
  readonly expression: Expression
  readonly form: NormalForm
}

/** The expressions that occurred in one request. They are numbered after the concepts. */
export interface ExpressionTable {
  readonly count: number
  /** True after a code that looks like an expression has occurred. */
  isUsed(): boolean
  /** Returns the number of an expression; `undefined` if the code is not one. */
  find(code: string): number | undefined
  /** Returns the expression with a number; `undefined` for the number of a concept. */
  get(concept: number): KnownExpression | undefined
  /** Says why a code is not an expression; `undefined` if it is one, or does not look like one. */
  whyNot(code: string): string | undefined
}

const MAX_LENGTH = 10_000

/** Creates an empty table. */
export function expressionTable(index: SnomedIndex): ExpressionTable {
  const known: KnownExpression[] = []
  const met = new Map<string, number | string>()
  const meet = (code: string): number | string => {
    const read = readExpression(index, code)
    return typeof read === 'string' ? read : index.size + known.push(read) - 1
  }
  const look = (code: string): number | string => {
    const found = met.get(code) ?? meet(code)
    met.set(code, found)
    return found
  }
  return {
    get count() {
      return known.length
    },
    isUsed: () => met.size > 0,
    find(code) {
      const found = looksLikeOne(code) ? look(code) : undefined
      return typeof found === 'number' ? found : undefined
    },
    get: (concept) => (concept < index.size ? undefined : known[concept - index.size]),
    whyNot(code) {
      const found = /[^0-9]/.test(code) ? look(code) : 0
      return typeof found === 'string' ? found : undefined
    },
  }
}

/** True for a code that begins like an expression. Others, such as names of properties, are not worth remembering. */
function looksLikeOne(code: string): boolean {
  return /^(?:===|<<<)?\s*[0-9]/.test(code) && /[^0-9]/.test(code) && code === code.trimEnd()
}

function readExpression(index: SnomedIndex, code: string): KnownExpression | string {
  if (code !== code.trim()) return 'A code does not begin or end with white space'
  if (!looksLikeOne(code)) return 'An expression does not begin like this'
  if (code.length > MAX_LENGTH) return `It is longer than ${MAX_LENGTH} characters`
  try {
    const expression = parseExpression(index, code)
    return { code, expression, form: normalForm(index, expression) }
  } catch (error) {
    if (error instanceof EclError) return error.message
    throw error
  }
}

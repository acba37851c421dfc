import { testedBitmap } from 'fhir-ops/internal/bits'
import { readySet } from 'fhir-ops/internal/terminology'
import { finished, type Work } from 'fhir-ops/internal/work'
import { bitmapFrom, type Bitmap, type ConceptSet, type Filter } from 'fhir-ops/terminology'
import { EclError } from '../ecl/index.js'
import { rowsOf } from '../evaluate/ecl-scope.js'
import { normalForm, parseExpression, type Expression, type NormalForm } from '../expression/expression.js'
import type { SnomedSystem } from '../open-snomed.js'
import { CONCRETE, isConcrete } from '../release/section-reader.js'
import type { SnomedIndex } from '../release/snomed-index.js'

/** What filters work with. */
export interface FilterScope {
  readonly system: SnomedSystem
  readonly expressions: ExpressionTable
}

/**
 * The concepts for which one of SNOMED CT's own filters holds: `constraint` (ECL), `expressions`, `concept in` a reference set, `parent`,
 * `child`, and attributes by their ids.
 *
 * @returns `undefined` for a filter that every code system has.
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
 * True for filters that take inactive concepts knowingly: by a reference set, by their status, or by a constraint, of which the wild card and
 * the hierarchy hold active ones only.
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
  const wanted = new Set(values)
  const textOf = (value: number): string =>
    isConcrete(value) ? (index.header.values[value - CONCRETE] ?? '').replaceAll('"', '') : index.id(value)
  const has = (concept: number): boolean => {
    const { rows, from, to } = expressions.get(concept)?.form.range ?? rowsOf(index, concept)
    for (let row = from; row < to; row++) {
      if (rows.types[row] === type && wanted.has(textOf(rows.values[row] ?? 0))) return true
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

/** An expression that was found to be one. */
export interface KnownExpression {
  /** As it was written. */
  readonly code: string
  readonly expression: Expression
  readonly form: NormalForm
}

/** The expressions that one request has met. They are numbered after the concepts. */
export interface ExpressionTable {
  readonly count: number
  /** True once it has met what looks like an expression. */
  isUsed(): boolean
  /** The number of an expression, `undefined` when the code is not one. */
  find(code: string): number | undefined
  /** Absent for the number of a concept. */
  get(concept: number): KnownExpression | undefined
  /** Why a code is not an expression; `undefined` when it is one, or does not look like one. */
  whyNot(code: string): string | undefined
}

const MAX_LENGTH = 10_000

/** Makes an empty table. */
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

/** What begins otherwise, as the names of properties, is not worth remembering. */
function looksLikeOne(code: string): boolean {
  return /^(?:===|<<<)?\s*[0-9]/.test(code.trimStart()) && /[^0-9]/.test(code)
}

function readExpression(index: SnomedIndex, code: string): KnownExpression | string {
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

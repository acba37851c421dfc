import { MONTH, YEAR, type Temporal } from '../values/temporal.js'
import { isInterval, isTemporal, type Value } from '../values/value.js'
import { localName, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { precisionAt } from './operators.js'
import type { Filter, Narrowing, NarrowingDates, References } from './compiler.js'

/** What must hold of single elements of every item that passes: comparisons with texts and with dates of the request, joined by `and`. */
export function narrowingOf({ where, alias }: Filter, references: References): readonly Narrowing[] {
  return conjunctsOf(where).flatMap((node) => {
    const operands = nodesAt(node, 'operand')
    const [left, right] = operands
    if (left === undefined || right === undefined || operands.length !== 2) return []
    return codesAt(node, { left, right, alias }) ?? datesAt(node, { left, right, alias }, references) ?? []
  })
}

/** The condition that a query asks of what its source finds, where that is a retrieve. */
export function filterOf(source: ElmNode, where: ElmNode | undefined): Filter | undefined {
  if (where === undefined || typeOf(nodeAt(source, 'expression') ?? {}) !== 'Retrieve') return undefined
  return { where, alias: textAt(source, 'alias') ?? '' }
}

interface Operands {
  readonly left: ElmNode
  readonly right: ElmNode
  readonly alias: string
}

/** The conditions that are joined by `and`. */
export function conjunctsOf(node: ElmNode): readonly ElmNode[] {
  return typeOf(node) === 'And' ? nodesAt(node, 'operand').flatMap(conjunctsOf) : [node]
}

/** `E.status = 'finished'`, `E.status in { 'final', 'amended' }`. */
function codesAt(node: ElmNode, { left, right, alias }: Operands): Narrowing | undefined {
  const type = typeOf(node)
  if (type === 'In') return typeOf(right) === 'List' ? codesOf(elementOf(left, alias), nodesAt(right, 'element')) : undefined
  if (type !== 'Equal') return undefined
  return codesOf(elementOf(left, alias), [right]) ?? codesOf(elementOf(right, alias), [left])
}

function codesOf(path: string | undefined, literals: readonly ElmNode[]): Narrowing | undefined {
  const codes = literals.flatMap((literal) => {
    const isText = typeOf(literal) === 'Literal' && localName(textAt(literal, 'valueType') ?? '') === 'String'
    return isText ? [textAt(literal, 'value') ?? ''] : []
  })
  const areCodes = codes.length === literals.length && codes.every((code) => code !== '')
  return path === undefined || codes.length === 0 || !areCodes ? undefined : { path, codes }
}

/** Which bounds of the request's date hold for the element, when the element is the left operand and when it is the right one. */
interface Sides {
  readonly left: readonly ('from' | 'to')[]
  readonly right: readonly ('from' | 'to')[]
}

const LATER: Sides = { left: ['from'], right: ['to'] }
const EARLIER: Sides = { left: ['to'], right: ['from'] }
const WITHIN: Sides = { left: ['from', 'to'], right: [] }

const SIDES: ReadonlyMap<string, Sides> = new Map([
  ['Greater', LATER],
  ['GreaterOrEqual', LATER],
  ['After', LATER],
  ['SameOrAfter', LATER],
  ['Less', EARLIER],
  ['LessOrEqual', EARLIER],
  ['Before', EARLIER],
  ['SameOrBefore', EARLIER],
  ['In', WITHIN],
  ['IncludedIn', WITHIN],
  ['Overlaps', { left: ['from', 'to'], right: ['from', 'to'] }],
])

/** `E.period during "Measurement Period"`, `start of E.period >= start of "Measurement Period"`, and the like. */
function datesAt(node: ElmNode, { left, right, alias }: Operands, references: References): Narrowing | undefined {
  // By month or year, a date of the same month that is outside of the range would do.
  const precision = precisionAt(node)
  const sides = precision === YEAR || precision === MONTH ? undefined : SIDES.get(typeOf(node))
  if (sides === undefined) return undefined
  return (
    datesOf(elementOf(left, alias), boundsOf(right, references), sides.left) ??
    datesOf(elementOf(right, alias), boundsOf(left, references), sides.right)
  )
}

function datesOf(path: string | undefined, bounds: Bounds | undefined, ends: readonly ('from' | 'to')[]): Narrowing | undefined {
  if (path === undefined || bounds === undefined) return undefined
  const dates: NarrowingDates = {
    ...(ends.includes('from') && bounds.low !== undefined && { from: bounds.low.low }),
    ...(ends.includes('to') && bounds.high !== undefined && { to: bounds.high.high }),
  }
  return dates.from === undefined && dates.to === undefined ? undefined : { path, dates }
}

interface Bounds {
  readonly low?: Temporal
  readonly high?: Temporal
}

/** The least and the greatest that a date of the request may be; both are of a single moment the same. */
function boundsOf(node: ElmNode, references: References): Bounds | undefined {
  const type = typeOf(node)
  if (type === 'Start' || type === 'End') {
    const whole = boundsOf(nodeAt(node, 'operand') ?? nodesAt(node, 'operand')[0] ?? {}, references)
    const end = type === 'Start' ? whole?.low : whole?.high
    return end === undefined ? undefined : { low: end, high: end }
  }
  const value: Value = type === 'ParameterRef' ? (references.given(node) ?? null) : null
  if (isTemporal(value)) return { low: value, high: value }
  if (!isInterval(value)) return undefined
  return { ...(isTemporal(value.low) && { low: value.low }), ...(isTemporal(value.high) && { high: value.high }) }
}

const CONVERSIONS: ReadonlySet<string> = new Set(['Start', 'End', 'As', 'ToDateTime', 'ToDate', 'ToInterval', 'ToString'])

/** The element of the alias that a node reads, right below the resource, as it is or converted to a System value. */
export function elementOf(node: ElmNode, alias: string): string | undefined {
  const type = typeOf(node)
  if (type === 'Property') {
    const path = textAt(node, 'path') ?? ''
    if (textAt(node, 'scope') === alias) return path.endsWith('.value') ? path.slice(0, -'.value'.length) : path
    return path === 'value' ? elementOf(nodeAt(node, 'source') ?? {}, alias) : undefined
  }
  const isHelper = type === 'FunctionRef' && textAt(node, 'libraryName') === 'FHIRHelpers'
  const operands = nodesAt(node, 'operand')
  const [only] = operands
  const isConversion = CONVERSIONS.has(isHelper ? (textAt(node, 'name') ?? '') : type)
  return isConversion && operands.length === 1 && only !== undefined ? elementOf(only, alias) : undefined
}

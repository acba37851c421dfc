import { MONTH, YEAR, type Temporal } from '../values/temporal.js'
import { isInterval, isTemporal, type Value } from '../values/value.js'
import { localName, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import { precisionAt } from './operators.js'
import type { Compiler, Filter, Given, NarrowingProof, Narrowing, NarrowingDates, References } from './compiler.js'

/** What a condition is read with. */
type ConstantReading = Pick<Compiler, 'constant' | 'references'>

/** The requirements of a condition on single elements. */
export interface Narrowed {
  readonly conditions: readonly Narrowing[]
  /** Whether `conditions` is the whole condition, each of them has `holds`, and dates are those of one element only. */
  readonly isWhole: boolean
}

/** Derives something from the values that an evaluation gives; `undefined` if nothing follows from them. */
type OfGiven<T> = (given: Given) => T | undefined

/** Requirements on single elements that every item of the result meets: comparisons with texts and with dates of the request, joined by `and`. */
export function narrowingOf({ where, alias }: Filter, { references, constant }: ConstantReading): (given: Given) => Narrowed {
  const conjuncts = conjunctsOf(where)
  const parts = conjuncts.flatMap((node): OfGiven<Narrowing>[] => {
    const operands = nodesAt(node, 'operand')
    const [left, right] = operands
    if (left === undefined || right === undefined || operands.length !== 2) return []
    const codes = codesAt(node, { left, right, alias, references })
    const part = codes === undefined ? datesAt(node, { left, right, alias, references, constant }) : (): Narrowing => codes
    return part === undefined ? [] : [part]
  })
  return (given) => {
    const conditions = parts.flatMap((part) => part(given) ?? [])
    const dated = new Set(conditions.flatMap(({ path, dates }) => (dates === undefined ? [] : [path])))
    const isWhole = conditions.length === conjuncts.length && conditions.every(({ holds }) => holds !== undefined) && dated.size < 2
    return { conditions, isWhole }
  }
}

/** The condition of a query over a source, if that is a retrieve. */
export function filterOf(source: ElmNode, where: ElmNode | undefined): Filter | undefined {
  if (where === undefined || typeOf(nodeAt(source, 'expression') ?? {}) !== 'Retrieve') return undefined
  return { where, alias: textAt(source, 'alias') ?? '' }
}

interface Operands {
  readonly left: ElmNode
  readonly right: ElmNode
  readonly alias: string
  readonly references: References
}

/** The conditions that are joined by `and`. */
export function conjunctsOf(node: ElmNode): readonly ElmNode[] {
  return typeOf(node) === 'And' ? nodesAt(node, 'operand').flatMap(conjunctsOf) : [node]
}

/** `E.status = 'finished'`, `E.status in { 'final', 'amended' }`. */
function codesAt(node: ElmNode, { left, right, alias, references }: Operands): Narrowing | undefined {
  const among = (read: ElmNode, literals: readonly ElmNode[]): Narrowing | undefined => {
    const found = codesOf(elementOf(read, { alias, references }), literals)
    return found !== undefined && isTextForm(read, { alias, references }) ? { ...found, holds: { types: ['code'] } } : found
  }
  const type = typeOf(node)
  if (type === 'In') return typeOf(right) === 'List' ? among(left, nodesAt(right, 'element')) : undefined
  if (type !== 'Equal') return undefined
  return among(left, [right]) ?? among(right, [left])
}

function codesOf(path: string | undefined, literals: readonly ElmNode[]): Narrowing | undefined {
  const codes = literals.flatMap((literal) => {
    const isText = typeOf(literal) === 'Literal' && localName(textAt(literal, 'valueType') ?? '') === 'String'
    return isText ? [textAt(literal, 'value') ?? ''] : []
  })
  const areCodes = codes.length === literals.length && codes.every((code) => code !== '')
  return path === undefined || codes.length === 0 || !areCodes ? undefined : { path, codes }
}

/** Which bounds of the request's dates apply to the element, if it is the left or the right operand. */
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

type DateOperands = Operands & ConstantReading

/** `E.period during "Measurement Period"`, `start of E.period >= start of "Measurement Period"`, and the like. */
function datesAt(node: ElmNode, { left, right, alias, ...reading }: DateOperands): OfGiven<Narrowing> | undefined {
  // Comparisons by month or year also hold for a date outside of the range that is in the same month or year.
  const precision = precisionAt(node)
  const sides = precision === YEAR || precision === MONTH ? undefined : SIDES.get(typeOf(node))
  if (sides === undefined) return undefined
  const { references } = reading
  const within = (read: ElmNode, stated: ElmNode, ends: Sides['left']): OfGiven<Narrowing> | undefined => {
    const [path, boundsIn] = [elementOf(read, { alias, references }), boundsOf(stated, reading)]
    if (path === undefined || boundsIn === undefined) return undefined
    const form = dateForm(read, { alias, references })
    return (given) => {
      const bounds = boundsIn(given)
      const found = bounds === undefined ? undefined : datesOf(path, bounds, ends)
      const holds = bounds === undefined || form === undefined ? undefined : holdingOf(typeOf(node), form, bounds, ends)
      return found !== undefined && holds !== undefined ? { ...found, holds } : found
    }
  }
  return within(left, right, sides.left) ?? within(right, left, sides.right)
}

/** Comparisons of points, which are null for intervals. */
const OF_POINTS: ReadonlySet<string> = new Set(['Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual', 'In'])
/** Comparisons whose second operand must be an interval. */
const OF_WHOLES: ReadonlySet<string> = new Set(['In', 'IncludedIn'])

/** Limits within which a comparison is known to hold for the element that a form reads. */
function holdingOf(
  type: string,
  { isInterval: isWide, types }: DateForm,
  { low, high }: Bounds,
  ends: Sides['left'],
): NarrowingProof | undefined {
  const isPoint = low === high
  if (low === undefined || high === undefined || low.kind === 'time' || high.kind === 'time') return undefined
  if (OF_WHOLES.has(type) ? isPoint : OF_POINTS.has(type) && !isPoint) return undefined
  if (OF_POINTS.has(type) && isWide) return undefined
  if (type === 'Overlaps') return { types, startTo: high.low, endFrom: low.high }
  if (ends.length === 2) return { types, startFrom: low.high, endTo: high.low }
  return ends.includes('from') ? { types, startFrom: high.high } : { types, endTo: low.low }
}

function datesOf(path: string, bounds: Bounds, ends: Sides['left']): Narrowing | undefined {
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

/** The least and the greatest value of a date of the request, or of the text; the same for a single moment. */
function boundsOf(node: ElmNode, { references, constant }: ConstantReading): OfGiven<Bounds> | undefined {
  const type = typeOf(node)
  if (type === 'Start' || type === 'End') {
    const wholeIn = boundsOf(nodeAt(node, 'operand') ?? nodesAt(node, 'operand')[0] ?? {}, { references, constant })
    if (wholeIn === undefined) return undefined
    return (given) => {
      const whole = wholeIn(given)
      const end = type === 'Start' ? whole?.low : whole?.high
      return end === undefined ? undefined : { low: end, high: end }
    }
  }
  const valueIn = type === 'ParameterRef' ? references.parameterIn(node) : constant(node)
  return valueIn && ((given) => boundsOfValue(valueIn(given) ?? null))
}

function boundsOfValue(value: Value): Bounds | undefined {
  if (isTemporal(value)) return { low: value, high: value }
  if (!isInterval(value)) return undefined
  return { ...(isTemporal(value.low) && { low: value.low }), ...(isTemporal(value.high) && { high: value.high }) }
}

const CONVERSIONS: ReadonlySet<string> = new Set(['Start', 'End', 'As', 'ToDateTime', 'ToDate', 'ToInterval', 'ToString'])

/** The query in which elements are read. */
interface Reading {
  /** Alias of the items of the query. */
  readonly alias: string
  readonly references: Pick<References, 'isHelper'>
}

/** The path of the element directly below the alias that a node reads, as it is or converted to a System value. */
export function elementOf(node: ElmNode, reading: Reading): string | undefined {
  const type = typeOf(node)
  if (type === 'Property') {
    const path = textAt(node, 'path') ?? ''
    if (textAt(node, 'scope') === reading.alias) return path.endsWith('.value') ? path.slice(0, -'.value'.length) : path
    return path === 'value' ? elementOf(nodeAt(node, 'source') ?? {}, reading) : undefined
  }
  const operands = nodesAt(node, 'operand')
  const [only] = operands
  const isConversion = CONVERSIONS.has(reading.references.isHelper(node) ? (textAt(node, 'name') ?? '') : type)
  return isConversion && operands.length === 1 && only !== undefined ? elementOf(only, reading) : undefined
}

/** How a node reads a date or period directly below a resource, so that its value is known from the JSON. */
interface DateForm {
  /** The FHIR types for which it has a value. */
  readonly types: readonly string[]
  readonly isInterval: boolean
}

interface FormReading extends Reading {
  readonly references: References
}

const POINTS: readonly string[] = ['date', 'dateTime', 'instant']

/** The form of `start of E.period`, `O.effective as FHIR.dateTime` and so on, converted to a CQL value; `undefined` for any other node. */
function dateForm(node: ElmNode, reading: FormReading): DateForm | undefined {
  const type = typeOf(node)
  if (type === 'Property') return formOf(valueRead(node, reading), POINTS)
  const [inner, ...others] = nodesAt(node, 'operand')
  if (inner === undefined || others.length > 0) return undefined
  if (type === 'FunctionRef') return helpedForm(node, inner, reading)
  const isEnd = type === 'Start' || type === 'End'
  const form = isEnd || type === 'ToDateTime' ? dateForm(inner, reading) : undefined
  return form?.isInterval === isEnd ? { ...form, isInterval: false } : undefined
}

function helpedForm(node: ElmNode, inner: ElmNode, reading: FormReading): DateForm | undefined {
  const types = reading.references.isHelper(node) ? HELPED.get(textAt(node, 'name') ?? '') : undefined
  const form = types === undefined ? undefined : formOf(elementRead(inner, reading), types)
  return form === undefined ? undefined : { ...form, isInterval: types === PERIODS }
}

/** Whether a node reads a code directly below a resource as a text. */
function isTextForm(node: ElmNode, reading: FormReading): boolean {
  if (typeOf(node) === 'Property') return isTakenAsIs(valueRead(node, reading))
  const [only, ...others] = nodesAt(node, 'operand')
  const isString = typeOf(node) === 'FunctionRef' && textAt(node, 'name') === 'ToString' && reading.references.isHelper(node)
  return isString && only !== undefined && others.length === 0 && isTakenAsIs(elementRead(only, reading))
}

function isTakenAsIs(read: ElementRead | undefined): boolean {
  return read !== undefined && read.types === undefined
}

const PERIODS: readonly string[] = ['Period']

/** The functions of FHIRHelpers that return dates and periods, with the types that they accept. */
const HELPED: ReadonlyMap<string, readonly string[]> = new Map([
  ['ToDate', POINTS],
  ['ToDateTime', POINTS],
  ['ToInterval', PERIODS],
])

/** An element directly below a resource. */
interface ElementRead {
  /** The types to which a choice is cast; absent without a cast. */
  readonly types?: readonly string[]
}

function elementRead(node: ElmNode, reading: FormReading): ElementRead | undefined {
  if (typeOf(node) === 'Property') return textAt(node, 'scope') === reading.alias && isName(textAt(node, 'path')) ? {} : undefined
  const [only, ...others] = nodesAt(node, 'operand')
  if (typeOf(node) !== 'As' || only === undefined || others.length > 0) return undefined
  const type = textAt(node, 'asType') ?? textAt(nodeAt(node, 'asTypeSpecifier') ?? {}, 'name')
  const inner = type === undefined ? undefined : elementRead(only, reading)
  return type === undefined || inner === undefined ? undefined : { types: [localName(type)] }
}

/** The element whose System value is read with `.value`. */
function valueRead(node: ElmNode, reading: FormReading): ElementRead | undefined {
  const path = textAt(node, 'path') ?? ''
  const source = nodeAt(node, 'source')
  if (path === 'value') return source === undefined ? undefined : elementRead(source, reading)
  const [name, value, ...others] = path.split('.')
  return textAt(node, 'scope') === reading.alias && isName(name) && value === 'value' && others.length === 0 ? {} : undefined
}

function isName(path: string | undefined): boolean {
  return path !== undefined && path !== '' && !path.includes('.')
}

function formOf(read: ElementRead | undefined, types: readonly string[]): DateForm | undefined {
  if (read === undefined) return undefined
  return { types: read.types === undefined ? types : types.filter((type) => read.types?.includes(type)), isInterval: false }
}

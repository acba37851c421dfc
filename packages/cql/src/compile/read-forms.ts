import { localName, nodeAt, nodesAt, textAt, typeOf, type ElmNode } from '../elm/node.js'
import type { References } from './compiler.js'

/** How a node reads a date or period directly below a resource, so that its value is known from the JSON. */
export interface DateForm {
  /** The FHIR types for which it has a value. */
  readonly types: readonly string[]
  readonly isInterval: boolean
}

/** The query in which a form is read. */
interface Reading {
  /** Alias of the items of the query. */
  readonly alias: string
  readonly references: References
}

const POINTS: readonly string[] = ['date', 'dateTime', 'instant']

/** The form of `start of E.period`, `O.effective as FHIR.dateTime` and so on, converted to a CQL value; `undefined` for any other node. */
export function dateForm(node: ElmNode, reading: Reading): DateForm | undefined {
  const type = typeOf(node)
  if (type === 'Property') return formOf(valueRead(node, reading), POINTS)
  const [inner, ...others] = nodesAt(node, 'operand')
  if (inner === undefined || others.length > 0) return undefined
  if (type === 'FunctionRef') return helpedForm(node, inner, reading)
  const isEnd = type === 'Start' || type === 'End'
  const form = isEnd || type === 'ToDateTime' ? dateForm(inner, reading) : undefined
  return form?.isInterval === isEnd ? { ...form, isInterval: false } : undefined
}

function helpedForm(node: ElmNode, inner: ElmNode, reading: Reading): DateForm | undefined {
  const types = reading.references.isHelper(node) ? HELPED.get(textAt(node, 'name') ?? '') : undefined
  const form = types === undefined ? undefined : formOf(elementRead(inner, reading), types)
  return form === undefined ? undefined : { ...form, isInterval: types === PERIODS }
}

/** Whether a node reads a code directly below a resource as a text. */
export function isTextForm(node: ElmNode, reading: Reading): boolean {
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

function elementRead(node: ElmNode, reading: Reading): ElementRead | undefined {
  if (typeOf(node) === 'Property') return textAt(node, 'scope') === reading.alias && isName(textAt(node, 'path')) ? {} : undefined
  const [only, ...others] = nodesAt(node, 'operand')
  if (typeOf(node) !== 'As' || only === undefined || others.length > 0) return undefined
  const type = textAt(node, 'asType') ?? textAt(nodeAt(node, 'asTypeSpecifier') ?? {}, 'name')
  const inner = type === undefined ? undefined : elementRead(only, reading)
  return type === undefined || inner === undefined ? undefined : { types: [localName(type)] }
}

/** The element whose System value is read with `.value`. */
function valueRead(node: ElmNode, reading: Reading): ElementRead | undefined {
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

import { isInterval, isList, isTuple, kindOf, type Value } from '../values/value.js'

/** Names that can be written between quotes as they are. */
const PLAIN_NAME = /^[^"\\\p{Cc}]{1,200}$/u

/** Declarations of the parameters that a call gives to an expression, by the types of their values; those whose type does not show are left out. */
export function parameterDeclarations(given: ReadonlyMap<string, Value>): string {
  return [...given].map(([name, value]) => declaration(name, value)).join('')
}

function declaration(name: string, value: Value): string {
  const type = typeText(value)
  return type === undefined || !PLAIN_NAME.test(name) ? '' : `parameter "${name}" ${type}\n`
}

const SIMPLE: ReadonlyMap<string, string> = new Map([
  ['boolean', 'Boolean'],
  ['integer', 'Integer'],
  ['long', 'Long'],
  ['string', 'String'],
  ['decimal', 'Decimal'],
  ['date', 'Date'],
  ['dateTime', 'DateTime'],
  ['time', 'Time'],
  ['quantity', 'Quantity'],
  ['ratio', 'Ratio'],
  ['code', 'Code'],
  ['concept', 'Concept'],
])

/** The type of a value as CQL writes it; `undefined` for null, lists of several types and elements of FHIR. */
function typeText(value: Value): string | undefined {
  if (isList(value)) return listType(value)
  if (isInterval(value)) return value.pointType === undefined ? undefined : `Interval<${value.pointType}>`
  if (!isTuple(value)) return SIMPLE.get(kindOf(value))
  const elements = [...value.elements].map(([name, element]) => [name, typeText(element)] as const)
  if (elements.length === 0 || elements.some(([name, type]) => type === undefined || !PLAIN_NAME.test(name))) return undefined
  return `Tuple { ${elements.map(([name, type]) => `"${name}" ${type}`).join(', ')} }`
}

function listType(items: readonly Value[]): string | undefined {
  const [first, ...others] = new Set(items.filter((item) => item !== null).map(typeText))
  return first === undefined || others.length > 0 ? undefined : `List<${first}>`
}

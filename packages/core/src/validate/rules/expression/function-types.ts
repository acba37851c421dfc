import {
  SYSTEM_TYPE_NAMES,
  typeDefinition,
  type SystemType,
  type TypeDefinition,
  type TypeModel,
  isSubtype,
} from '../../../fhirpath/index.js'

/** The possible types of an expression's result, at least one; `undefined` when they are not known. */
export type Types = readonly TypeDefinition[] | undefined

/** A problem of an expression. */
export interface ExpressionProblem {
  readonly text: string
  /** False for an expression that can be evaluated, but has no result. */
  readonly isError: boolean
}

/** The definitions that types are looked up in, and the problems found so far. */
export interface TypeCheck {
  readonly model: TypeModel
  readonly problems: ExpressionProblem[]
}

/** The types of FHIRPath itself, by name. */
export const SYSTEM_TYPES: ReadonlyMap<string, TypeDefinition> = new Map(
  SYSTEM_TYPE_NAMES.map((system) => [
    system,
    typeDefinition({ name: `System.${system}`, kind: system === 'Quantity' ? 'complex' : 'primitive', system, slots: [] }),
  ]),
)

/** A type of FHIRPath as the only possible type. */
export function system(name: SystemType): Types {
  return only(SYSTEM_TYPES.get(name))
}

/** A type as the only possible one; not known if there is none. */
export function only(type: TypeDefinition | undefined): Types {
  return type === undefined ? undefined : [type]
}

/** The types; not known if there are none. */
export function known(types: readonly TypeDefinition[]): Types {
  return types.length === 0 ? undefined : types
}

/** The types of both, each once; not known if those of one are not. */
export function union(one: Types, other: Types): Types {
  return one === undefined || other === undefined ? undefined : [...new Set([...one, ...other])]
}

/** Whether values of the type are dates or times. */
export function isTemporal({ system: type }: TypeDefinition): boolean {
  return type === 'Date' || type === 'DateTime' || type === 'Time'
}

/** The type of a result with numbers or texts; unknown for Quantities, whose result depends on the operator. */
export function arithmeticType(one: Types, other: Types): Types {
  const systems = new Set(union(one, other)?.map((type) => type.system))
  const [first, second, ...more] = systems
  if (more.length > 0) return undefined
  if (second !== undefined) return systems.has('Integer') && systems.has('Decimal') ? system('Decimal') : undefined
  return first === 'Integer' || first === 'Decimal' || first === 'String' ? system(first) : undefined
}

/** The names of types for a message, at most five. */
export function namesOf(types: readonly TypeDefinition[]): string {
  return [...new Set(types.map((type) => type.name))].slice(0, 5).join(', ')
}

/** Types that may have any element. */
export const ANYTHING: ReadonlySet<string> = new Set(['Resource', 'DomainResource', 'Any', 'Element', 'BackboneElement', 'xhtml'])

/** Types of which it is not known whether their values are primitive. */
export const UNKNOWN: ReadonlySet<string> = new Set(['Any', 'Element', 'xhtml'])

/** The types that a function can be called on, or that one of its parameters can have. */
export interface Accepted {
  /** For messages: `integer, decimal or Quantity`. */
  readonly name: string
  readonly accepts: (type: TypeDefinition, model: TypeModel) => boolean
}

/** The types that a function of FHIRPath works with. */
interface FunctionTypes {
  /** Any type when absent. */
  readonly on?: Accepted
  /** The types of its parameters; any type where there is none. */
  readonly parameters?: readonly Accepted[]
  /** The type of its result; `same` for that of its input. Unknown when absent. */
  readonly result?: SystemType | 'same'
}

function valuesOf(name: string, ...systems: readonly SystemType[]): Accepted {
  return { name, accepts: ({ system }) => system !== undefined && systems.includes(system) }
}

function primitivesAnd(name: string, ...others: readonly SystemType[]): Accepted {
  return { name, accepts: ({ kind, system }) => kind === 'primitive' || (system !== undefined && others.includes(system)) }
}

function textOr(name: string, ...others: readonly string[]): Accepted {
  return { name, accepts: (type, model) => type.system === 'String' || others.some((other) => isSubtype(model, type, other)) }
}

const TEXT = valuesOf('string, uri, code, id', 'String')
const BOOLEAN = valuesOf('Boolean', 'Boolean')
/** Positions and counts. */
export const INTEGER: Accepted = valuesOf('Integer', 'Integer')
const DECIMAL = valuesOf('a decimal', 'Integer', 'Decimal')
const AMOUNT = valuesOf('integer, decimal or Quantity', 'Integer', 'Decimal', 'Quantity')
const BOUNDED = valuesOf('a decimal, Quantity or date type', 'Integer', 'Decimal', 'Quantity', 'Date', 'DateTime', 'Time')
const PRECISE = valuesOf('a decimal, Quantity or date type', 'Decimal', 'Quantity', 'Date', 'DateTime', 'Time')
const PRIMITIVE = primitivesAnd('primitives')
const VALUE = primitivesAnd('primitives and Quantity', 'Quantity')
const REFERENCE = textOr('string, uri, canonical or Reference', 'Reference')
const CODED = textOr('string, code, uri, Coding, CodeableConcept', 'Coding', 'CodeableConcept')

const TRUTH: FunctionTypes = { result: 'Boolean' }
const TRUTH_BY_CRITERIA: FunctionTypes = { parameters: [BOOLEAN], result: 'Boolean' }
const SAME: FunctionTypes = { result: 'same' }
const PART_BY_COUNT: FunctionTypes = { parameters: [INTEGER], result: 'same' }
const FOUND_IN_TEXT: FunctionTypes = { on: TEXT, parameters: [TEXT], result: 'Boolean' }
const POSITION_IN_TEXT: FunctionTypes = { on: TEXT, parameters: [TEXT], result: 'Integer' }
const TEXT_FROM_TEXT: FunctionTypes = { on: TEXT, result: 'String' }
const TEXT_BY_TEXT: FunctionTypes = { parameters: [TEXT], result: 'String' }
const REPLACED: FunctionTypes = { on: TEXT, parameters: [TEXT, TEXT], result: 'String' }
const WHOLE: FunctionTypes = { on: DECIMAL, result: 'Integer' }
const COMPUTED: FunctionTypes = { on: AMOUNT, result: 'Decimal' }
const CONVERTIBLE: FunctionTypes = { on: PRIMITIVE, result: 'Boolean' }
const PART_OF_TIME: FunctionTypes = { result: 'Integer' }

/**
 * The functions whose types are known. Those that are typed by their arguments (`select`, `iif`, `ofType` and others) are not here, nor are those
 * that can have any result.
 *
 * @see https://hl7.org/fhirpath/N1/#functions
 */
export const FUNCTION_TYPES: ReadonlyMap<string, FunctionTypes> = new Map<string, FunctionTypes>([
  ['empty', TRUTH],
  ['exists', TRUTH_BY_CRITERIA],
  ['all', TRUTH_BY_CRITERIA],
  ['allTrue', TRUTH],
  ['anyTrue', TRUTH],
  ['allFalse', TRUTH],
  ['anyFalse', TRUTH],
  ['subsetOf', TRUTH],
  ['supersetOf', TRUTH],
  ['isDistinct', TRUTH],
  ['not', TRUTH],
  ['hasValue', TRUTH],
  ['comparable', TRUTH],
  ['count', { result: 'Integer' }],
  ['distinct', SAME],
  ['first', SAME],
  ['last', SAME],
  ['tail', SAME],
  ['single', SAME],
  ['intersect', SAME],
  ['exclude', SAME],
  ['checkModifiers', SAME],
  ['where', { parameters: [BOOLEAN], result: 'same' }],
  ['skip', PART_BY_COUNT],
  ['take', PART_BY_COUNT],
  ['iif', { parameters: [BOOLEAN] }],
  ['trace', { parameters: [TEXT], result: 'same' }],
  ['defineVariable', { parameters: [TEXT], result: 'same' }],
  ['toBoolean', { on: PRIMITIVE, result: 'Boolean' }],
  ['toInteger', { on: VALUE, result: 'Integer' }],
  ['toDecimal', { on: VALUE, result: 'Decimal' }],
  ['toString', { on: VALUE, result: 'String' }],
  ['toQuantity', { on: VALUE, result: 'Quantity' }],
  ['toDate', { on: PRIMITIVE, result: 'Date' }],
  ['toDateTime', { on: PRIMITIVE, result: 'DateTime' }],
  ['toTime', { on: PRIMITIVE, result: 'Time' }],
  ['convertsToBoolean', CONVERTIBLE],
  ['convertsToInteger', CONVERTIBLE],
  ['convertsToDecimal', CONVERTIBLE],
  ['convertsToString', { on: VALUE, result: 'Boolean' }],
  ['convertsToQuantity', { on: VALUE, result: 'Boolean' }],
  ['convertsToDate', CONVERTIBLE],
  ['convertsToDateTime', CONVERTIBLE],
  ['convertsToTime', CONVERTIBLE],
  ['indexOf', POSITION_IN_TEXT],
  ['lastIndexOf', POSITION_IN_TEXT],
  ['substring', { on: TEXT, parameters: [INTEGER, INTEGER], result: 'String' }],
  ['startsWith', FOUND_IN_TEXT],
  ['endsWith', FOUND_IN_TEXT],
  ['contains', FOUND_IN_TEXT],
  ['matches', FOUND_IN_TEXT],
  ['matchesFull', FOUND_IN_TEXT],
  ['upper', TEXT_FROM_TEXT],
  ['lower', TEXT_FROM_TEXT],
  ['toChars', TEXT_FROM_TEXT],
  ['replace', REPLACED],
  ['replaceMatches', REPLACED],
  ['length', { on: PRIMITIVE, result: 'Integer' }],
  ['trim', { result: 'String' }],
  ['split', TEXT_BY_TEXT],
  ['join', TEXT_BY_TEXT],
  ['encode', TEXT_BY_TEXT],
  ['decode', TEXT_BY_TEXT],
  ['escape', TEXT_BY_TEXT],
  ['unescape', TEXT_BY_TEXT],
  ['abs', { on: AMOUNT, result: 'same' }],
  ['ceiling', WHOLE],
  ['floor', WHOLE],
  ['truncate', WHOLE],
  ['round', { on: DECIMAL, parameters: [INTEGER], result: 'Decimal' }],
  ['exp', COMPUTED],
  ['ln', COMPUTED],
  ['sqrt', COMPUTED],
  ['log', { on: AMOUNT, parameters: [AMOUNT], result: 'Decimal' }],
  ['power', { on: AMOUNT, parameters: [AMOUNT] }],
  ['lowBoundary', { on: BOUNDED, parameters: [INTEGER], result: 'same' }],
  ['highBoundary', { on: BOUNDED, parameters: [INTEGER], result: 'same' }],
  ['precision', { on: PRECISE, result: 'Integer' }],
  ['now', { result: 'DateTime' }],
  ['today', { result: 'Date' }],
  ['timeOfDay', { result: 'Time' }],
  ['dateOf', { result: 'Date' }],
  ['timeOf', { result: 'Time' }],
  ['yearOf', PART_OF_TIME],
  ['monthOf', PART_OF_TIME],
  ['dayOf', PART_OF_TIME],
  ['hourOf', PART_OF_TIME],
  ['minuteOf', PART_OF_TIME],
  ['secondOf', PART_OF_TIME],
  ['millisecondOf', PART_OF_TIME],
  ['extension', { parameters: [TEXT] }],
  ['hasExtension', { parameters: [TEXT], result: 'Boolean' }],
  ['resolve', { on: REFERENCE }],
  ['memberOf', { on: CODED, parameters: [TEXT], result: 'Boolean' }],
  ['subsumes', TRUTH],
  ['subsumedBy', TRUTH],
  ['conformsTo', { parameters: [TEXT], result: 'Boolean' }],
  ['htmlChecks', TRUTH],
])

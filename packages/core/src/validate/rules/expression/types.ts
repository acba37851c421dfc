import { SYSTEM_TYPE_NAMES, typeDefinition, type SystemType, type TypeDefinition, type TypeModel } from '../../../fhirpath/index.js'

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

import { type FhirNode, isSubtype, PENDING } from '../../../fhirpath/index.js'
import { quoted } from '../../../errors/index.js'
import { isObject, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type Finding, type FindingDefinition } from '../../run/finding.js'
import type { Run } from '../../run/run.js'
import { SYSTEM_TYPES, TYPE_URL, type ElementRule, type Profile } from '../../run/element-rule.js'

/** A name that cannot be written in the mapping language, or that occurs twice. */
export const MAP_NAME: FindingDefinition = defineFinding(
  'structure-map-name',
  'error',
  'invalid',
  'Begin names with a letter, continue with letters and digits, and use each once.',
)

/** A variable that is not defined where it is used. */
export const MAP_VARIABLE: FindingDefinition = defineFinding(
  'structure-map-variable',
  'error',
  'unknown',
  'Name an input of the group, or a variable of this rule or of one around it.',
)

/** Whether a variable is read from, or written to. */
export type Mode = 'source' | 'target'

/** A variable of a group or of a rule. */
export interface Variable {
  readonly name: string
  readonly mode: Mode
  /** `undefined` when its type is not known; then its elements are not checked. */
  readonly shape: Shape | undefined
  /** How often it can occur for one value of each of the group's inputs. */
  readonly max: number
}

/** The variables that are known at a place. A source and a target may have the same name. */
export interface Scope {
  readonly all: () => readonly Variable[]
  readonly find: (name: string, mode: Mode) => Variable | undefined
  readonly add: (variable: Variable) => void
  /** A scope for nested rules; variables that are added there are not known here. */
  readonly inner: () => Scope
}

/** Creates a scope with some variables. */
export function scopeOf(variables: readonly Variable[]): Scope {
  const known = new Map(variables.map((one) => [`${one.mode} ${one.name}`, one]))
  return {
    all: () => [...known.values()],
    find: (name, mode) => known.get(`${mode} ${name}`),
    add: (variable) => void known.set(`${variable.mode} ${variable.name}`, variable),
    inner: () => scopeOf([...known.values()]),
  }
}

/** Whether a name can be written in the mapping language; reports one that cannot. */
export function hasGoodName(run: Run, node: FhirNode, name: string, code: Finding['code'] = 'invalid'): boolean {
  if (/^[a-zA-Z][a-zA-Z0-9]*$/.test(name)) return true
  run.findings.report(MAP_NAME, node, {
    text: `${quoted(name)} is not a name: it must be letters and digits, of which the first is a letter.`,
    code,
  })
  return false
}

/** A structure that a map declares by an alias. */
interface Structure {
  readonly alias: string | undefined
  readonly url: string
  /** `source`, `queried`, `target` or `produced`. */
  readonly mode: string | undefined
}

/** The modes of structures that data is written to. */
export const WRITTEN: ReadonlySet<string | undefined> = new Set(['target', 'produced'])

/** The structures that a map declares. */
function structuresOf(map: unknown): readonly Structure[] {
  const structures: readonly JsonObject[] = isObject(map) ? objectsAt(map, 'structure') : []
  return structures.map((one) => ({ alias: stringAt(one, 'alias'), url: stringAt(one, 'url') ?? '', mode: stringAt(one, 'mode') }))
}

/** The structure with an alias, preferably one for reading or writing, as the mode says; `undefined` for other names. */
export function structureNamed(map: unknown, name: string, mode: Mode): Structure | undefined {
  const named = structuresOf(map).filter(({ alias }) => alias === name)
  return named.find((one) => WRITTEN.has(one.mode) === (mode === 'target')) ?? named[0]
}

/** The type that an alias or a name means in a map. */
export function typeNamed({ value }: FhirNode, name: string, mode: Mode): string {
  return structureNamed(value, name, mode)?.url ?? name
}

/** The values of a variable of a map: a type, or an element of one. */
export interface Shape {
  /** The rule of its definition. */
  readonly rule: ElementRule
  /** The type that a map chooses among those of the element: a code, or the canonical of a logical model. */
  readonly type?: string
}

/** The shape of a type, by its name or by the canonical of its definition; `undefined` when the definition is not known, or pending. */
export function shapeOf(run: Run, type: string): Shape | undefined {
  const profile = definitionOf(run, type)
  const base = profile === undefined || profile.isBase ? profile : definitionOf(run, profile.type)
  return base && { rule: base.root, type: nameOf(base) }
}

/** The name of a type of the release, or the canonical of a logical model, by which others refer to it. */
function nameOf({ url, type }: Profile): string {
  return url === TYPE_URL + type ? type : url
}

function definitionOf(run: Run, type: string): Profile | undefined {
  const isName = !type.includes(':')
  if (isName && run.model.type(type) === undefined) return undefined
  const found = isName ? run.definitions.baseType(type) : run.definitions.profile(type)
  return found === PENDING ? undefined : found
}

/** Whether there is no definition of a type; false while this is pending. */
export function isUnknown(run: Run, type: string): boolean {
  return type.includes(':') ? run.definitions.profile(type) === undefined : run.model.type(type) === undefined
}

/** Whether a name is neither a type of the release nor a canonical. */
export function isNoType(run: Run, type: string): boolean {
  return !type.includes(':') && isUnknown(run, type)
}

/** The types that a shape can have. */
export function typesOf({ rule, type }: Shape): readonly string[] {
  return type === undefined ? rule.types.map(({ code }) => (code.startsWith(SYSTEM_TYPES) ? 'string' : code)) : [type]
}

/**
 * The elements with a name in a shape, one for each of its types that has it; none when no type has it.
 *
 * @returns `undefined` when a type is not known.
 */
export function elementsOf(run: Run, shape: Shape, name: string): readonly Shape[] | undefined {
  const holders = isInline(shape) ? [shape.rule] : typesOf(shape).map((type) => shapeOf(run, type)?.rule)
  const found: Shape[] = []
  for (const holder of holders) {
    if (holder === undefined) return undefined
    const rule = holder.children.get(name) ?? inherited(run, holder, name)
    if (rule === 'unknown') return undefined
    if (rule !== undefined) found.push({ rule })
  }
  return found
}

/** True for an element whose definition states its content. */
function isInline({ rule, type }: Shape): boolean {
  return rule.children.size > 0 && type === undefined
}

/** An element that a logical model without a snapshot inherits. Only the elements of FHIR's abstract types are known; its base may have others. */
function inherited(run: Run, holder: ElementRule, name: string): ElementRule | 'unknown' | undefined {
  if (holder.isComplete) return undefined
  const bases = ['DomainResource', 'BackboneElement'].map((type) => definitionOf(run, type)?.root)
  if (bases.includes(undefined)) return 'unknown'
  const own = bases.flatMap((base) => base?.children.get(name) ?? [])[0]
  return own ?? (holder.base === undefined ? undefined : 'unknown')
}

/** Whether a shape may turn out to be of a type; true when one of the types is not known. */
export function canBe(run: Run, shape: Shape, type: string): boolean {
  return compare(run, shape, type, (own, other) => isKindOf(run, other, own))
}

/** Whether one of a shape's possible types is, or derives from, a type; true when one of them is not known. */
export function fits(run: Run, shape: Shape, type: string): boolean {
  return compare(run, shape, type, (own, other) => isKindOf(run, own, other))
}

function compare(run: Run, shape: Shape, type: string, isLike: (own: string, other: string) => boolean): boolean {
  const other = nameFor(run, type)
  const types = typesOf(shape)
  if (other === undefined || types.length === 0) return true
  return types.some((one) => {
    const own = nameFor(run, one)
    return own === undefined || own === other || isLike(own, other)
  })
}

/** The only name of a type, to which several canonicals can lead. */
function nameFor(run: Run, type: string): string | undefined {
  return shapeOf(run, type)?.type
}

/** Whether a type derives from another. */
function isKindOf({ model }: Run, name: string, base: string): boolean {
  const [type, other] = [model.type(name), model.type(base)]
  return type !== undefined && other !== undefined && isSubtype(model, type, base)
}

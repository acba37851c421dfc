import { isSubtype, PENDING } from '../../../fhirpath/index.js'
import { SYSTEM_TYPES, TYPE_URL, type ElementRule, type Profile } from '../../run/element-rule.js'
import type { Run } from '../../run/run.js'

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

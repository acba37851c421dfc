import {
  childSlots,
  compileBranches,
  isNode,
  PENDING,
  rootNode,
  type CompiledPath,
  type ElementSlot,
  type FhirNode,
  type FhirPathBudget,
  type FhirPathContext,
  type FhirPathHost,
  type Item,
  type TypeModel,
} from '../../fhirpath/index.js'
import { isObject, stringAt } from '../../json/index.js'
import { isResourceType } from '../../storage/index.js'
import { TYPE_URL } from '../../text/index.js'
import { localReference } from '../kinds/local-reference.js'
import { isAnyMet, needsOf, type Need } from './needs.js'

/** Something that an expression found in a resource. */
export interface Value {
  /** As it is in the resource's JSON. */
  readonly json: unknown
  readonly item: Item
}

/** What an expression finds from the root of a resource, or from what was found in it before. */
export type ValuesOf = (expression: string, from?: Item) => readonly Value[]

/**
 * Evaluates the expressions of search parameters: each is compiled once, and evaluated once from one place of a resource. What two branches
 * of a union find is found twice.
 */
export interface Selector {
  /** @param typeOf The type that a fragment (`#m`) leads to. */
  ofResource(root: FhirNode, typeOf: TypeOf): Selection
}

/** What expressions find in a resource. */
export interface Selection {
  readonly valuesOf: ValuesOf
  /** The shape of its root. */
  readonly shape: Shape
}

/** Which members something has, whatever they hold: most resources of a type have one of few shapes. */
export interface Shape {
  /** Whether an expression may find anything. */
  mayFind(expression: string): boolean
}

type TypeOf = (fragment: string) => string | undefined

/** Published expressions step over each element a few times; how many elements there are, the limit on bodies says. */
const INDEXING: FhirPathBudget = { steps: 100_000_000, items: 10_000_000 }

/** @param base Address of this server; absolute references on it have a type. */
export function createSelector(model: TypeModel, base: string | undefined): Selector {
  const compiled = new Map<string, readonly Branch[]>()
  const hostOf = (typeOf: TypeOf): FhirPathHost => ({
    resolve: (address = '', from) => typedStub(model, typeOf(address) ?? targetType(address, from?.value, base)),
  })
  const branchesOf = (expression: string): readonly Branch[] => {
    const known = compiled.get(expression)
    if (known !== undefined) return known
    const made = compileBranches(expression, { model }).map(({ ast, ...path }) => ({ path, needs: needsOf(ast) }))
    compiled.set(expression, made)
    return made
  }
  const shapes = new Map<string, KnownShape>()
  const shapeOf = (item: Item): KnownShape => {
    const children = isNode(item) ? childSlots(item) : undefined
    const key = isNode(item) ? keyOfShape(item, children) : ''
    const known = shapes.get(key)
    if (known !== undefined) return known
    const made = knownShape((expression) => branchesOf(expression).filter((branch) => mayApply(model, branch, children)))
    // What the model does not know is of one type, whatever it is.
    if (key.length > LONGEST_SHAPE || (isNode(item) && model.type(item.type.name) === undefined)) return made
    if (shapes.size === MOST_SHAPES) shapes.clear()
    shapes.set(key, made)
    return made
  }
  const placeAt = (item: Item): Place => ({ item, shape: shapeOf(item) })
  const find = (expression: string, { item, shape }: Place, context: FhirPathContext): readonly Value[] => {
    const found: Value[] = []
    for (const { path } of shape.branchesOf(expression)) pushValues(found, path.evaluate(context, item))
    return found
  }
  return {
    ofResource(resource, typeOf) {
      const context: FhirPathContext = { resource, host: hostOf(typeOf), budget: INDEXING }
      const root = placeAt(resource)
      const places = new Map<Item, FoundBefore>()
      const valuesOf: ValuesOf = (expression, from) => {
        if (from === undefined) return find(expression, root, context)
        const place = places.get(from) ?? { ...placeAt(from), found: new Map() }
        places.set(from, place)
        const found = place.found.get(expression) ?? find(expression, place, context)
        place.found.set(expression, found)
        return found
      }
      return { valuesOf, shape: root.shape }
    },
  }
}

interface Branch {
  readonly path: CompiledPath
  /** Most parameters of a type find nothing in most resources: what children they need says so sooner than their evaluation. */
  readonly needs: readonly Need[] | undefined
}

type Children = ReadonlyMap<string, readonly ElementSlot[]>

/** A shape with the branches that may find something in it. */
interface KnownShape extends Shape {
  branchesOf(expression: string): readonly Branch[]
}

/** Shapes that are remembered: those of a source are few, and somebody may send any. */
const MOST_SHAPES = 1_000
const LONGEST_SHAPE = 1_000

function knownShape(applying: (expression: string) => readonly Branch[]): KnownShape {
  const known = new Map<string, readonly Branch[]>()
  const branchesOf = (expression: string): readonly Branch[] => {
    const branches = known.get(expression) ?? applying(expression)
    known.set(expression, branches)
    return branches
  }
  return { branchesOf, mayFind: (expression) => branchesOf(expression).length > 0 }
}

/** Members by their names in JSON, which name the types of choices, too. */
function keyOfShape({ type }: FhirNode, children: Children | undefined): string {
  let key = type.name
  if (children !== undefined) for (const slots of children.values()) for (const { jsonName } of slots) key += ` ${jsonName}`
  return key
}

/** What is no node has no children, and is asked everything. */
function mayApply(model: TypeModel, { needs }: Branch, children: Children | undefined): boolean {
  return needs === undefined || children === undefined || isAnyMet(model, needs, children)
}

/** Where expressions start. */
interface Place {
  readonly item: Item
  readonly shape: KnownShape
}

/** Composites ask for the same components of the same values. */
interface FoundBefore extends Place {
  readonly found: Map<string, readonly Value[]>
}

/** Expressions resolve references only to ask for the target's type, which the reference itself states. */
function typedStub(model: TypeModel, type: string | undefined): FhirNode | undefined {
  return type === undefined ? undefined : rootNode(model, { resourceType: type })
}

function pushValues(found: Value[], items: ReturnType<CompiledPath['evaluate']>): void {
  if (items === PENDING) return
  for (const item of items) {
    const json = isNode(item) ? item.value : item
    if (json !== undefined) found.push({ json, item })
  }
}

/**
 * The type of what a Reference leads to, as far as it says itself: by its address, on this server or another, or by `type`, where it has an
 * identifier only.
 *
 * @param address The `reference` of the Reference, if it has one.
 * @param base Address of this server.
 */
function targetType(address: string | undefined, reference: unknown, base: string | undefined): string | undefined {
  const type = isObject(reference) ? stringAt(reference, 'type') : undefined
  const named = type?.startsWith(TYPE_URL) === true ? type.slice(TYPE_URL.length) : type
  return typeInAddress(address ?? '', base) ?? (named !== undefined && isResourceType(named) ? named : undefined)
}

function typeInAddress(address: string, base: string | undefined): string | undefined {
  const local = localReference(address, base)
  if (local !== undefined || !/^https?:/.test(address)) return local?.type
  const segments = address.split('/')
  return (localReference(segments.slice(-2).join('/'), undefined) ?? localReference(segments.slice(-4).join('/'), undefined))?.type
}

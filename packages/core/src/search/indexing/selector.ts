import {
  PENDING,
  childSlots,
  compileBranches,
  isNode,
  isSubtype,
  rootNode,
  type Ast,
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
import { localReference } from './address.js'
import { directPath, type DirectPath } from './direct-path.js'

/** Returns the values, as JSON, that an expression finds from the root of a resource or from an item found before. */
type ValuesOf = (expression: string, from?: Item) => readonly unknown[]

/**
 * Evaluates the expressions of search parameters: each is compiled once, and evaluated once for each place of a resource. A value that two branches
 * of a union find is returned twice.
 */
interface Selector {
  /** Creates the selection for a resource. @param typeOf Returns the type of the target of a fragment (`#m`). */
  ofResource(root: FhirNode, typeOf: TypeOf): Selection
}

/** Evaluates expressions on one resource. */
export interface Selection {
  readonly valuesOf: ValuesOf
  /** Returns the items that an expression finds from the root, as start of further expressions. */
  readonly itemsOf: (expression: string) => readonly Item[]
  /** The shape of its root. */
  readonly shape: Shape
}

type TypeOf = (fragment: string) => string | undefined

/** Published expressions visit each element a few times, and the limit on bodies bounds the number of elements. */
const INDEXING: FhirPathBudget = { steps: 100_000_000, items: 10_000_000 }

/** Creates a selector. @param base Address of this server, to find the type of absolute references. */
export function createSelector(model: TypeModel, base: string | undefined): Selector {
  const hostOf = (typeOf: TypeOf): FhirPathHost => ({
    resolve: (address = '', from) => typedStub(model, typeOf(address) ?? targetType(address, from?.value, base)),
  })
  const shapeOf = shapeFinder(model)
  return {
    ofResource(resource, typeOf) {
      const context: FhirPathContext = { resource, host: hostOf(typeOf), budget: INDEXING }
      const root: Place = { item: resource, shape: shapeOf(resource) }
      const leadsTo = (reference: unknown, type: string): boolean => {
        const address = isObject(reference) ? stringAt(reference, 'reference') : undefined
        const target = model.type(typeOf(address ?? '') ?? targetType(address, reference, base) ?? '')
        return target !== undefined && isSubtype(model, target, type)
      }
      const find = (expression: string, { item, shape }: Place): readonly unknown[] => {
        const found: unknown[] = []
        for (const branch of shape.branchesOf(expression)) {
          if (!pushDirect(found, branch.direct, { item, leadsTo })) pushValues(found, branch.path.evaluate(context, item))
        }
        return found
      }
      const places = new Map<Item, FoundBefore>([[resource, { ...root, found: new Map() }]])
      const valuesOf: ValuesOf = (expression, from) => {
        if (from === undefined) return find(expression, root)
        const place = places.get(from) ?? { item: from, shape: shapeOf(from), found: new Map() }
        places.set(from, place)
        const found = place.found.get(expression) ?? find(expression, place)
        place.found.set(expression, found)
        return found
      }
      const itemsOf = (expression: string): readonly Item[] =>
        root.shape.branchesOf(expression).flatMap(({ path }) => itemsIn(path.evaluate(context, resource)))
      return { valuesOf, itemsOf, shape: root.shape }
    },
  }
}

/** An item where expressions start. */
interface Place {
  readonly item: Item
  readonly shape: KnownShape
}

/** Keeps results by expression, because composites evaluate the same components for the same values. */
interface FoundBefore extends Place {
  readonly found: Map<string, readonly unknown[]>
}

/** Expressions resolve references only to test the target's type, which the reference itself states. */
function typedStub(model: TypeModel, type: string | undefined): FhirNode | undefined {
  return type === undefined ? undefined : rootNode(model, { resourceType: type })
}

interface DirectReading {
  readonly item: Item
  readonly leadsTo: (reference: unknown, type: string) => boolean
}

/** Adds the results of a direct path. Returns false and adds nothing if the path has to be evaluated. */
function pushDirect(found: unknown[], direct: DirectPath | undefined, { item, leadsTo }: DirectReading): boolean {
  if (direct === undefined || !isNode(item) || !isObject(item.value)) return false
  const before = found.length
  const isRead = direct.read(item.value, found)
  if (!isRead) found.length = before
  else if (direct.target !== undefined) {
    const { target } = direct
    found.push(...found.splice(before).filter((reference) => leadsTo(reference, target)))
  }
  return isRead
}

type Evaluated = ReturnType<CompiledPath['evaluate']>

function pushValues(found: unknown[], items: Evaluated): void {
  for (const item of itemsIn(items)) found.push(isNode(item) ? item.value : item)
}

/** Removes elements that have only extensions. */
function itemsIn(items: Evaluated): readonly Item[] {
  return items === PENDING ? [] : items.filter((item) => !isNode(item) || item.value !== undefined)
}

/**
 * Returns the type of the target of a Reference, as far as the Reference states it: by its address, on this server or another, or by `type`, for a
 * Reference with only an identifier.
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

/** The members that an object has, whatever their values: most resources of a type have one of a few shapes. */
export interface Shape {
  /** Returns whether an expression may find anything. */
  mayFind(expression: string): boolean
}

/** A shape with the branches that may find something in it. */
interface KnownShape extends Shape {
  branchesOf(expression: string): readonly ApplyingBranch[]
}

/** A branch for values of one type. */
interface ApplyingBranch {
  readonly path: CompiledPath
  /** The direct reader; absent if the path has to be evaluated. */
  readonly direct: DirectPath | undefined
}

/** Creates the function that returns the shape of an item. Expressions are compiled once, and tested once per shape. */
function shapeFinder(model: TypeModel): (item: Item) => KnownShape {
  const branchesOf = branchCompiler(model)
  const shapes = new Map<string, KnownShape>()
  return (item) => {
    const children = isNode(item) ? childSlots(item) : undefined
    const key = isNode(item) ? keyOfShape(item, children) : ''
    const known = shapes.get(key)
    if (known !== undefined) return known
    // Types that the model does not know all have the same name.
    const type = isNode(item) ? model.type(item.type.name) : undefined
    const made = knownShape((expression) =>
      branchesOf(expression)
        .filter((branch) => mayApply(model, branch, children))
        .map(({ path, ast }) => ({ path, direct: type && directPath(ast, type, model) })),
    )
    if (key.length > LONGEST_SHAPE || (isNode(item) && type === undefined)) return made
    if (shapes.size === MOST_SHAPES) shapes.clear()
    shapes.set(key, made)
    return made
  }
}

function branchCompiler(model: TypeModel): (expression: string) => readonly Branch[] {
  const compiled = new Map<string, readonly Branch[]>()
  return (expression) => {
    const known = compiled.get(expression)
    if (known !== undefined) return known
    const made = compileBranches(expression, { model }).map(({ ast, ...path }) => ({ path, ast, needs: needsOf(ast) }))
    compiled.set(expression, made)
    return made
  }
}

interface Branch {
  readonly path: CompiledPath
  readonly ast: Ast
  /** Most parameters of a type find nothing in most resources; testing for the children that they need is faster than evaluating them. */
  readonly needs: readonly Need[] | undefined
}

type Children = ReadonlyMap<string, readonly ElementSlot[]>

/** Maximum number of cached shapes: one source has few shapes, but a client may send any number. */
const MOST_SHAPES = 1_000
const LONGEST_SHAPE = 1_000

function knownShape(applying: (expression: string) => readonly ApplyingBranch[]): KnownShape {
  const known = new Map<string, readonly ApplyingBranch[]>()
  const branchesOf = (expression: string): readonly ApplyingBranch[] => {
    const branches = known.get(expression) ?? applying(expression)
    known.set(expression, branches)
    return branches
  }
  return { branchesOf, mayFind: (expression) => branchesOf(expression).length > 0 }
}

/** Creates the key from the JSON names of members, which include the types of choices. */
function keyOfShape({ type }: FhirNode, children: Children | undefined): string {
  let key = type.name
  if (children !== undefined) for (const slots of children.values()) for (const { jsonName } of slots) key += ` ${jsonName}`
  return key
}

/** An item that is not a node has no children; every expression is evaluated on it. */
function mayApply(model: TypeModel, { needs }: Branch, children: Children | undefined): boolean {
  return needs === undefined || children === undefined || isAnyMet(model, needs, children)
}

/** A child of the focus that an expression needs to find anything. */
interface Need {
  readonly name: string
  /** Type that the child is cast to. */
  readonly type?: string | undefined
}

/**
 * Returns the children of which an expression needs at least one to find anything. `undefined` where that is unknown, as for `exists()`, which returns
 * `false` for an empty focus.
 */
export function needsOf(ast: Ast): readonly Need[] | undefined {
  if (ast.kind === 'member') return needsOfStep(ast.name, ast.target)
  if (ast.kind === 'type') return ast.operator === 'as' ? castTo(ast.type.name, ast.operand) : undefined
  if (ast.kind === 'call') return needsOfCall(ast)
  return ast.kind === 'binary' && ast.operator === '|' ? needsOfUnion(ast) : undefined
}

/** True if one of the needs may be met. A choice of another type does not meet a need. */
export function isAnyMet(model: TypeModel, needs: readonly Need[], children: ReadonlyMap<string, readonly ElementSlot[]>): boolean {
  for (const { name, type } of needs) {
    const slots = children.get(name)
    if (slots !== undefined && (type === undefined || slots.some((slot) => mayBe(model, slot, type)))) return true
  }
  return false
}

/** Elements that are not choices, and unknown types, are tested only when the cast is evaluated. */
function mayBe(model: TypeModel, { isChoice, type }: ElementSlot, wanted: string): boolean {
  const present = isChoice && model.type(wanted) !== undefined ? model.type(type) : undefined
  return present === undefined || isSubtype(model, present, wanted)
}

/** Functions that return nothing for an empty input. */
const PASSING: ReadonlySet<string> = new Set(['extension', 'first', 'resolve', 'where'])

const CASTS: ReadonlySet<string> = new Set(['as', 'ofType'])

/** At the head of a path, the name of a type means the focus; otherwise a name means an element. */
function needsOfStep(name: string, target: Ast | undefined): readonly Need[] | undefined {
  if (target === undefined) return isTypeName(name) ? undefined : [{ name }]
  return isHead(target) ? [{ name: target.name }, { name }] : needsOf(target)
}

function needsOfCall({ name, target, args: [type] }: Ast & { kind: 'call' }): readonly Need[] | undefined {
  if (target === undefined) return undefined
  if (CASTS.has(name)) return type?.kind === 'member' ? castTo(type.name, target) : needsOf(target)
  if (!PASSING.has(name)) return undefined
  return name === 'extension' ? needsOfStep(name, target) : needsOf(target)
}

/** Adds the type of the cast to a need only if the child itself is cast, and not an element inside it. */
function castTo(type: string, operand: Ast): readonly Need[] | undefined {
  const needs = needsOf(operand)
  const isChild = operand.kind === 'member' && (operand.target === undefined || isHead(operand.target))
  return isChild ? needs?.map((need) => (need.name === operand.name ? { ...need, type } : need)) : needs
}

function needsOfUnion({ left, right }: Ast & { kind: 'binary' }): readonly Need[] | undefined {
  const [before, after] = [needsOf(left), needsOf(right)]
  return before && after && [...before, ...after]
}

function isHead(ast: Ast): ast is Ast & { kind: 'member' } {
  return ast.kind === 'member' && ast.target === undefined && isTypeName(ast.name)
}

function isTypeName(name: string): boolean {
  return /^[A-Z]/.test(name)
}

import {
  childSlots,
  compileBranches,
  isNode,
  type Ast,
  type CompiledPath,
  type ElementSlot,
  type FhirNode,
  type Item,
  type TypeModel,
  isSubtype,
} from '../../fhirpath/index.js'
import { directPath, type DirectPath } from './direct-path.js'

/** The members that an object has, whatever their values: most resources of a type have one of a few shapes. */
export interface Shape {
  /** Returns whether an expression may find anything. */
  mayFind(expression: string): boolean
}

/** A shape with the branches that may find something in it. */
export interface KnownShape extends Shape {
  branchesOf(expression: string): readonly ApplyingBranch[]
}

/** A branch for values of one type. */
interface ApplyingBranch {
  readonly path: CompiledPath
  /** The direct reader; absent if the path has to be evaluated. */
  readonly direct: DirectPath | undefined
}

/** Creates the function that returns the shape of an item. Expressions are compiled once, and tested once per shape. */
export function shapeFinder(model: TypeModel): (item: Item) => KnownShape {
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

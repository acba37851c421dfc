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

/** Which members something has, whatever they hold: most resources of a type have one of few shapes. */
export interface Shape {
  /** Whether an expression may find anything. */
  mayFind(expression: string): boolean
}

/** A shape with the branches that may find something in it. */
export interface KnownShape extends Shape {
  branchesOf(expression: string): readonly ApplyingBranch[]
}

/** A branch for values of one type. */
interface ApplyingBranch {
  readonly path: CompiledPath
  /** Absent where the path has to be evaluated. */
  readonly direct: DirectPath | undefined
}

/** Makes the function that gives the shape of an item: expressions are compiled once, and asked of each shape once. */
export function shapeFinder(model: TypeModel): (item: Item) => KnownShape {
  const branchesOf = branchCompiler(model)
  const shapes = new Map<string, KnownShape>()
  return (item) => {
    const children = isNode(item) ? childSlots(item) : undefined
    const key = isNode(item) ? keyOfShape(item, children) : ''
    const known = shapes.get(key)
    if (known !== undefined) return known
    // What the model does not know is of one type, whatever it is.
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
  /** Most parameters of a type find nothing in most resources: the children that they need show this faster than an evaluation. */
  readonly needs: readonly Need[] | undefined
}

type Children = ReadonlyMap<string, readonly ElementSlot[]>

/** Shapes that are remembered: those of a source are few, and somebody may send any. */
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

/** Members by their names in JSON, which name the types of choices, too. */
function keyOfShape({ type }: FhirNode, children: Children | undefined): string {
  let key = type.name
  if (children !== undefined) for (const slots of children.values()) for (const { jsonName } of slots) key += ` ${jsonName}`
  return key
}

/** What is not a node has no children, and is asked everything. */
function mayApply(model: TypeModel, { needs }: Branch, children: Children | undefined): boolean {
  return needs === undefined || children === undefined || isAnyMet(model, needs, children)
}

/** A child of the focus without which an expression finds nothing. */
interface Need {
  readonly name: string
  /** The type that it is cast to. */
  readonly type?: string | undefined
}

/**
 * Children of which an expression needs one: a focus that has none of them need not be asked. `undefined` where that is unknown, as of
 * `exists()`, which finds `false`.
 */
export function needsOf(ast: Ast): readonly Need[] | undefined {
  if (ast.kind === 'member') return needsOfStep(ast.name, ast.target)
  if (ast.kind === 'type') return ast.operator === 'as' ? castTo(ast.type.name, ast.operand) : undefined
  if (ast.kind === 'call') return needsOfCall(ast)
  return ast.kind === 'binary' && ast.operator === '|' ? needsOfUnion(ast) : undefined
}

/** Whether one of the needs may be met; it is not by a choice of another type. */
export function isAnyMet(model: TypeModel, needs: readonly Need[], children: ReadonlyMap<string, readonly ElementSlot[]>): boolean {
  for (const { name, type } of needs) {
    const slots = children.get(name)
    if (slots !== undefined && (type === undefined || slots.some((slot) => mayBe(model, slot, type)))) return true
  }
  return false
}

/** What is not a choice is looked at when it is cast, as are types that the model does not know. */
function mayBe(model: TypeModel, { isChoice, type }: ElementSlot, wanted: string): boolean {
  const present = isChoice && model.type(wanted) !== undefined ? model.type(type) : undefined
  return present === undefined || isSubtype(model, present, wanted)
}

/** Functions that find nothing in nothing. */
const PASSING: ReadonlySet<string> = new Set(['extension', 'first', 'resolve', 'where'])

const CASTS: ReadonlySet<string> = new Set(['as', 'ofType'])

/** At the head of a path the name of a type means the focus, or else an element. */
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

/** The cast decides only where the child itself is cast, and not what is found in it. */
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

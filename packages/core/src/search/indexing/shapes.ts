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
} from '../../fhirpath/index.js'
import { directPath, type DirectPath } from './direct-path.js'
import { isAnyMet, needsOf, type Need } from './needs.js'

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
export interface ApplyingBranch {
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
  /** Most parameters of a type find nothing in most resources: what children they need says so sooner than their evaluation. */
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

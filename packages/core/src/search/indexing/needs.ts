import { isSubtype, type Ast, type ElementSlot, type TypeModel } from '../../fhirpath/index.js'

/** A child of the focus without which an expression finds nothing. */
export interface Need {
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

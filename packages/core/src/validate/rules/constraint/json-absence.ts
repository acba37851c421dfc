import type { Ast, TypeDefinition } from '../../../fhirpath/index.js'
import type { JsonObject } from '../../../json/index.js'
import { isTrace } from './json-path.js'

/** What is true of no items, and what is false. */
const OF_NOTHING: ReadonlyMap<string, boolean> = new Map([
  ['empty', true],
  ['all', true],
  ['isDistinct', true],
  ['exists', false],
  ['hasValue', false],
])
/** Functions that find nothing in nothing. */
export const SELECTIONS: ReadonlySet<string> = new Set(['where', 'select', 'ofType', 'first', 'last', 'tail', 'distinct'])

/**
 * Makes the test whether a value has none of the elements without which an expression is true, whatever else there is; `undefined` for an expression of another
 * form. Most invariants speak of elements that are seldom there, and are decided by this alone (bench `validate`).
 */
export function absenceTest(ast: Ast, type: TypeDefinition): ((value: JsonObject) => boolean) | undefined {
  const elements = elementsWithout(ast, true)
  if (elements === undefined) return undefined
  const names: string[] = []
  for (const element of elements) {
    const slots = type.elements.get(element)
    if (slots === undefined) return undefined
    for (const { jsonName, siblingName } of slots) names.push(jsonName, siblingName)
  }
  return names.length > FEW ? hasNoneOfMany(new Set(names)) : hasNoneOf(names)
}

const FEW = 8

function hasNoneOf(names: readonly string[]): (value: JsonObject) => boolean {
  return (value) => {
    for (const name of names) if (value[name] !== undefined) return false
    return true
  }
}

/** Of a choice of many types few are there. */
function hasNoneOfMany(names: ReadonlySet<string>): (value: JsonObject) => boolean {
  return (value) => {
    for (const name in value) if (names.has(name)) return false
    return true
  }
}

/** Names of the elements without which an expression has a truth value. Operands are taken in their order: where an earlier one cannot be evaluated, a later one decides nothing. */
function elementsWithout(ast: Ast, truth: boolean): readonly string[] | undefined {
  if (ast.kind === 'binary') return withoutOperands(ast, truth)
  if (ast.kind !== 'call' || ast.target === undefined) return undefined
  if (isTrace(ast.name, ast.args)) return elementsWithout(ast.target, truth)
  if (ast.name === 'not') return elementsWithout(ast.target, !truth)
  const first = OF_NOTHING.get(ast.name) === truth ? firstStep(ast.target) : undefined
  return first === undefined ? undefined : [first]
}

/** Where an operand decides alone, the other is not looked at; elsewhere both must be as is wanted. */
function withoutOperands({ operator, left, right }: Ast & { kind: 'binary' }, truth: boolean): readonly string[] | undefined {
  if (operator !== 'or' && operator !== 'and' && operator !== 'implies') return undefined
  const first = elementsWithout(left, operator === 'implies' ? !truth : truth)
  if (first === undefined || truth === (operator !== 'and')) return first
  const second = elementsWithout(right, truth)
  return second && [...first, ...second]
}

/** The element with which a path begins. */
function firstStep(ast: Ast): string | undefined {
  if (ast.kind === 'member') return ast.target === undefined ? ast.name : firstStep(ast.target)
  const isSelection = ast.kind === 'call' && (SELECTIONS.has(ast.name) || isTrace(ast.name, ast.args))
  return isSelection && ast.target !== undefined ? firstStep(ast.target) : undefined
}

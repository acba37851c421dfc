import { quoted } from '../errors/index.js'
import { isNode, itemsOfTruth, type Items, NOTHING } from './item.js'
import { evaluationProblem, budgetProblem } from './problem.js'
import { PENDING, type FhirPathBudget, type FhirPathContext, type Pending } from './host.js'
import type { TypeModel } from './model.js'

/**
 * A compiled expression with the three forms of its result. `truth` and `count` avoid creating the collection where an expression does not need it.
 */
export interface Code {
  readonly items: (scope: Scope) => Items
  /** The result as a truth value, by singleton evaluation; `undefined` when it is empty. */
  readonly truth: (scope: Scope) => boolean | undefined
  readonly count: (scope: Scope) => number
}

/** Creates code that derives the other forms from its items. */
export function codeOfItems(items: (scope: Scope) => Items): Code {
  return { items, truth: (scope) => truthOf(items(scope)), count: (scope) => items(scope).length }
}

/** Creates code whose result is a truth value. */
export function codeOfTruth(truth: (scope: Scope) => boolean | undefined): Code {
  return { items: (scope) => itemsOfTruth(truth(scope)), truth, count: (scope) => (truth(scope) === undefined ? 0 : 1) }
}

/** Creates code with a constant result. */
export function codeOfConstant(items: Items): Code {
  return codeOfItems(() => items)
}

/**
 * Evaluates a collection as a single Boolean: a single item that is not a boolean counts as true.
 *
 * @throws {OperationError} `fhirpath-invalid` for several items.
 * @see https://hl7.org/fhirpath/N1/#singleton-evaluation-of-collections
 */
function truthOf(items: Items): boolean | undefined {
  const [item] = items
  if (item === undefined) return undefined
  if (items.length > 1) throw evaluationProblem(`a single Boolean is needed, but there are ${items.length} items`)
  if (typeof item === 'boolean') return item
  return isNode(item) && typeof item.value === 'boolean' ? item.value : true
}

/** Limits for expressions of profiles and other content. */
export const DEFAULT_BUDGET: FhirPathBudget = { steps: 1_000_000, items: 100_000 }

/** State of one evaluation. */
export interface Run {
  readonly context: FhirPathContext
  readonly budget: FhirPathBudget
  readonly model: TypeModel
  /** `%context`: the items that the evaluation started from. */
  readonly focus: Items
  steps: number
  moment: Date | undefined
  isPending: boolean
}

/** Values of `$this`, `$index`, `$total` and defined variables at one place of an expression. */
export interface Scope {
  readonly run: Run
  focus: Items
  index: number
  total: Items
  variables: ReadonlyMap<string, Items> | undefined
}

/** Creates the scope in which an evaluation begins. */
export function rootScope(run: Run): Scope {
  return { run, focus: run.focus, index: 0, total: [], variables: undefined }
}

/** Creates a scope for expressions that a function evaluates for each item of its input. */
export function innerScope(scope: Scope): Scope {
  return { run: scope.run, focus: scope.focus, index: 0, total: scope.total, variables: scope.variables }
}

/**
 * Counts work: one step for each item created or read.
 *
 * @throws {OperationError} `fhirpath-budget` when the steps exceed the budget.
 */
export function spend(run: Run, steps: number): void {
  run.steps += steps
  const { steps: most } = run.budget
  if (run.steps > most) throw budgetProblem(`${most} steps`)
}

/** Counts the reading of characters that native code goes through once, of which 128 take as long as one step. */
export function spendReading(run: Run, characters: number): void {
  if (characters >= 128) spend(run, Math.floor(characters / 128))
}

/** Counts the making of a text or of texts that have so many characters: 8 are one step. */
export function spendWriting(run: Run, characters: number): void {
  if (characters >= 8) spend(run, Math.floor(characters / 8))
}

/** Returns an answer of the host; if it is pending, returns `undefined` and marks the evaluation as pending. */
export function answered<T>(run: Run, answer: T | Pending): T | undefined {
  if (answer !== PENDING) return answer
  run.isPending = true
  return undefined
}

const CONSTANTS: ReadonlyMap<string, string> = new Map([
  ['ucum', 'http://unitsofmeasure.org'],
  ['sct', 'http://snomed.info/sct'],
  ['loinc', 'http://loinc.org'],
])

/** Compiles a variable, by its name without `%`: FHIR's fixed variables, those of the context, and those of `defineVariable()`. */
export function compileVariable(name: string): Code {
  const constant = constantOf(name)
  return constant === undefined ? codeOfItems((scope) => valueOf(name, scope)) : codeOfConstant([constant])
}

/** Returns the text of one of FHIR's fixed variables; `undefined` for any other name. */
export function constantOf(name: string): string | undefined {
  return CONSTANTS.get(name) ?? canonicalOf(name)
}

/** `%vs-name` and `%ext-name` are canonicals of HL7. */
function canonicalOf(name: string): string | undefined {
  if (name.startsWith('vs-')) return `http://hl7.org/fhir/ValueSet/${name.slice(3)}`
  return name.startsWith('ext-') ? `http://hl7.org/fhir/StructureDefinition/${name.slice(4)}` : undefined
}

function valueOf(name: string, scope: Scope): Items {
  const { context, focus } = scope.run
  const defined = scope.variables?.get(name) ?? context.variables?.get(name)
  if (defined !== undefined) return defined
  if (name === 'context') return focus
  const resource = context.resource === undefined ? focus : [context.resource]
  if (name === 'resource') return resource
  if (name === 'rootResource') return context.rootResource === undefined ? resource : [context.rootResource]
  throw evaluationProblem(`there is no variable ${quoted(`%${name}`)}`)
}

/** Defines a variable for the rest of the scope. */
export function define(scope: Scope, name: string, value: Items): void {
  scope.variables = new Map([...(scope.variables ?? []), [name, value.length === 0 ? NOTHING : value]])
}

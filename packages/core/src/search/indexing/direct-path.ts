import { isEmpty, isSubtype, type Ast, type ElementSlot, type TypeDefinition, type TypeModel } from '../../fhirpath/index.js'
import { isObject, type JsonObject } from '../../json/index.js'

/** Evaluates a path directly on the JSON of a value, without creating a node for each element. */
export interface DirectPath {
  /**
   * Adds the results of the path to `found`.
   *
   * @returns False if the JSON does not have the shape of its type, such as a text instead of an object: the results are then invalid, and the
   *   expression has to be evaluated.
   */
  readonly read: (json: JsonObject, found: unknown[]) => boolean
  /** Type that references in the result must lead to (`where(resolve() is Patient)`); any when absent. */
  readonly target?: string | undefined
}

/**
 * Creates the direct reader for a path of plain steps and casts (`Observation.value as Quantity`, `onset.as(Age)`, `name.given`), perhaps with
 * `where(resolve() is X)` at its end; `undefined` for any other expression.
 *
 * @param type Type of the value where the path starts.
 */
export function directPath(ast: Ast, type: TypeDefinition, model: TypeModel): DirectPath | undefined {
  const target = targetOf(ast)
  const path = target === undefined ? ast : ast.kind === 'call' ? ast.target : undefined
  const names = path && namesIn(path, type, model)
  if (names === undefined || names.length === 0) return undefined
  const steps = stepsOf(names, type, model)
  if (steps === undefined || (target !== undefined && !endsInReferences(steps))) return undefined
  return { read: (json, found) => collect(steps, json, found), target }
}

/** Returns X of `where(resolve() is X)`. */
function targetOf(ast: Ast): string | undefined {
  if (ast.kind !== 'call' || ast.name !== 'where') return undefined
  const [criteria] = ast.args
  if (criteria?.kind !== 'type' || criteria.operator !== 'is' || criteria.type.namespace !== undefined) return undefined
  const { operand } = criteria
  const isResolved = operand.kind === 'call' && operand.name === 'resolve' && operand.target === undefined
  return isResolved ? criteria.type.name : undefined
}

/** A step to the elements with a name. */
interface Name {
  readonly name: string
  /** True for a slot of the type that the step is cast to. */
  readonly isCast?: ((slot: ElementSlot) => boolean) | undefined
}

/** Returns the steps of a path; `undefined` for any other expression. */
function namesIn(ast: Ast, type: TypeDefinition, model: TypeModel): readonly Name[] | undefined {
  if (ast.kind === 'member') {
    const before = ast.target === undefined ? [] : namesIn(ast.target, type, model)
    if (ast.target !== undefined || !/^[A-Z]/.test(ast.name)) return before && [...before, { name: ast.name }]
    return isSubtype(model, type, ast.name) ? before : undefined
  }
  const cast = castIn(ast)
  return cast && castOf(namesIn(cast.operand, type, model), castTo(cast.wanted, model, cast.rule))
}

interface Cast {
  readonly operand: Ast
  /** Name of the wanted type. */
  readonly wanted: string
  readonly rule: CastRule
}

/** Reads `x as T`, `x.as(T)` and `x.ofType(T)`, without a namespace. */
function castIn(ast: Ast): Cast | undefined {
  if (ast.kind === 'type')
    return ast.operator === 'is' || ast.type.namespace !== undefined ? undefined : { operand: ast.operand, wanted: ast.type.name, rule: AS }
  if (ast.kind !== 'call' || ast.target === undefined) return undefined
  const [rule, [wanted]] = [CASTS.get(ast.name), ast.args]
  if (rule === undefined || wanted?.kind !== 'member' || wanted.target !== undefined) return undefined
  return { operand: ast.target, wanted: wanted.name, rule }
}

interface CastRule {
  /** Whether the name of a System type also means the FHIR primitive. */
  readonly takesPrimitives: boolean
}

const AS: CastRule = { takesPrimitives: true }
const CASTS: ReadonlyMap<string, CastRule> = new Map([
  ['as', AS],
  ['ofType', { takesPrimitives: false }],
])

const SYSTEM_NAMES: ReadonlySet<string> = new Set(['Boolean', 'String', 'Integer', 'Decimal', 'Date', 'DateTime', 'Time'])

function castTo(wanted: string, model: TypeModel, { takesPrimitives }: CastRule): (slot: ElementSlot) => boolean {
  const primitive = takesPrimitives && SYSTEM_NAMES.has(wanted) ? wanted.charAt(0).toLowerCase() + wanted.slice(1) : undefined
  return ({ type }) => {
    const present = model.type(type)
    return type === primitive || (present !== undefined && model.type(wanted) !== undefined && isSubtype(model, present, wanted))
  }
}

/** Adds a cast to the last step. The start value cannot be cast, and a step only once. */
function castOf(names: readonly Name[] | undefined, isCast: (slot: ElementSlot) => boolean): readonly Name[] | undefined {
  const last = names?.at(-1)
  return names === undefined || last === undefined || last.isCast !== undefined ? undefined : [...names.slice(0, -1), { ...last, isCast }]
}

/** A member of the JSON, and the steps from its value; `next` is absent where the path ends. */
interface Step {
  readonly jsonName: string
  readonly siblingName: string
  readonly type: TypeDefinition
  readonly next: readonly Step[] | undefined
}

/** Up to this many slots with one name are read in the order of the type. With more, as for an extension's value, the present ones keep their own order. */
const FEW = 8

function stepsOf([first, ...rest]: readonly Name[], type: TypeDefinition, model: TypeModel): readonly Step[] | undefined {
  if (first === undefined || type.kind === 'primitive') return undefined
  const all = type.elements.get(first.name) ?? []
  const slots = first.isCast === undefined ? all : all.filter(first.isCast)
  if (all.length > FEW && slots.length > 1) return undefined
  const steps: Step[] = []
  for (const { jsonName, siblingName, type: name } of slots) {
    const child = model.type(name)
    // The type of a resource is known only from its content.
    if (child === undefined || child.kind === 'resource') return undefined
    const next = rest.length === 0 ? undefined : stepsOf(rest, child, model)
    if (rest.length > 0 && next === undefined) return undefined
    steps.push({ jsonName, siblingName, type: child, next })
  }
  return steps
}

function endsInReferences(steps: readonly Step[]): boolean {
  return steps.every(({ next, type }) => (next === undefined ? type.name === 'Reference' : endsInReferences(next)))
}

function collect(steps: readonly Step[], holder: JsonObject, found: unknown[]): boolean {
  for (const step of steps) if (!collectStep(step, holder, found)) return false
  return true
}

function collectStep(step: Step, holder: JsonObject, found: unknown[]): boolean {
  const value = holder[step.jsonName]
  // A null with extensions may have children.
  if (value === undefined || value === null) return step.next === undefined || !hasSibling(holder, step)
  if (Array.isArray(value)) {
    for (const item of value) if (!collectOne(step, item, found)) return false
    return value.length > 0 || !hasSibling(holder, step)
  }
  if (typeof value === 'function' || (typeof value !== 'object' && Array.isArray(holder[step.siblingName]))) return false
  return collectOne(step, value, found)
}

function collectOne({ next, type }: Step, value: unknown, found: unknown[]): boolean {
  if (next !== undefined) return isObject(value) && collect(next, value, found)
  if (value !== undefined && value !== null && !isEmpty(type, value)) found.push(value)
  return true
}

function hasSibling(holder: JsonObject, { siblingName }: Step): boolean {
  return holder[siblingName] !== undefined
}

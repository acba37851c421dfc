import type { Compute, Evaluation, Given, Places } from '../compile/compiler.js'
import { placed } from '../compile/given.js'
import { isNode, MAX_DEPTH, textAt, typeOf, type ElmNode } from '../elm/node.js'
import type { Value } from '../values/value.js'
import { createEvaluation, type EvaluationOptions } from './evaluate.js'

/** Node types whose value depends only on their operands, at a cost that does not depend on these. */
const FOLDED: ReadonlySet<string> = new Set([
  'Null',
  'Literal',
  'Quantity',
  'Negate',
  'Add',
  'Subtract',
  'Date',
  'DateTime',
  'DateFrom',
  'ToDate',
  'ToDateTime',
  'Interval',
  'Start',
  'End',
  'ParameterRef',
  'Code',
  'CodeRef',
  'Concept',
  'ConceptRef',
  'ToConcept',
  'Property',
  'As',
  'List',
  'ToList',
])

/** Maximum number of steps for evaluating one such node. */
const MAX_STEPS = 1_000

/** Finds expressions whose value is the same for every subject, and evaluates them once: during compilation or, if they depend on parameters, when an evaluation begins. */
export interface Constants {
  /** Compiles a node. Returns a constant if `type` can be folded and all operands are constants. */
  folded(type: string, compile: () => Compute): Compute
  /** Adds an expression that has one value in each evaluation: a parameter, or a function with the values of another constant. */
  addOfEach(compute: Compute, of?: Compute): void
  reachOf(compute: Compute): Reach | undefined
  /** Returns a reader of the value of a constant; `undefined` if it is none, or cannot be evaluated. */
  valueIn(compute: Compute): ((given: Given) => Value | undefined) | undefined
}

/** Whether a constant has the same value in all evaluations, or one value in each. */
export type Reach = 'all' | 'each'

interface ConstantsOptions {
  /** Offset in minutes for times without one. */
  readonly offset: number
  readonly places: Pick<Places, 'constants'>
  readonly given: (evaluation: Evaluation) => Given
}

/** Creates the constants of one compilation. */
export function createConstants({ places, given, offset }: ConstantsOptions): Constants {
  const constants = new WeakMap<Compute, Reach>()
  const values = new WeakMap<Compute, (given: Given) => Value | undefined>()
  const results: Results = new WeakMap()
  let varying = 0
  let ofEach = 0
  const known = (compute: Compute, reach: Reach): Compute => {
    constants.set(compute, reach)
    return compute
  }
  const constantOfEach = (compute: Compute): Compute => {
    const place = places.constants.push((own) => constantOf(compute, { offset, given: own, results }) ?? compute) - 1
    const made: Compute = (evaluation) => placed(given(evaluation).constants, place)(evaluation)
    values.set(made, ({ constants: own }) => results.get(placed(own, place)))
    return known(made, 'each')
  }
  const constant = (compute: Compute, reach: Reach): Compute | undefined => {
    if (reach === 'each') return constantOfEach(compute)
    const made = constantOf(compute, { offset, results })
    if (made !== undefined) values.set(made, () => results.get(made))
    return made === undefined ? undefined : known(made, 'all')
  }
  return {
    reachOf: (compute) => constants.get(compute),
    valueIn: (compute) => values.get(compute),
    addOfEach: (compute, of) => {
      const valueIn = of === undefined ? undefined : values.get(of)
      if (valueIn !== undefined) values.set(compute, valueIn)
      known(compute, 'each')
    },
    folded: (type, compile) => {
      const before = { varying, ofEach }
      const compute = compile()
      // A reference to a definition that is a constant compiles to the same constant.
      const isFolded = !constants.has(compute) && varying === before.varying && FOLDED.has(type)
      const made = isFolded ? (constant(compute, ofEach === before.ofEach ? 'all' : 'each') ?? compute) : compute
      const reach = constants.get(made)
      varying = before.varying + (reach === undefined ? 1 : 0)
      ofEach = before.ofEach + (reach === 'each' ? 1 : 0)
      return made
    },
  }
}

/** Members of nodes that are not expressions. */
const STATING = /^annotation$|^signature$|TypeSpecifier$/

/** Whether a node, from the types of its parts, may be a constant: it reads no alias and no operand, and computes little. */
export function isConstantForm(node: ElmNode, depth = 0): boolean {
  const type = typeOf(node)
  if ((type !== 'ExpressionRef' && !FOLDED.has(type)) || textAt(node, 'scope') !== undefined || depth > MAX_DEPTH) return false
  return Object.entries(node).every(
    ([member, value]) =>
      STATING.test(member) ||
      [value].flat().every((part) => !isNode(part) || textAt(part, 'type') === undefined || isConstantForm(part, depth + 1)),
  )
}

/** The values of evaluated constants. */
type Results = WeakMap<Compute, Value>

interface ConstantOptions extends Pick<EvaluationOptions, 'given' | 'offset'> {
  readonly results: Results
}

/** Evaluates a node over constants; `undefined` if that fails or takes too long, as it will then for each subject. */
function constantOf(compute: Compute, { results, ...options }: ConstantOptions): Compute | undefined {
  try {
    const value = compute(createEvaluation({ now: new Date(0), maxSteps: MAX_STEPS, ...options }))
    const made = (): Value => value
    results.set(made, value)
    return made
  } catch {
    return undefined
  }
}

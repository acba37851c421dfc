import type { Compute } from '../compile/compiler.js'
import { createEvaluation } from './evaluate.js'

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

/** Finds expressions whose value is the same for every subject, and evaluates them during compilation. */
export interface Constants {
  /** Compiles a node. Returns a constant if `type` can be folded and all operands are constants. */
  folded(type: string, compile: () => Compute): Compute
  has(compute: Compute): boolean
}

/** Creates the constants of one compilation. @param offset Offset in minutes for times without one. */
export function createConstants(offset: number): Constants {
  const constants = new WeakSet<Compute>()
  let varying = 0
  return {
    has: (compute) => constants.has(compute),
    folded: (type, compile) => {
      const before = varying
      const compute = compile()
      // A reference to a definition that is a constant compiles to the same constant.
      const constant = constants.has(compute) ? compute : varying === before && FOLDED.has(type) ? constantOf(compute, offset) : undefined
      varying = constant === undefined ? before + 1 : before
      if (constant !== undefined) constants.add(constant)
      return constant ?? compute
    },
  }
}

/** Evaluates a node over constants; `undefined` if that fails or takes too long, as it will then for each subject. */
function constantOf(compute: Compute, offset: number): Compute | undefined {
  try {
    const value = compute(createEvaluation({ now: new Date(0), offset, maxSteps: MAX_STEPS }))
    return () => value
  } catch {
    return undefined
  }
}

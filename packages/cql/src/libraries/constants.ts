import type { Compute } from '../compile/compiler.js'
import { createEvaluation } from './evaluate.js'

/** Node types whose value follows from their operands, at a cost that does not depend on these. */
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

/** Steps of one such node. */
const MAX_STEPS = 1_000

/** Finds what is the same for every subject, and evaluates it while compiling. */
export interface Constants {
  /** What a node compiles to; for a node of that type over constants, a constant. */
  folded(type: string, compile: () => Compute): Compute
  has(compute: Compute): boolean
}

/** Begins the constants of what is compiled together. @param offset In minutes, of times that have none. */
export function createConstants(offset: number): Constants {
  const constants = new WeakSet<Compute>()
  let varying = 0
  return {
    has: (compute) => constants.has(compute),
    folded: (type, compile) => {
      const before = varying
      const compute = compile()
      // A definition that is a constant is one wherever it is referred to.
      const constant = constants.has(compute) ? compute : varying === before && FOLDED.has(type) ? constantOf(compute, offset) : undefined
      varying = constant === undefined ? before + 1 : before
      if (constant !== undefined) constants.add(constant)
      return constant ?? compute
    },
  }
}

/** What fails, or takes long, does so for each subject. */
function constantOf(compute: Compute, offset: number): Compute | undefined {
  try {
    const value = compute(createEvaluation({ now: new Date(0), offset, maxSteps: MAX_STEPS }))
    return () => value
  } catch {
    return undefined
  }
}

import type { ElmNode } from '../elm/node.js'
import type { Value } from '../values/value.js'
import { isFhir } from '../values/value.js'
import type { Compute, Evaluation, NumberedElement, Scope } from './compiler.js'
import { aliasNamed, operandNamed, SUBJECT, type Free } from './settled.js'

/** Remembers what follows from one element alone, for as long as that element is kept: other periods ask for the same. */
export interface Remembering {
  /** What a node compiles to; where it follows from one element, a lookup. */
  remembered(node: ElmNode, scope: Scope, compile: () => Compute): Compute
}

/** Not worth to be remembered: these are the element itself. */
const REFERENCES: ReadonlySet<unknown> = new Set(['AliasRef', 'ExpressionRef', 'OperandRef', 'QueryLetRef'])

/**
 * @param nodes Receives the nodes that are remembered, in the order of the columns of an evaluation.
 * @param free What a node follows from.
 */
export function createRemembering(nodes: ElmNode[], free: (node: ElmNode) => Free | undefined): Remembering {
  let isWithin = false
  return {
    remembered: (node, scope, compile) => {
      const source = isWithin || REFERENCES.has(node['type']) ? undefined : sourceOf(free(node), scope)
      if (source === undefined) return compile()
      isWithin = true
      try {
        return lookedUp(compile(), source, nodes.push(node) - 1)
      } finally {
        isWithin = false
      }
    },
  }
}

/** The only thing that a node follows from; `undefined` where there are several, or none. */
function sourceOf(free: Free | undefined, { aliases, operands }: Scope): Compute | undefined {
  if (free?.size !== 1) return undefined
  if (free.has(SUBJECT)) return (evaluation) => evaluation.subject
  for (const [name, slot] of aliases) if (free.has(aliasNamed(name))) return slotAt(slot)
  for (const [name, slot] of operands) if (free.has(operandNamed(name))) return slotAt(slot)
  return undefined
}

function slotAt(slot: number): Compute {
  return (evaluation) => evaluation.slots[slot] ?? null
}

function lookedUp(compute: Compute, source: Compute, index: number): Compute {
  return (evaluation: Evaluation) => {
    const column = evaluation.columns[index]
    if (column === undefined) return compute(evaluation)
    const element = source(evaluation)
    if (!isNumbered(element)) return compute(evaluation)
    const known = column.get(element)
    if (known !== undefined) return known
    const value = compute(evaluation)
    column.set(element, value)
    return value
  }
}

function isNumbered(value: Value): value is NumberedElement {
  return isFhir(value) && value.at !== undefined
}

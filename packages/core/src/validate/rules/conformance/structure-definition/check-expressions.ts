import { OperationError, quoted } from '../../../../errors/index.js'
import { childrenOf, textOf } from '../../../walk/children.js'
import type { Run } from '../../../walk/run.js'
import type { ElementCheck } from './check-elements.js'

/** Checks that the constraints on an element can be read. */
export function checkExpressions({ run, node }: ElementCheck): void {
  for (const constraint of childrenOf(run, node, 'constraint')) {
    const expression = textOf(constraint, 'expression')
    const problem = expression === undefined ? undefined : problemOf(run, expression)
    if (problem === undefined) continue
    run.sink.report('definition-expression', constraint, {
      text: `The constraint ${quoted(textOf(constraint, 'key') ?? '')} cannot be read. ${problem}`,
    })
  }
}

function problemOf({ facts }: Run, expression: string): string | undefined {
  try {
    facts.expression(expression)
    return undefined
  } catch (error) {
    if (error instanceof OperationError) return error.message
    throw error
  }
}

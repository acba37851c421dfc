import type { OperationContext } from '../context/index.js'
import { OperationError, type OutcomeIssue } from '../errors/index.js'
import { storedInstance, type OperationRequest, type OperationResponse } from '../operation/index.js'
import { parameterReader } from '../parameters/index.js'
import { ignoreUnknown } from '../terminology/index.js'
import type { SnapshotProblem } from './element-tree.js'
import { generateSnapshot, type SnapshotInput } from './generate-snapshot.js'

/** Runs `$snapshot`. @throws {OperationError} as `readInput`; `definition-invalid` if the snapshot has errors. */
export async function runSnapshot(ctx: OperationContext, request: OperationRequest): Promise<OperationResponse> {
  const { definition, problems } = await generateSnapshot(ctx, await readInput(ctx, request))
  const [first, ...others] = problems.filter(({ severity }) => severity === 'error')
  if (first !== undefined)
    throw new OperationError('definition-invalid', first.text, { expression: [first.expression], issues: others.map(issueOf) })
  return { status: 200, resource: definition }
}

function issueOf({ severity, text, expression }: SnapshotProblem): OutcomeIssue {
  return { severity, code: 'invalid', text, expression: [expression] }
}

/**
 * Reads the definition: on the instance level the stored one, on the type level that of the body, of the parameter `definition`, or with the `url`.
 *
 * @throws {OperationError} `source-ambiguous` for more than one at the type level, `parameter-required` for none; `not-found` for an unknown id.
 */
async function readInput(ctx: OperationContext, request: OperationRequest): Promise<SnapshotInput> {
  const reader = parameterReader(request.parameters)
  const [sent, url] = [reader.resource('definition'), reader.text('url')]
  ignoreUnknown(request, reader)
  const stored = (await storedInstance(ctx, request))?.resource
  if (stored !== undefined) return { definition: stored }
  if (sent !== undefined && url !== undefined)
    throw new OperationError('source-ambiguous', 'The definition is sent, and named by its url too; one of them is needed.', {
      expression: [reader.expressionOf('url')],
    })
  if (sent !== undefined) return { definition: sent }
  if (url !== undefined) return { url }
  throw new OperationError('parameter-required', 'A StructureDefinition is needed: in the body, by its url, or by an id in the path.', {
    expression: ['definition'],
  })
}

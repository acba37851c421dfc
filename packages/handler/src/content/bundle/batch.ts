import { createPace } from 'fhir-ops/context'
import type { Answer } from '../../http/answer.js'
import type { Call } from '../../routes/route.js'
import { responseBundle } from './bundle-response.js'
import { bundleParts } from './bundle-part.js'
import type { ServePart } from './part-runner.js'

/**
 * Answers each entry of a batch by itself, in their order; an entry that fails leaves the others as they are.
 *
 * @throws {OperationError} `body-structure`; `computation-timeout`, `aborted`.
 * @see https://hl7.org/fhir/R4/http.html#transaction
 */
export async function runBatch(call: Call, serve: ServePart): Promise<Answer> {
  const answers: Answer[] = []
  const pace = createPace(call.ctx)
  for (const { request } of await bundleParts(call)) {
    pace.check()
    if (pace.due()) await pace.pause()
    answers.push(await serve(request, call))
  }
  return responseBundle('batch-response', answers)
}

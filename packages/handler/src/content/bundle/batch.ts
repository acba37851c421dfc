import { createPace } from 'fhir-ops/context'
import { fhirText, type Answer } from '../../http/answer.js'
import type { Call } from '../../routes/route.js'
import type { Service } from '../../service.js'
import { createBundleWriter, type BundleWriter } from '../bundle-text.js'
import { responseEntry } from './bundle-response.js'
import { entryError } from './entry-error.js'
import { bundleParts } from './bundle-part.js'
import type { ServePart } from './part-runner.js'

/**
 * Answers each entry of a batch by itself, in their order; an entry that fails leaves the others as they are.
 *
 * @throws {OperationError} `body-structure`; `too-costly` when the answer becomes too long: the entries before that were carried out; `computation-timeout`, `aborted`.
 * @see https://hl7.org/fhir/R4/http.html#transaction
 */
export async function runBatch(service: Service, call: Call, serve: ServePart): Promise<Answer> {
  const response = createBundleWriter(call.ctx, { type: 'batch-response' }, ADVICE)
  const pace = createPace(call.ctx)
  for (const { index, request } of await bundleParts(service, call)) {
    pace.check()
    if (pace.due()) await pace.pause()
    addEntry(response, index, await serve(request, call))
  }
  return fhirText(200, response.text())
}

const ADVICE = 'Send fewer entries; those before this one were carried out.'

function addEntry(response: BundleWriter, index: number, answer: Answer): void {
  try {
    response.add(responseEntry(answer))
  } catch (error) {
    throw entryError(index, error)
  }
}

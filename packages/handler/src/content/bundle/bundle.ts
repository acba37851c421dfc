import { createPace } from 'fhir-ops/internal/context'
import { OperationError } from 'fhir-ops/errors'
import { createBundleWriter, type BundleWriter } from '../bundle-text.js'
import type { Exchange } from '../../exchange.js'
import { fhirText, type Answer } from '../../http/answer.js'
import type { Service } from '../../service.js'
import { bundleParts, entryError, responseEntry, type PartRunner, type ServePart } from './bundle-entries.js'
import { runTransaction } from './transaction.js'

/** Answers a Bundle by its type. @throws {OperationError} `body-structure` for any but a batch and a transaction. */
export async function runBundle(service: Service, exchange: Exchange, parts: PartRunner): Promise<Answer> {
  const { resourceType, type } = exchange.body?.json ?? {}
  if (resourceType !== 'Bundle') throw new OperationError('body-structure', 'The body must be a Bundle.', { expression: ['resourceType'] })
  if (type === 'batch') return runBatch(service, exchange, parts.serve)
  if (type === 'transaction') return runTransaction(service, exchange, parts)
  throw new OperationError('body-structure', 'The Bundle must have the type batch or transaction.', { expression: ['Bundle.type'] })
}

/**
 * Answers each entry of a batch by itself, in their order; an entry that fails leaves the others as they are.
 *
 * @throws {OperationError} `body-structure`; `too-costly` when the answer becomes too long: the entries before that were carried out; `computation-timeout`, `aborted`.
 * @see https://hl7.org/fhir/R4/http.html#transaction
 */
async function runBatch(service: Service, exchange: Exchange, serve: ServePart): Promise<Answer> {
  const response = createBundleWriter(exchange.ctx, { type: 'batch-response' }, ADVICE)
  const pace = createPace(exchange.ctx)
  for (const { index, request } of await bundleParts(service, exchange)) {
    pace.check()
    await pace.step()
    addEntry(response, index, await serve(request, exchange))
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

import { OperationError } from 'fhir-ops/errors'
import type { Answer } from '../../http/answer.js'
import type { Call } from '../../routes/route.js'
import type { Service } from '../../service.js'
import { runBatch } from './batch.js'
import type { PartRunner } from './part-runner.js'
import { runTransaction } from './transaction.js'

/** Answers a Bundle by its type. @throws {OperationError} `body-structure` for any but a batch and a transaction. */
export async function runBundle(service: Service, call: Call, parts: PartRunner): Promise<Answer> {
  const { resourceType, type } = call.body?.json ?? {}
  if (resourceType !== 'Bundle') throw new OperationError('body-structure', 'The body must be a Bundle.', { expression: ['resourceType'] })
  if (type === 'batch') return runBatch(service, call, parts.serve)
  if (type === 'transaction') return runTransaction(service, call, parts)
  throw new OperationError('body-structure', 'The Bundle must have the type batch or transaction.', { expression: ['Bundle.type'] })
}

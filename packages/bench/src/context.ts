import { createContext, type OperationContext } from 'fhir-ops/context'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryStorage } from 'fhir-ops/memory'
import { r4 } from '@fhir-ops/r4'

/** A context over memory with the resources and R4. */
export function contextWith(resources: readonly JsonObject[]): OperationContext {
  const { indexer, ...release } = r4()
  return createContext({ storage: memoryStorage(resources, { indexer }), ...release })
}

import { cqlLanguage } from '@fhir-ops/cql'
import type { MeasureThread, OpenMeasureThread } from '@fhir-ops/cql/node'
import { openEngine } from './engine.js'

/** Data passed to a thread of `fhir-ops evaluate --threads`. */
export interface MeasureThreadData {
  /** The value of `--storage`. */
  readonly storage: string
  readonly operationTimeoutMs: number
}

/** Opens the command's storage in a thread. */
export const openThread: OpenMeasureThread = async (data, translator): Promise<MeasureThread> => {
  if (!isThreadData(data)) throw new TypeError('A thread of a measure needs the name of a storage.')
  const { storage, operationTimeoutMs } = data
  const engine = await openEngine({ storage, limits: { operationTimeoutMs } }, { out: () => {}, err: () => {}, stdin: async () => '' })
  return { ctx: engine.ctx, languages: [cqlLanguage({ translator })], close: engine.close }
}

function isThreadData(data: unknown): data is MeasureThreadData {
  if (typeof data !== 'object' || data === null || !('storage' in data && 'operationTimeoutMs' in data)) return false
  return typeof data.storage === 'string' && typeof data.operationTimeoutMs === 'number'
}

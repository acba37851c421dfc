import { randomUUID } from 'node:crypto'
import { OperationError } from 'fhir-ops/errors'
import type { ConceptStore, SystemToStore } from 'fhir-ops/storage'
import type { StagedSystem } from 'fhir-ops/internal/storage'
import type { Executor } from './commands/command.js'
import { hasSystem, listSystems, publishSystem, putSection, readSection, removeSystem, stageSystem } from './commands/concept-commands.js'

/** The imported code systems behind an executor. Sections are read in the calling thread. */
export function conceptStoreOn(executor: Executor): ConceptStore {
  return {
    systems: async () => executor.call(listSystems, null),
    async open(key) {
      if (!(await executor.call(hasSystem, key))) {
        throw new OperationError('storage-unavailable', 'The version of the code system was removed.')
      }
      return { section: (name) => executor.callNow(readSection, { key, name }) }
    },
    stage: async (system) => staged(executor, system),
    remove: async (key) => void (await executor.call(removeSystem, key)),
    revision: executor.revision,
  }
}

async function staged(executor: Executor, system: SystemToStore): Promise<StagedSystem> {
  const stored = { ...system, key: randomUUID() }
  await executor.call(stageSystem, stored)
  return {
    put: async (name, bytes) => void (await executor.call(putSection, { key: stored.key, name, bytes })),
    async publish() {
      await executor.call(publishSystem, stored)
      return stored
    },
    discard: async () => void (await executor.call(removeSystem, stored.key)),
  }
}

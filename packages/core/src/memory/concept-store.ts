import { OperationError } from '../errors/index.js'
import type { ConceptStore, StoredSystem, SystemSections, SystemToStore } from '../storage/index.js'

interface Published {
  readonly system: StoredSystem
  readonly sections: ReadonlyMap<string, Uint8Array>
}

/** Keeps imported code systems in memory, as long as the process lives. */
export function memoryConceptStore(): ConceptStore {
  const published = new Map<string, Published>()
  let changes = 0
  return {
    systems: async () => Array.from(published.values(), ({ system }) => system).toSorted(byUrlAndVersion),
    open: async (key) => {
      const found = published.get(key)
      if (found === undefined) throw new OperationError('storage-unavailable', 'The version of the code system was removed.')
      return sectionsOf(found.sections)
    },
    async stage(system) {
      const sections = new Map<string, Uint8Array>()
      return {
        put: async (name, bytes) => void sections.set(name, bytes),
        async publish() {
          const before = [...published.values()].find((other) => isSameVersion(other.system, system))
          if (before !== undefined) published.delete(before.system.key)
          const stored = { ...system, key: crypto.randomUUID() }
          published.set(stored.key, { system: stored, sections: new Map(sections) })
          changes++
          return stored
        },
        discard: async () => sections.clear(),
      }
    },
    async remove(key) {
      if (published.delete(key)) changes++
    },
    revision: () => changes,
  }
}

function sectionsOf(sections: ReadonlyMap<string, Uint8Array>): SystemSections {
  return {
    section(name) {
      const bytes = sections.get(name)
      if (bytes === undefined) throw new OperationError('storage-damaged', `The code system has no section ${name}.`)
      return bytes
    },
  }
}

function isSameVersion(a: SystemToStore, b: SystemToStore): boolean {
  return a.url === b.url && a.version === b.version
}

function byUrlAndVersion(a: SystemToStore, b: SystemToStore): number {
  return compare(a.url, b.url) || compare(a.version, b.version)
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

import { OperationError } from '../errors/index.js'
import type { ConceptStore, StagedSystem, StoredSystem, SystemSections, SystemToStore } from '../storage/index.js'

interface Published {
  readonly system: StoredSystem
  readonly sections: ReadonlyMap<string, Uint8Array>
}

interface Kept {
  readonly published: Map<string, Published>
  /** The sections of unfinished imports, by url and version. */
  readonly staged: Map<string, Map<string, Uint8Array>>
  changes: number
}

/** Keeps imported code systems in memory, for as long as the process runs. */
export function memoryConceptStore(): ConceptStore {
  const kept: Kept = { published: new Map(), staged: new Map(), changes: 0 }
  return {
    systems: async () => Array.from(kept.published.values(), ({ system }) => system).toSorted(byUrlAndVersion),
    open: async (key) => {
      const found = kept.published.get(key)
      if (found === undefined) throw new OperationError('storage-unavailable', 'The version of the code system was removed.')
      return sectionsOf(found.sections)
    },
    stage: async (system) => staged(kept, system),
    async remove(key) {
      if (kept.published.delete(key)) kept.changes++
    },
    revision: () => kept.changes,
  }
}

function staged(kept: Kept, system: SystemToStore): StagedSystem {
  const sections = new Map<string, Uint8Array>()
  const name = JSON.stringify([system.url, system.version])
  kept.staged.set(name, sections)
  const checkUnderWay = (): void => {
    if (kept.staged.get(name) === sections) return
    throw new OperationError('conflict', 'The import has ended, or another import of the same version has started.')
  }
  return {
    async put(section, bytes) {
      checkUnderWay()
      sections.set(section, bytes)
    },
    async publish() {
      checkUnderWay()
      kept.staged.delete(name)
      const before = [...kept.published.values()].find((other) => isSameVersion(other.system, system))
      if (before !== undefined) kept.published.delete(before.system.key)
      const stored = { ...system, key: crypto.randomUUID() }
      kept.published.set(stored.key, { system: stored, sections })
      kept.changes++
      return stored
    },
    async discard() {
      if (kept.staged.get(name) === sections) kept.staged.delete(name)
    },
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

import type { SystemSections } from 'fhir-ops/storage'
import type { Section } from '../index.js'
import type { ImportWork } from '@fhir-ops/releases'

/** Sections of a version that is not stored yet. */
export interface WorkSections extends SystemSections {
  put(name: string, bytes: Uint8Array): void
  all(): Iterable<Section>
}

/** Opens the sections in the work of an import, with what is there already. */
export function sectionsIn({ db }: ImportWork): WorkSections {
  db.exec('CREATE TABLE IF NOT EXISTS section (name TEXT PRIMARY KEY, bytes BLOB NOT NULL)')
  const insert = db.prepare('INSERT INTO section VALUES (?, ?)')
  const select = db.prepare('SELECT name, bytes FROM section WHERE name = ?')
  const names = db.prepare('SELECT name FROM section ORDER BY rowid')
  const section = (name: string): Uint8Array => {
    const bytes = select.get(name)?.['bytes']
    return bytes instanceof Uint8Array ? bytes : new Uint8Array()
  }
  return {
    put: (name, bytes) => void insert.run(name, bytes),
    section,
    *all() {
      for (const { name } of names.all()) yield [String(name), section(String(name))]
    },
  }
}

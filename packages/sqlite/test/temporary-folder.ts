import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder for the files of one test. */
export interface TemporaryFolder {
  readonly file: (name: string) => string
  readonly remove: () => Promise<void>
}

export async function temporaryFolder(): Promise<TemporaryFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-sqlite-'))
  return { file: (name) => join(folder, name), remove: async () => rm(folder, { recursive: true, force: true }) }
}

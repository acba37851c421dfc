import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createContext, type OperationContext } from 'fhir-ops/context'
import { definitionEntries } from 'fhir-ops/internal/content'
import type { JsonObject } from 'fhir-ops/internal/json'
import { memoryConceptStore, memoryStorage } from 'fhir-ops/memory'
import { putResource, type ConceptStore, type Storage } from 'fhir-ops/storage'
import { snomed, snomedBuilder, SNOMED } from '@fhir-ops/snomed'
import { openSqlite } from '@fhir-ops/sqlite'
import {
  kindId,
  KIND_ATTRIBUTE,
  RELEASE_VERSION,
  releaseId,
  releaseRows,
  clinicalCode,
  CLINICAL_SYSTEM,
} from '../content/clinical-system.js'
import { largeMap } from '../content/content.js'
import type { ClinicalSubject } from './clinical-calls.js'

const URL = 'http://example.org/bench/clinical'

/** The system as a CodeSystem resource in memory storage. */
export function resourceSubject(codeSystem: JsonObject): ClinicalSubject {
  const sets = valueSets(CLINICAL_SYSTEM, { top: clinicalCode(0), property: 'kind', value: 'disorder' })
  const ctx = contextOver(memoryStorage([codeSystem, largeMap(), ...sets]))
  return { ctx, system: CLINICAL_SYSTEM, code: clinicalCode, all: `${URL}/all`, branch: `${URL}/branch`, kind: `${URL}/kind` }
}

/** The system as an imported release in memory. */
export async function memorySubject(concepts: readonly JsonObject[]): Promise<ClinicalSubject> {
  const store = memoryConceptStore()
  await importRelease(store, concepts)
  return releaseSubject(memoryStorage([largeMap(), ...releaseValueSets()]), store)
}

/** A folder with the imported release in a SQLite file. */
interface SqliteRelease {
  readonly file: string
  remove(): Promise<void>
}

/** Imports the release into a SQLite file. */
export async function sqliteRelease(concepts: readonly JsonObject[]): Promise<SqliteRelease> {
  const folder = await mkdtemp(join(tmpdir(), 'fhir-ops-bench-'))
  const file = join(folder, 'content.db')
  const db = await openSqlite(file)
  await importRelease(db.concepts, concepts)
  const resources = [largeMap(), ...releaseValueSets()]
  await db.storage.write(
    resources.map((source) => putResource({ type: String(source['resourceType']), id: String(source['id']), source }, definitionEntries)),
  )
  await db.close()
  return { file, remove: () => rm(folder, { recursive: true }) }
}

/** Opens an imported release. */
export async function sqliteSubject(file: string): Promise<ClinicalSubject & { close(): Promise<void> }> {
  const db = await openSqlite(file)
  return { ...releaseSubject(db.storage, db.concepts), close: () => db.close() }
}

function releaseSubject(storage: Storage, concepts: ConceptStore): ClinicalSubject {
  const ecl = `<< ${releaseId(0)} : ${KIND_ATTRIBUTE} = ${kindId('disorder')}`
  return {
    ctx: contextOver(storage, concepts),
    system: SNOMED,
    code: releaseId,
    all: `${SNOMED}?fhir_vs`,
    branch: `${SNOMED}?fhir_vs=isa/${releaseId(0)}`,
    kind: `${URL}/kind`,
    refinement: `${SNOMED}?fhir_vs=ecl/${encodeURIComponent(ecl)}`,
  }
}

async function importRelease(store: ConceptStore, concepts: readonly JsonObject[]): Promise<void> {
  const builder = snomedBuilder(RELEASE_VERSION)
  for (const [kind, row] of releaseRows(concepts)) builder.add(kind, row, [])
  const { system, sections } = builder.finish()
  const staged = await store.stage(system)
  for (const [name, bytes] of sections) await staged.put(name, bytes)
  await staged.publish()
}

function contextOver(storage: Storage, concepts?: ConceptStore): OperationContext {
  return createContext({
    storage,
    codeSystems: [snomed()],
    ...(concepts !== undefined && { concepts }),
    limits: { operationTimeoutMs: 60_000 },
  })
}

function releaseValueSets(): readonly JsonObject[] {
  return valueSets(SNOMED, { top: releaseId(0), property: KIND_ATTRIBUTE, value: kindId('disorder') })
}

interface Kind {
  readonly top: string
  readonly property: string
  readonly value: string
}

function valueSets(system: string, { top, property, value }: Kind): readonly JsonObject[] {
  const branch = { property: 'concept', op: 'is-a', value: top }
  const kind = { property, op: '=', value }
  return [
    valueSet('all', { system }),
    valueSet('branch', { system, filter: [branch] }),
    valueSet('kind', { system, filter: [branch, kind] }),
  ]
}

function valueSet(id: string, include: JsonObject): JsonObject {
  return { resourceType: 'ValueSet', id: `clinical-${id}`, url: `${URL}/${id}`, status: 'active', compose: { include: [include] } }
}

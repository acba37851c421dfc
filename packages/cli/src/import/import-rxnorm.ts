import { createInterface } from 'node:readline'
import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/json'
import type { ConceptStore, StoredSystem } from 'fhir-ops/storage'
import { storeConcepts } from 'fhir-ops/terminology/listed'
import { releaseFiles, type ReleaseFile } from './release-file.js'
import { rxnormConcept, type RxnormAtom, type RxnormParts } from './rxnorm-concept.js'

/** Which version is made of a release. */
export interface RxnormImportOptions {
  /** `MMDDYYYY`, as the National Library of Medicine names releases. Default: that in the name (`RxNorm_full_11032025.zip`). */
  readonly release?: string | undefined
  /** Is told what goes on. */
  readonly progress: (message: string) => void
}

const PROGRESS_ROWS = 500_000
/** Places of columns. @see https://www.nlm.nih.gov/research/umls/rxnorm/docs/techdoc.html */
const CONSO = { concept: 0, source: 11, type: 12, text: 14, suppress: 16, columns: 18 } as const
const REL = { first: 0, second: 4, name: 7, source: 10, columns: 16 } as const
const STY = { concept: 0, name: 3, columns: 6 } as const

/**
 * Imports a release of RxNorm in RRF into a concept store: the concepts of RxNorm itself with their names, term types, semantic types and
 * relationships. Names and codes of other sources, attributes and archived concepts are not imported.
 *
 * @param path Folder or ZIP archive of the release.
 * @throws {OperationError} `not-found` or `definition-invalid` when the release cannot be used; `parameter-required` when its version
 *   cannot be told from its name.
 */
export async function importRxnorm(
  concepts: ConceptStore,
  path: string,
  { release, progress }: RxnormImportOptions,
): Promise<StoredSystem> {
  const version = release ?? /([0-9]{8})/.exec(path.split(/[/\\]/).at(-1) ?? '')?.[1]
  if (version === undefined) throw new OperationError('parameter-required', `The name ${path} does not tell --release: a date as MMDDYYYY.`)
  const files = await releaseFiles(path)
  const told = (rows: number): void => progress(`… ${rows} rows`)
  const atoms = await gathered(files, 'RXNCONSO.RRF', { read: readAtom, columns: CONSO.columns, told })
  if (atoms.size === 0) throw new OperationError('definition-invalid', `${path} has no RXNCONSO.RRF with concepts of RxNorm.`)
  const parts: RxnormParts = {
    relations: await gathered(files, 'RXNREL.RRF', { read: readRelation, columns: REL.columns, told }),
    semanticTypes: await gathered(files, 'RXNSTY.RRF', { read: readSemanticType, columns: STY.columns, told }),
  }
  const list = Array.from(atoms, ([code, own]) => rxnormConcept(code, own, parts))
  const relationNames = new Set(Array.from(parts.relations.values(), (own) => own.map(({ name }) => name)).flat())
  const system = await storeConcepts(concepts, codeSystem(version, relationNames), list)
  progress(`published ${system.concepts} concepts`)
  return system
}

interface Reading<T> {
  /** The concept that a row is about, and what it says; `undefined` for a row that is not imported. */
  readonly read: (row: readonly string[]) => readonly [string, T] | undefined
  readonly columns: number
  readonly told: (rows: number) => void
}

async function gathered<T>(files: readonly ReleaseFile[], name: string, reading: Reading<T>): Promise<ReadonlyMap<string, readonly T[]>> {
  const found = new Map<string, T[]>()
  const file = files.find((one) => one.name.split(/[/\\]/).at(-1) === name && !/prescribe/i.test(one.name))
  let rows = 0
  for await (const row of file === undefined ? [] : rowsOf(file)) {
    if (row.length < reading.columns) throw new OperationError('definition-invalid', `A row of ${name} has ${row.length} columns.`)
    if (++rows % PROGRESS_ROWS === 0) reading.told(rows)
    const [concept, value] = reading.read(row) ?? []
    if (concept === undefined || value === undefined) continue
    const list = found.get(concept)
    if (list === undefined) found.set(concept, [value])
    else list.push(value)
  }
  return found
}

async function* rowsOf(file: ReleaseFile): AsyncGenerator<readonly string[]> {
  const stream = await file.open()
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) if (line !== '') yield line.split('|')
  } finally {
    stream.destroy()
  }
}

function readAtom(row: readonly string[]): readonly [string, RxnormAtom] | undefined {
  if (row[CONSO.source] !== 'RXNORM') return undefined
  return [at(row, CONSO.concept), { type: at(row, CONSO.type), text: at(row, CONSO.text), inUse: row[CONSO.suppress] === 'N' }]
}

/** A row says what the second concept is to the first. Rows between names, not concepts, have no concepts. */
function readRelation(row: readonly string[]): readonly [string, { name: string; to: string }] | undefined {
  const [first, second, name] = [at(row, REL.first), at(row, REL.second), at(row, REL.name)]
  return row[REL.source] !== 'RXNORM' || first === '' || second === '' || name === '' ? undefined : [second, { name, to: first }]
}

function readSemanticType(row: readonly string[]): readonly [string, string] {
  return [at(row, STY.concept), at(row, STY.name)]
}

function at(row: readonly string[], place: number): string {
  return row[place] ?? ''
}

function codeSystem(version: string, relations: ReadonlySet<string>): JsonObject {
  return {
    resourceType: 'CodeSystem',
    url: 'http://www.nlm.nih.gov/research/umls/rxnorm',
    version,
    name: 'RxNorm',
    language: 'en',
    status: 'active',
    content: 'complete',
    caseSensitive: true,
    property: [
      { code: 'TTY', type: 'code' },
      { code: 'STY', type: 'string' },
      { code: 'inactive', uri: 'http://hl7.org/fhir/concept-properties#inactive', type: 'boolean' },
      ...Array.from(relations, (code) => ({ code, type: 'code' })),
    ],
  }
}

import { createInterface } from 'node:readline'
import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/json'
import type { ConceptStore, StoredSystem } from 'fhir-ops/storage'
import { storeConcepts, type ConceptSequence } from 'fhir-ops/terminology/listed'
import { releaseFiles, type ReleaseFile } from './release-file.js'
import { rxnormConcept, type RxnormAtom, type RxnormRelation } from './rxnorm-concept.js'
import { openScratch, type Scratch } from './scratch.js'

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
 * relationships. Names and codes of other sources, attributes and archived concepts are not imported. The files are joined on disk, so memory does not grow
 * with the release.
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
  const tables = openScratch(TABLES)
  try {
    const relations = await readTables(files, tables, told)
    if (tables.size('atom') === 0) throw new OperationError('definition-invalid', `${path} has no RXNCONSO.RRF with concepts of RxNorm.`)
    const system = await storeConcepts(concepts, codeSystem(version, relations), madeConcepts(tables))
    progress(`published ${system.concepts} concepts`)
    return system
  } finally {
    tables.close()
  }
}

/** By concept: its names, its relationships, its semantic types. */
const TABLES = ['atom', 'relation', 'semantic-type'] as const
type RxnormTables = Scratch<(typeof TABLES)[number]>

/** @returns The names of the relationships. */
async function readTables(files: readonly ReleaseFile[], tables: RxnormTables, told: (rows: number) => void): Promise<ReadonlySet<string>> {
  const relations = new Set<string>()
  for await (const [code, atom] of readings(files, 'RXNCONSO.RRF', { read: readAtom, columns: CONSO.columns, told })) {
    tables.add('atom', code, JSON.stringify(atom))
  }
  for await (const [code, relation] of readings(files, 'RXNREL.RRF', { read: readRelation, columns: REL.columns, told })) {
    relations.add(relation.name)
    tables.add('relation', code, JSON.stringify(relation))
  }
  for await (const [code, type] of readings(files, 'RXNSTY.RRF', { read: readSemanticType, columns: STY.columns, told })) {
    tables.add('semantic-type', code, type)
  }
  return relations
}

function madeConcepts(tables: RxnormTables): ConceptSequence {
  return {
    length: tables.keys('atom'),
    *[Symbol.iterator]() {
      for (const [code, texts] of tables.rows('atom')) {
        const atoms = texts.map((text): RxnormAtom => JSON.parse(text))
        const relations = tables.values('relation', code).map((text): RxnormRelation => JSON.parse(text))
        yield rxnormConcept(code, { atoms, relations, semanticTypes: tables.values('semantic-type', code) })
      }
    },
  }
}

interface Reading<T> {
  /** The concept that a row is about, and what it says; `undefined` for a row that is not imported. */
  readonly read: (row: readonly string[]) => readonly [string, T] | undefined
  readonly columns: number
  readonly told: (rows: number) => void
}

/** What the rows of a file say; nothing when the release has not got it. */
async function* readings<T>(
  files: readonly ReleaseFile[],
  name: string,
  { read, columns, told }: Reading<T>,
): AsyncGenerator<readonly [string, T]> {
  const file = files.find((one) => one.name.split(/[/\\]/).at(-1) === name && !/prescribe/i.test(one.name))
  let rows = 0
  for await (const row of file === undefined ? [] : rowsOf(file)) {
    if (row.length < columns) throw new OperationError('definition-invalid', `A row of ${name} has ${row.length} columns.`)
    if (++rows % PROGRESS_ROWS === 0) told(rows)
    const reading = read(row)
    if (reading !== undefined) yield reading
  }
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
function readRelation(row: readonly string[]): readonly [string, RxnormRelation] | undefined {
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

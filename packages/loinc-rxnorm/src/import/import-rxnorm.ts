import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/internal/json'
import type { ConceptStore, StoredSystem } from 'fhir-ops/storage'
import { storeConcepts } from '../index.js'
import {
  counted,
  releaseFiles,
  type ReleaseFile,
  releaseLines,
  scratchIn,
  type Scratch,
  untakenRows,
  versionInPath,
  inWork,
  type ImportWork,
  type WorkOptions,
} from '@fhir-ops/releases'
import { madeConcepts } from './made-concepts.js'
import { checkOptions, inputShape, FUNCTION, needed, TEXT, type InputShape } from 'fhir-ops/internal/input'

/** Which version to make of a release. */
export interface RxnormImportOptions extends WorkOptions {
  /** Version of the release as `MMDDYYYY`, as named by the National Library of Medicine. Default: taken from the name (`RxNorm_full_11032025.zip`). */
  readonly release?: string | undefined
}

/** Positions of columns. @see https://www.nlm.nih.gov/research/umls/rxnorm/docs/techdoc.html */
const CONSO = { concept: 0, source: 11, type: 12, text: 14, suppress: 16, columns: 18 } as const
const REL = { first: 0, second: 4, name: 7, source: 10, columns: 16 } as const
const STY = { concept: 0, id: 1, name: 3, columns: 6 } as const

const SHAPE: InputShape = inputShape<RxnormImportOptions>({ work: TEXT, progress: needed(FUNCTION), release: TEXT })

/**
 * Imports a release of RxNorm in RRF into a concept store: the concepts of RxNorm itself, with their names, term types, semantic types and
 * relationships. Names and codes of other sources, attributes and archived concepts are not imported. The files are joined on disk, in the file named by
 * `work`, so memory does not grow with the release; after an abort, the next run continues after the rows already read.
 *
 * @param path Folder or ZIP archive of the release.
 * @throws {OperationError} `not-found` or `definition-invalid` if the release cannot be used; `parameter-required` if its version cannot be
 *   derived from its name; `conflict` if another import works with the same file.
 */
export async function importRxnorm(concepts: ConceptStore, path: string, options: RxnormImportOptions): Promise<StoredSystem> {
  checkOptions('importRxnorm', SHAPE, options)
  const { release, progress } = options
  const version = release ?? versionInPath(path, MONTH_DAY_YEAR, /rxnorm/i)
  if (version === undefined)
    throw new OperationError('parameter-required', `The name ${path} does not contain the release: give --release, a date as MMDDYYYY.`)
  const files = (await releaseFiles(path)).filter(isRead)
  return inWork(options, { release: `RxNorm ${version}`, files }, async (work) => {
    const tables = { ...scratchIn(work.db, TABLES), work }
    await readTables(files, tables)
    if (tables.size('atom') === 0) throw new OperationError('definition-invalid', `${path} has no RXNCONSO.RRF with concepts of RxNorm.`)
    await makeConcepts(tables)
    const system = await storeConcepts(concepts, codeSystem(version, tables), madeConcepts(tables))
    progress(`published ${counted(system.concepts, 'concept')}`)
    return system
  })
}

const MONTH_DAY_YEAR = /(?<![0-9])([01][0-9][0-3][0-9](?:19|20)[0-9]{2})(?![0-9])/

/** By concept: its names, its relationships, its semantic types. Then the names of relationships, and the finished concepts in order. */
const TABLES = ['atom', 'relation', 'semantic-type', 'relation-name', 'concept'] as const

interface RxnormTables extends Scratch<(typeof TABLES)[number]> {
  readonly work: ImportWork
}

const FILES: ReadonlySet<string> = new Set(['RXNCONSO.RRF', 'RXNREL.RRF', 'RXNSTY.RRF'])

function isRead({ name }: ReleaseFile): boolean {
  return FILES.has(baseName(name)) && !/prescribe/i.test(name)
}

function baseName(name: string): string {
  return name.split(/[/\\]/).at(-1) ?? ''
}

async function readTables(files: readonly ReleaseFile[], tables: RxnormTables): Promise<void> {
  const { work } = tables
  const names = new Set(tables.all('relation-name'))
  for await (const [code, atom] of readings(files, 'RXNCONSO.RRF', { work, read: readAtom, columns: CONSO.columns })) {
    tables.add('atom', code, JSON.stringify(atom))
  }
  for await (const [code, relation] of readings(files, 'RXNREL.RRF', { work, read: readRelation, columns: REL.columns })) {
    if (!names.has(relation.name)) tables.add('relation-name', '', relation.name)
    names.add(relation.name)
    tables.add('relation', code, JSON.stringify(relation))
  }
  for await (const [code, type] of readings(files, 'RXNSTY.RRF', { work, read: readSemanticType, columns: STY.columns })) {
    tables.add('semantic-type', code, JSON.stringify(type))
  }
}

async function makeConcepts(tables: RxnormTables): Promise<void> {
  for await (const [code, texts] of untakenRows(tables.work, 'atom', tables.rows('atom'))) {
    const atoms = texts.map((text): RxnormAtom => JSON.parse(text))
    const relations = tables.values('relation', code).map((text): RxnormRelation => JSON.parse(text))
    const semanticTypes = tables.values('semantic-type', code).map((text): SemanticType => JSON.parse(text))
    const concept = rxnormConcept(code, { atoms, relations, semanticTypes })
    tables.add('concept', '', JSON.stringify(concept))
  }
}

interface Reading<T> {
  readonly work: ImportWork
  /** Returns the concept of a row and its content; `undefined` for a row that is not imported. */
  readonly read: (row: readonly string[]) => readonly [string, T] | undefined
  readonly columns: number
}

/** Yields the content of rows in a file that no earlier run has processed; nothing if the release lacks the file. */
async function* readings<T>(
  files: readonly ReleaseFile[],
  name: string,
  { work, read, columns }: Reading<T>,
): AsyncGenerator<readonly [string, T]> {
  const file = files.find((one) => baseName(one.name) === name)
  for await (const row of untakenRows(work, name, file === undefined ? [] : rowsOf(file))) {
    if (row.length < columns) throw new OperationError('definition-invalid', `A row of ${name} has ${row.length} columns.`)
    const reading = read(row)
    if (reading !== undefined) yield reading
  }
}

async function* rowsOf(file: ReleaseFile): AsyncGenerator<readonly string[]> {
  for await (const lines of releaseLines(file)) for (const { text } of lines) yield text.split('|')
}

function readAtom(row: readonly string[]): readonly [string, RxnormAtom] | undefined {
  if (row[CONSO.source] !== 'RXNORM') return undefined
  return [at(row, CONSO.concept), { type: at(row, CONSO.type), text: at(row, CONSO.text), inUse: row[CONSO.suppress] === 'N' }]
}

/** Reads a relationship: a row states what the second concept is to the first. Rows that relate names instead of concepts have no concept ids. */
function readRelation(row: readonly string[]): readonly [string, RxnormRelation] | undefined {
  const [first, second, name] = [at(row, REL.first), at(row, REL.second), at(row, REL.name)]
  return row[REL.source] !== 'RXNORM' || first === '' || second === '' || name === '' ? undefined : [second, { name, to: first }]
}

function readSemanticType(row: readonly string[]): readonly [string, SemanticType] {
  return [at(row, STY.concept), { id: at(row, STY.id), name: at(row, STY.name) }]
}

function at(row: readonly string[], place: number): string {
  return row[place] ?? ''
}

function codeSystem(version: string, tables: RxnormTables): JsonObject {
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
      { code: 'TUI', type: 'code' },
      { code: 'inactive', uri: 'http://hl7.org/fhir/concept-properties#inactive', type: 'boolean' },
      ...Array.from(tables.all('relation-name'), (code) => ({ code, type: 'code' })),
    ],
  }
}

/** A name of a concept. */
interface RxnormAtom {
  /** Term type: `SCD`, `IN` ... */
  readonly type: string
  readonly text: string
  /** False if the name is suppressed. */
  readonly inUse: boolean
}

/** A relationship of a concept to another, such as `has_ingredient`. */
interface RxnormRelation {
  readonly name: string
  readonly to: string
}

/** The content of a release about one concept. */
interface RxnormParts {
  readonly atoms: readonly RxnormAtom[]
  readonly relations: readonly RxnormRelation[]
  readonly semanticTypes: readonly SemanticType[]
}

/** A semantic type, by id (`T121`) and name. */
interface SemanticType {
  readonly id: string
  readonly name: string
}

const URL = 'http://www.nlm.nih.gov/research/umls/rxnorm'
/** Term types of additional names; any other type is that of the concept itself. */
const OTHER_NAMES: ReadonlySet<string> = new Set(['SY', 'TMSY', 'PSN', 'ET'])

/** Makes a concept from its names. Names in use precede suppressed ones as the display, and then names of the concept's own type precede additional names. */
function rxnormConcept(code: string, { atoms, relations, semanticTypes }: RxnormParts): JsonObject {
  const main = atoms.toSorted((a, b) => rank(a) - rank(b))[0]
  const types = new Set(atoms.filter(({ type }) => !OTHER_NAMES.has(type)).map(({ type }) => type))
  return {
    code,
    ...(main !== undefined && { display: main.text }),
    designation: atoms
      .filter((atom) => atom !== main)
      .map(({ type, text }) => ({ language: 'en', use: { system: URL, code: type }, value: text })),
    property: [
      ...Array.from(types, (valueCode) => ({ code: 'TTY', valueCode })),
      ...semanticTypes.flatMap(({ id, name }) => [
        { code: 'STY', valueString: name },
        { code: 'TUI', valueCode: id },
      ]),
      ...relations.map(({ name, to }) => ({ code: name, valueCode: to })),
      ...(atoms.some(({ inUse }) => inUse) ? [] : [{ code: 'inactive', valueBoolean: true }]),
    ],
  }
}

function rank({ type, inUse }: RxnormAtom): number {
  return (inUse ? 0 : 2) + (OTHER_NAMES.has(type) ? 1 : 0)
}

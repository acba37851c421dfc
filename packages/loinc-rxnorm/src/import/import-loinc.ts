import { OperationError } from 'fhir-ops/errors'
import type { JsonObject } from 'fhir-ops/internal/json'
import type { ConceptStore, StoredSystem } from 'fhir-ops/storage'
import { storeConcepts } from '../index.js'
import { counted, releaseFiles, type ReleaseFile, untakenRows, inWork, versionInPath, type WorkOptions } from '@fhir-ops/releases'
import {
  answerConcept,
  branchConcept,
  CODE_PROPERTIES,
  codeConcept,
  groupConcept,
  listConcept,
  LOINC,
  partConcept,
  PART_PROPERTIES,
  TEXT_PROPERTIES,
  loincFile,
  loincRows,
  loincTablesIn,
  readGroup,
  readLoincTables,
  type ListedAnswer,
  type LoincTables,
  readVariants,
} from './loinc-concepts.js'
import { madeConcepts } from './made-concepts.js'
import { checkOptions, inputShape, FUNCTION, listOf, needed, TEXT, type InputShape } from 'fhir-ops/internal/input'

/** Which version to make of a release. */
export interface LoincImportOptions extends WorkOptions {
  /** Version of the release, such as `2.82`. Default: taken from the name of the folder or archive (`Loinc_2.82.zip`). */
  readonly release?: string | undefined
  /** Languages whose names are also imported, such as `de-DE`; `all` for every language in the release. Default: none. */
  readonly languages?: readonly string[] | undefined
}

/** An imported release. */
export interface LoincImport {
  readonly system: StoredSystem
  /** Replacements of codes that are no longer used, as a ConceptMap; absent if the release has no `MapTo.csv`. */
  readonly mapTo?: JsonObject
}

const SHAPE: InputShape = inputShape<LoincImportOptions>({ work: TEXT, progress: needed(FUNCTION), release: TEXT, languages: listOf(TEXT) })

/**
 * Imports a release of LOINC in CSV into a concept store: codes, parts, groups, answer lists, answers, the hierarchy, and names in the requested
 * languages. Panels are not imported. The tables of the release are joined on disk, in the file named by `work`, so memory does not grow with the release;
 * after an abort, the next run continues after the rows already read.
 *
 * @param path Folder or ZIP archive of the release.
 * @throws {OperationError} `not-found` or `definition-invalid` if the release cannot be used; `parameter-required` if its version cannot be
 *   derived from its name; `parameter-value` for a language that it does not have; `conflict` if another import works with the same file.
 */
export async function importLoinc(concepts: ConceptStore, path: string, options: LoincImportOptions): Promise<LoincImport> {
  checkOptions('importLoinc', SHAPE, options)
  const { release, languages = [], progress } = options
  const version = release ?? versionInPath(path, /loinc[_-]?([0-9]{1,2}\.[0-9]{1,2})/i, /loinc/i)
  if (version === undefined)
    throw new OperationError('parameter-required', `The name ${path} does not contain the release: give --release, a version such as 2.82.`)
  const files = await releaseFiles(path)
  if (loincFile(files, 'Loinc.csv') === undefined) throw new OperationError('definition-invalid', `${path} has no Loinc.csv.`)
  const csv = files.filter(({ name }) => name.endsWith('.csv'))
  return inWork(options, { release: `LOINC ${version}`, options: languages, files: csv }, async (work) => {
    const tables = loincTablesIn(work)
    progress(`LOINC ${version}: tables`)
    await readLoincTables(files, tables)
    await readVariants(files, tables, languages)
    await makeConcepts(files, tables)
    const system = await storeConcepts(concepts, codeSystem(version, tables), madeConcepts(tables))
    progress(`published ${counted(system.concepts, 'concept')}`)
    const mapTo = tables.size('map-to') > 0 ? { mapTo: mapToResource(version, tables) } : {}
    return { system, ...mapTo }
  })
}

async function makeConcepts(files: readonly ReleaseFile[], tables: LoincTables): Promise<void> {
  const { work } = tables
  const add = (concept: JsonObject): void => tables.add('concept', '', JSON.stringify(concept))
  for await (const row of loincRows(tables, files, 'Loinc.csv')) add(noted(codeConcept(row, tables), tables))
  for await (const row of loincRows(tables, files, 'Part.csv')) add(noted(partConcept(row, tables), tables))
  for await (const [code, [name]] of untakenRows(work, 'name', tables.rows('name'))) {
    if (tables.values('code', code).length === 0) add(branchConcept(code, name, tables))
  }
  for await (const [code, rows] of untakenRows(work, 'group', tables.rows('group'))) add(groupConcept(code, rows.map(readGroup)))
  for await (const [code, rows] of untakenRows(work, 'list', tables.rows('list'))) add(listConcept(code, rows.map(readAnswer)))
  for await (const [code, rows] of untakenRows(work, 'answer', tables.rows('answer')))
    add(answerConcept(code, rows.map(readAnswer), tables))
}

/** Records that a code exists. */
function noted(concept: JsonObject, tables: LoincTables): JsonObject {
  tables.add('code', String(concept['code']), '')
  return concept
}

function readAnswer(text: string): ListedAnswer {
  return JSON.parse(text)
}

function codeSystem(version: string, tables: LoincTables): JsonObject {
  const parts = new Set([...PART_PROPERTIES, ...tables.all('part-property')])
  const own = [
    ...Array.from(parts, (code) => ({ code, type: 'Coding' })),
    ...TEXT_PROPERTIES.map((code) => ({ code, type: 'string' })),
    ...[...CODE_PROPERTIES, 'MAP_TO', 'answer-list', 'Group', 'Answer', 'AnswerList', 'answers-for'].map((code) => ({
      code,
      type: 'code',
    })),
  ]
  const declared = [
    ...own.map(({ code, type }) => ({ code, uri: `${LOINC}/property/${code}`, type })),
    { code: 'parent', uri: 'http://hl7.org/fhir/concept-properties#parent', type: 'code' },
    { code: 'inactive', uri: 'http://hl7.org/fhir/concept-properties#inactive', type: 'boolean' },
  ]
  return {
    resourceType: 'CodeSystem',
    url: LOINC,
    version,
    name: 'LOINC',
    language: 'en-US',
    status: 'active',
    content: 'complete',
    caseSensitive: false,
    property: declared,
  }
}

/** Makes the map. It states that one code replaces another, not that they are equivalent. */
function mapToResource(version: string, tables: LoincTables): JsonObject {
  const element = Array.from(tables.rows('map-to'), ([code, targets]) => ({
    code,
    target: targets.map((target) => ({ code: target, equivalence: 'relatedto' })),
  }))
  return {
    resourceType: 'ConceptMap',
    id: `loinc-map-to-${version}`,
    url: `${LOINC}/map-to`,
    version,
    name: 'LoincMapTo',
    status: 'active',
    sourceUri: `${LOINC}/vs`,
    targetUri: `${LOINC}/vs`,
    group: [{ source: LOINC, target: LOINC, element }],
  }
}

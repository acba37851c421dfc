import { OperationError } from 'fhir-ops/errors'
import { csvRows, type CsvRow } from './csv.js'
import type { ReleaseFile } from './release-file.js'

/** What stands beside the codes of a release, by code. */
export interface LoincTables {
  /** Of each code: the part of each kind. */
  readonly parts: ReadonlyMap<string, readonly PartLink[]>
  readonly parents: ReadonlyMap<string, readonly string[]>
  /** Names of what stands in the hierarchy. */
  readonly names: ReadonlyMap<string, string>
  readonly consumerNames: ReadonlyMap<string, readonly string[]>
  /** Codes that take the place of a code. */
  readonly mapTo: ReadonlyMap<string, readonly string[]>
  /** The codes that a list of answers is for. */
  readonly listFor: ReadonlyMap<string, readonly string[]>
}

/** The part of a code: `COMPONENT` and so on. */
export interface PartLink {
  readonly kind: string
  readonly code: string
  readonly name: string
}

/** Finds files of a release by their names, wherever they stand in it. */
export function loincFile(files: readonly ReleaseFile[], name: string): ReleaseFile | undefined {
  return files.find((file) => file.name.split(/[/\\]/).at(-1) === name)
}

/** The rows of a file; none when the release has not got it. */
export async function* loincRows(files: readonly ReleaseFile[], name: string): AsyncGenerator<CsvRow> {
  const file = loincFile(files, name)
  if (file !== undefined) yield* csvRows(file)
}

/** Reads the tables that are joined to the codes. @throws {OperationError} `definition-invalid` when a row lacks a column. */
export async function readLoincTables(files: readonly ReleaseFile[]): Promise<LoincTables> {
  const parents = new Map<string, string[]>()
  const names = new Map<string, string>()
  for await (const row of loincRows(files, 'ComponentHierarchyBySystem.csv')) {
    const [code, parent, text] = [column(row, 'CODE'), row.get('IMMEDIATE_PARENT'), row.get('CODE_TEXT')]
    if (parent !== undefined) add(parents, code, parent)
    if (text !== undefined) names.set(code, text)
  }
  return {
    parents,
    names,
    parts: await grouped(files, 'LoincPartLink_Primary.csv', (row) => [column(row, 'LoincNumber'), partLink(row)]),
    consumerNames: await grouped(files, 'ConsumerName.csv', (row) => [column(row, 'LoincNumber'), column(row, 'ConsumerName')]),
    mapTo: await grouped(files, 'MapTo.csv', (row) => [column(row, 'LOINC'), column(row, 'MAP_TO')]),
    listFor: await grouped(files, 'LoincAnswerListLink.csv', (row) => [column(row, 'AnswerListId'), column(row, 'LoincNumber')]),
  }
}

function partLink(row: CsvRow): PartLink {
  return { kind: column(row, 'PartTypeName'), code: column(row, 'PartNumber'), name: column(row, 'PartName') }
}

async function grouped<T>(
  files: readonly ReleaseFile[],
  name: string,
  read: (row: CsvRow) => readonly [string, T],
): Promise<ReadonlyMap<string, readonly T[]>> {
  const found = new Map<string, T[]>()
  for await (const row of loincRows(files, name)) {
    const [key, value] = read(row)
    add(found, key, value)
  }
  return found
}

function add<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

/** A value that a row must have. */
export function column(row: CsvRow, name: string): string {
  const value = row.get(name)
  if (value === undefined) throw new OperationError('definition-invalid', `A row of the release has no ${name}.`)
  return value
}

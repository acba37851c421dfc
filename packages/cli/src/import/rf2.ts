import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { OperationError } from 'fhir-ops/errors'
import type { Rf2Kind, TakeRow } from 'fhir-ops/terminology/snomed'
import type { ReleaseFile } from './release-file.js'

/** A snapshot file with what its columns say it is. */
export interface Rf2File {
  readonly file: ReleaseFile
  readonly kind: Rf2Kind
  readonly columns: readonly string[]
}

/** Told while rows are read. */
export type Rf2Progress = (kind: Rf2Kind, rows: number) => void

const PROGRESS_ROWS = 200_000

/** Columns by which the kind of a file is known; the first row that fits counts. Files that fit none are not imported. */
const SIGNS: readonly (readonly [Rf2Kind | undefined, readonly string[]])[] = [
  ['concept', ['definitionStatusId']],
  ['description', ['conceptId', 'term']],
  ['relationship', ['sourceId', 'destinationId']],
  ['relationship', ['sourceId', 'value']],
  ['language', ['refsetId', 'acceptabilityId']],
  ['identifier', ['alternateIdentifier', 'identifierSchemeId']],
  [undefined, ['refsetId', 'owlExpression']],
  ['refset', ['refsetId', 'referencedComponentId']],
]

/**
 * The snapshot files of a release. OWL axioms are not imported, as the relationships say the same.
 *
 * @throws {OperationError} `definition-invalid` when the release has no concepts.
 */
export async function rf2Files(files: readonly ReleaseFile[]): Promise<readonly Rf2File[]> {
  const found: Rf2File[] = []
  for (const file of files) {
    if (!basename(file.name).includes('Snapshot') || !file.name.endsWith('.txt')) continue
    const columns = await columnsOf(file)
    const kind = SIGNS.find(([, names]) => names.every((name) => columns.includes(name)))?.[0]
    if (kind !== undefined) found.push({ file, kind, columns })
  }
  if (!found.some(({ kind }) => kind === 'concept')) {
    throw new OperationError('definition-invalid', 'There is no RF2 snapshot of concepts (sct2_Concept_Snapshot_*.txt).')
  }
  return found
}

/** Takes every row of the files, reading line by line. */
export async function readRf2(files: readonly Rf2File[], take: TakeRow, progress: Rf2Progress): Promise<void> {
  let rows = 0
  for (const { file, kind, columns } of files) {
    for await (const row of rowsOf(file)) {
      take(kind, row, columns)
      if (++rows % PROGRESS_ROWS === 0) progress(kind, rows)
    }
  }
}

async function columnsOf(file: ReleaseFile): Promise<readonly string[]> {
  for await (const line of linesOf(file)) return line.split('\t')
  return []
}

async function* rowsOf(file: ReleaseFile): AsyncGenerator<readonly string[]> {
  let isHeader = true
  for await (const line of linesOf(file)) {
    if (!isHeader && line !== '') yield line.split('\t')
    isHeader = false
  }
}

async function* linesOf(file: ReleaseFile): AsyncGenerator<string> {
  const stream = await file.open()
  try {
    for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) yield line
  } finally {
    stream.destroy()
  }
}

import { basename } from 'node:path'
import { OperationError } from 'fhir-ops/errors'
import type { Rf2Kind, TakeRow } from '../index.js'
import { type ReleaseFile, releaseLines, type ReleaseLine } from '@fhir-ops/releases'

/** A snapshot file, with its kind as recognized by its columns. */
export interface Rf2File {
  readonly file: ReleaseFile
  readonly kind: Rf2Kind
  readonly columns: readonly string[]
}

/** Receives progress messages. */
type Rf2Progress = (message: string) => void

const PROGRESS_ROWS = 200_000

interface Layout {
  readonly kind: Rf2Kind
  /** Columns by which a file of this kind is recognized. */
  readonly signs: readonly string[]
  /** Columns with which the file must begin. */
  readonly columns: readonly string[]
}

const COMPONENT = ['id', 'effectiveTime', 'active', 'moduleId'] as const
const ATTRIBUTE = ['relationshipGroup', 'typeId', 'characteristicTypeId', 'modifierId'] as const
const MEMBER = [...COMPONENT, 'refsetId', 'referencedComponentId'] as const

/** Layouts of files; the first that fits a file applies. */
const LAYOUTS: readonly Layout[] = [
  { kind: 'concept', signs: ['definitionStatusId'], columns: [...COMPONENT, 'definitionStatusId'] },
  {
    kind: 'description',
    signs: ['conceptId', 'term'],
    columns: [...COMPONENT, 'conceptId', 'languageCode', 'typeId', 'term', 'caseSignificanceId'],
  },
  { kind: 'relationship', signs: ['sourceId', 'destinationId'], columns: [...COMPONENT, 'sourceId', 'destinationId', ...ATTRIBUTE] },
  { kind: 'relationship', signs: ['sourceId', 'value'], columns: [...COMPONENT, 'sourceId', 'value', ...ATTRIBUTE] },
  { kind: 'language', signs: ['refsetId', 'acceptabilityId'], columns: [...MEMBER, 'acceptabilityId'] },
  // The order of these columns differs between releases, so they are read by name.
  { kind: 'identifier', signs: ['alternateIdentifier', 'identifierSchemeId'], columns: [] },
  { kind: 'refset', signs: ['refsetId', 'referencedComponentId'], columns: MEMBER },
]

/** Kinds of files that every release has. */
const NEEDED = ['concept', 'description', 'relationship'] as const satisfies readonly Rf2Kind[]

/**
 * Finds the snapshot files of a release. OWL axioms are not imported, because the relationships have the same content.
 *
 * @param progress Receives the names of snapshot files that are not imported because their columns are unknown.
 * @throws {OperationError} `definition-invalid` if the release has no concepts, descriptions or relationships, or if a file does not have the columns of
 *   its kind.
 */
export async function rf2Files(files: readonly ReleaseFile[], progress: Rf2Progress): Promise<readonly Rf2File[]> {
  const found: Rf2File[] = []
  for (const file of files) {
    if (!basename(file.name).includes('Snapshot') || !file.name.endsWith('.txt')) continue
    const columns = await columnsOf(file)
    if (columns.includes('owlExpression')) continue
    const layout = LAYOUTS.find(({ signs }) => signs.every((name) => columns.includes(name)))
    if (layout !== undefined) found.push({ file, kind: layout.kind, columns: checkedColumns(file, columns, layout) })
    else if (isCore(file)) throw new OperationError('definition-invalid', `${file.name} does not have the columns of RF2.`)
    else progress(`${file.name} is not imported: its columns are unknown`)
  }
  const missing = NEEDED.find((kind) => !found.some((file) => file.kind === kind))
  if (missing === undefined) return found
  const columns = LAYOUTS.find(({ kind }) => kind === missing)?.columns.join(', ')
  throw new OperationError(
    'definition-invalid',
    `There is no RF2 snapshot of ${missing}s: no file *Snapshot*.txt has the columns ${columns}.`,
  )
}

/** True for files of components, as opposed to reference sets. */
function isCore({ name }: ReleaseFile): boolean {
  return /^x?sct2_/.test(basename(name))
}

function checkedColumns(file: ReleaseFile, columns: readonly string[], layout: Layout): readonly string[] {
  const wrong = layout.columns.findIndex((name, i) => columns[i] !== name)
  if (wrong < 0) return columns
  throw new OperationError('definition-invalid', `${file.name} does not have ${layout.columns[wrong]} as its column ${wrong + 1}.`)
}

/**
 * Reads all rows of the files.
 *
 * @throws {OperationError} `definition-invalid` for a row that does not fit its columns, for example in a truncated file.
 */
export async function readRf2(files: readonly Rf2File[], take: TakeRow, progress: Rf2Progress): Promise<void> {
  let rows = 0
  for (const rf2 of files) {
    for await (const lines of releaseLines(rf2.file)) {
      const before = rows
      const body = lines.filter(({ number }) => number > 1)
      for (const line of body) take(rf2.kind, rowOf(line, rf2), rf2.columns)
      rows += body.length
      if (Math.floor(before / PROGRESS_ROWS) < Math.floor(rows / PROGRESS_ROWS)) progress(`… ${rows} rows (${rf2.kind})`)
    }
  }
}

async function columnsOf(file: ReleaseFile): Promise<readonly string[]> {
  for await (const [first] of releaseLines(file)) return first?.text.split('\t') ?? []
  return []
}

function rowOf({ number, text }: ReleaseLine, { file, kind, columns }: Rf2File): readonly string[] {
  const row = text.split('\t')
  if (row.length === columns.length && (kind === 'identifier' || isComponent(row, kind))) return row
  const what = row.length === columns.length ? 'an id, time or status that is none' : `${row.length} values for ${columns.length} columns`
  throw new OperationError('definition-invalid', `Line ${number} of ${file.name} has ${what}.`)
}

/** True for a valid component row. Ids of members are not numbers; unpublished rows have no time. */
function isComponent([id = '', time = '', active]: readonly string[], kind: Rf2Kind): boolean {
  const isMember = kind === 'refset' || kind === 'language'
  return (isMember || /^[1-9][0-9]{0,17}$/.test(id)) && /^(?:[0-9]{8})?$/.test(time) && (active === '0' || active === '1')
}

/** The edition of a release. */
interface ReleaseEdition {
  readonly module: string
  /** True for content that is named as international (`_INT_`) but is not: it is not an official release. */
  readonly experimental: boolean
}

const INTERNATIONAL = '900000000000207008'
const DEPENDENCY = ['sourceEffectiveTime', 'targetEffectiveTime'] as const

/**
 * Derives the edition of a release: that of the only module whose date in the module dependencies is the release date. If the files are named as
 * international, it is the international edition, provided that this is one of those modules or that there are none.
 *
 * @param date Date of the release as `YYYYMMDD`.
 * @returns `undefined` if it cannot be derived.
 */
export async function releaseEdition(files: readonly Rf2File[], date: string): Promise<ReleaseEdition | undefined> {
  const international = files.every(({ file }) => /_INT_[0-9]{8}\.txt$/.test(file.name))
  const modules = await modulesOf(files, date)
  if (international && (modules.size === 0 || modules.has(INTERNATIONAL))) return { module: INTERNATIONAL, experimental: false }
  const [module, ...others] = modules
  return module === undefined || others.length > 0 ? undefined : { module, experimental: international }
}

/** Returns the modules with the given date, according to the active members of the module dependency reference set. */
async function modulesOf(files: readonly Rf2File[], date: string): Promise<ReadonlySet<string>> {
  const modules = new Set<string>()
  const take = (row: readonly string[], columns: readonly string[]): void => {
    const [active, module, time] = ['active', 'moduleId', DEPENDENCY[0]].map((name) => row[columns.indexOf(name)])
    if (active === '1' && module !== undefined && time === date) modules.add(module)
  }
  const dependencies = files.filter(({ columns }) => DEPENDENCY.every((name) => columns.includes(name)))
  await readRf2(
    dependencies,
    (_kind, row, columns) => take(row, columns),
    () => undefined,
  )
  return modules
}

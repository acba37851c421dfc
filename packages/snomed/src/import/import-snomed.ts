import { OperationError } from 'fhir-ops/errors'
import type { ConceptStore, StoredSystem, SystemSections } from 'fhir-ops/storage'
import { builtConcepts, CONCEPT_PART, OTHER_PARTS, systemOf, type BuiltPart } from '../build/snomed-parts.js'
import { isSctid } from '../sctid.js'
import { readMeter, releaseFiles, inWork, type ImportWork, type WorkOptions } from '@fhir-ops/releases'
import { readRf2, rf2Files, type Rf2File, releaseEdition } from './rf2.js'
import type { Section } from '../index.js'
import { checkOptions, inputShape, FLAG, FUNCTION, needed, TEXT, type InputShape } from 'fhir-ops/internal/input'

/** Which version to make of a release. */
export interface SnomedImportOptions extends WorkOptions {
  /** Module of the edition. Default: derived from the release (`releaseEdition`). */
  readonly edition?: string | undefined
  /** Date of the version as `YYYYMMDD`. Default: taken from the names of the files. */
  readonly date?: string | undefined
  /** True for content that is not an official release; its version begins with `http://snomed.info/xsct`. Default: derived from the release. */
  readonly experimental?: boolean | undefined
}

/** An imported version. */
export interface SnomedImport {
  readonly system: StoredSystem
  /** Number of relationships omitted because they name a concept that the release does not have. */
  readonly dangling: number
}

const SHAPE: InputShape = inputShape<SnomedImportOptions>({
  work: TEXT,
  progress: needed(FUNCTION),
  edition: TEXT,
  date: TEXT,
  experimental: FLAG,
})

/**
 * Imports an RF2 snapshot into a concept store. The version becomes visible when it is complete. Each finished part is saved
 * in the file named by `work`; after an abort, the next run makes the remaining ones.
 *
 * @param path Folder or ZIP archive of the release.
 * @throws {OperationError} `not-found`, `definition-invalid` or `not-supported` if the release cannot be used; `parameter-required` if
 *   its edition or date cannot be derived; `conflict` if another import works with the same file.
 */
export async function importSnomed(concepts: ConceptStore, path: string, options: SnomedImportOptions): Promise<SnomedImport> {
  checkOptions('importSnomed', SHAPE, options)
  const files = await rf2Files(await releaseFiles(path), options.progress)
  const version = await versionUri(files, options)
  options.progress(`${version}: ${files.length} files`)
  return inWork(options, { release: version, files: files.map(({ file }) => file) }, async (work) => {
    const made = await makeParts(files, work, options.progress)
    const system = await store(concepts, { version, made, sections: sectionsIn(work) }, options.progress)
    return { system, dangling: made.dangling }
  })
}

const PARTS = [CONCEPT_PART, ...OTHER_PARTS]

type Made = Pick<BuiltPart, 'header' | 'dangling'>

async function makeParts(files: readonly Rf2File[], work: ImportWork, progress: SnomedImportOptions['progress']): Promise<Made> {
  const sections = sectionsIn(work)
  let made: Made = { header: {}, dangling: 0 }
  const left = PARTS.filter(({ name }) => work.kept(name) === undefined).flatMap((part) => filesOf(part, files))
  const meter = readMeter(left.map(({ file }) => file))
  const rowProgress = (message: string): void => progress(`${message}, ${meter.words()}`)
  for (const part of PARTS) {
    if (work.kept(part.name) === undefined) {
      const builder = part.begin(builtConcepts(made.header, sections))
      const metered = filesOf(part, files).map((rf2) => ({ ...rf2, file: meter.metered(rf2.file) }))
      await readRf2(metered, builder.add, rowProgress)
      const built = builder.finish()
      for (const section of built.sections) sections.put(...section)
      work.keep(part.name, JSON.stringify({ header: built.header, dangling: built.dangling }))
      progress(`${part.name} done`)
    }
    made = together(made, JSON.parse(work.kept(part.name) ?? '{}'))
  }
  return made
}

function filesOf({ kinds }: (typeof PARTS)[number], files: readonly Rf2File[]): readonly Rf2File[] {
  return kinds.flatMap((kind) => files.filter((file) => file.kind === kind))
}

function together(before: Made, part: Made): Made {
  return { header: { ...before.header, ...part.header }, dangling: before.dangling + part.dangling }
}

interface MadeVersion {
  readonly version: string
  readonly made: Made
  readonly sections: WorkSections
}

async function store(
  concepts: ConceptStore,
  { version, made, sections }: MadeVersion,
  progress: SnomedImportOptions['progress'],
): Promise<StoredSystem> {
  const { ids } = builtConcepts(made.header, sections)
  const staged = await concepts.stage(systemOf(version, made.header, ids.size))
  let bytes = 0
  for (const [name, section] of sections.all()) {
    await staged.put(name, section)
    bytes += section.length
  }
  const system = await staged.publish()
  progress(`published ${system.concepts} concepts in ${Math.ceil(bytes / 1024 / 1024)} MiB`)
  return system
}

async function versionUri(
  files: readonly Rf2File[],
  { edition, date = dateOf(files), experimental }: SnomedImportOptions,
): Promise<string> {
  if (date === undefined) throw missing('date', 'the date of the release as YYYYMMDD')
  if (!/^[0-9]{8}$/.test(date)) throw new OperationError('parameter-value', `--date must be YYYYMMDD, not ${date}.`)
  const derived = edition === undefined ? await releaseEdition(files, date) : { module: edition, experimental: false }
  if (derived === undefined) throw missing('edition', 'the module of the edition, such as 900000000000207008')
  if (!isSctid(derived.module))
    throw new OperationError('parameter-value', `--edition must be a SNOMED CT identifier, not ${derived.module}.`)
  return `http://snomed.info/${(experimental ?? derived.experimental) ? 'xsct' : 'sct'}/${derived.module}/version/${date}`
}

/** Returns the latest date in the names of files. */
function dateOf(files: readonly Rf2File[]): string | undefined {
  return files
    .flatMap(({ file }) => /_([0-9]{8})\.txt$/.exec(file.name)?.[1] ?? [])
    .toSorted()
    .at(-1)
}

function missing(option: string, what: string): OperationError {
  return new OperationError('parameter-required', `Cannot derive --${option} from the release: give ${what}.`)
}

/** Sections of a version that is not yet stored. */
interface WorkSections extends SystemSections {
  put(name: string, bytes: Uint8Array): void
  all(): Iterable<Section>
}

/** Opens the sections in the work of an import, including existing ones. */
function sectionsIn({ db }: ImportWork): WorkSections {
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
    all: () =>
      names
        .all()
        .values()
        .map(({ name }): Section => [String(name), section(String(name))]),
  }
}

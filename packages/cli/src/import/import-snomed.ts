import { OperationError } from 'fhir-ops/errors'
import type { ConceptStore, StoredSystem } from 'fhir-ops/storage'
import { builtConcepts, CONCEPT_PART, isSctid, OTHER_PARTS, systemOf, type BuiltPart } from 'fhir-ops/terminology/snomed'
import { readRf2, rf2Files, type Rf2File } from './rf2.js'
import { releaseFiles } from './release-file.js'
import { inWork, type ImportWork, type WorkOptions } from './work.js'
import { sectionsIn, type WorkSections } from './work-sections.js'

/** Which version is made of a release. */
export interface SnomedImportOptions extends WorkOptions {
  /** Module of the edition. Default: that of the international edition, for files of which the name says so. */
  readonly edition?: string | undefined
  /** `YYYYMMDD`. Default: that in the names of the files. */
  readonly date?: string | undefined
  /** True for content that is no official release; its version begins with `http://snomed.info/xsct`. */
  readonly experimental?: boolean | undefined
}

/** An imported version. */
export interface SnomedImport {
  readonly system: StoredSystem
  /** Relationships that were left out, as they name a concept that the release has not. */
  readonly dangling: number
}

const INTERNATIONAL = '900000000000207008'

/**
 * Imports an RF2 snapshot into a concept store. Nothing of it is seen before all of it is. Each part of the version is kept when it is made,
 * in the file that `work` names; after an abort the next run makes the others.
 *
 * @param path Folder or ZIP archive of the release.
 * @throws {OperationError} `not-found`, `definition-invalid` or `not-supported` when the release cannot be used; `parameter-required` when
 *   its edition or date cannot be told from the names of its files; `conflict` when another import works with the same file.
 */
export async function importSnomed(concepts: ConceptStore, path: string, options: SnomedImportOptions): Promise<SnomedImport> {
  const files = await rf2Files(await releaseFiles(path), options.progress)
  const version = versionUri(files, options)
  options.progress(`${version}: ${files.length} files`)
  return inWork(options, { release: version, files: files.map(({ file }) => file) }, async (work) => {
    const made = await makeParts(files, work, options.progress)
    const system = await store(concepts, { version, made, sections: sectionsIn(work) }, options.progress)
    return { system, dangling: made.dangling }
  })
}

type Made = Pick<BuiltPart, 'header' | 'dangling'>

async function makeParts(files: readonly Rf2File[], work: ImportWork, progress: SnomedImportOptions['progress']): Promise<Made> {
  const sections = sectionsIn(work)
  let made: Made = { header: {}, dangling: 0 }
  for (const part of [CONCEPT_PART, ...OTHER_PARTS]) {
    if (work.kept(part.name) === undefined) {
      const builder = part.begin(builtConcepts(made.header, sections))
      const own = part.kinds.flatMap((kind) => files.filter((file) => file.kind === kind))
      await readRf2(own, builder.add, progress)
      const built = builder.finish()
      for (const section of built.sections) sections.put(...section)
      work.keep(part.name, JSON.stringify({ header: built.header, dangling: built.dangling }))
      progress(`${part.name} are made`)
    }
    made = together(made, JSON.parse(work.kept(part.name) ?? '{}'))
  }
  return made
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

function versionUri(files: readonly Rf2File[], { edition, date, experimental }: SnomedImportOptions): string {
  const names = files.map(({ file }) => /_([A-Z][A-Z0-9]*)_([0-9]{8})\.txt$/.exec(file.name))
  const module = edition ?? (names.every((match) => match?.[1] === 'INT') ? INTERNATIONAL : undefined)
  const released =
    date ??
    names
      .flatMap((match) => match?.[2] ?? [])
      .toSorted()
      .at(-1)
  if (module === undefined) throw missing('edition', 'the module of the edition, such as 900000000000207008')
  if (released === undefined) throw missing('date', 'the date of the release as YYYYMMDD')
  if (!isSctid(module)) throw new OperationError('parameter-value', `--edition must be a SNOMED CT identifier, not ${module}.`)
  if (!/^[0-9]{8}$/.test(released)) throw new OperationError('parameter-value', `--date must be YYYYMMDD, not ${released}.`)
  return `http://snomed.info/${experimental === true ? 'xsct' : 'sct'}/${module}/version/${released}`
}

function missing(option: string, what: string): OperationError {
  return new OperationError('parameter-required', `The names of the files do not tell --${option}: ${what}.`)
}

import { OperationError } from 'fhir-ops/errors'
import type { ConceptStore, StoredSystem } from 'fhir-ops/storage'
import { isSctid, snomedBuilder } from 'fhir-ops/terminology/snomed'
import { readRf2, rf2Files, type Rf2File } from './rf2.js'
import { releaseFiles } from './release-file.js'

/** Which version is made of a release. */
export interface SnomedImportOptions {
  /** Module of the edition. Default: that of the international edition, for files of which the name says so. */
  readonly edition?: string | undefined
  /** `YYYYMMDD`. Default: that in the names of the files. */
  readonly date?: string | undefined
  /** True for content that is no official release; its version begins with `http://snomed.info/xsct`. */
  readonly experimental?: boolean | undefined
  /** Is told what goes on. */
  readonly progress: (message: string) => void
}

/** An imported version. */
export interface SnomedImport {
  readonly system: StoredSystem
  /** Relationships that were left out, as they name a concept that the release has not. */
  readonly dangling: number
}

const INTERNATIONAL = '900000000000207008'

/**
 * Imports an RF2 snapshot into a concept store. Nothing of it is seen before all of it is; an import that was cut off is begun anew by the
 * next one of the same version, which drops what the first one left behind.
 *
 * @param path Folder or ZIP archive of the release.
 * @throws {OperationError} `not-found`, `definition-invalid` or `not-supported` when the release cannot be used; `parameter-required` when
 *   its edition or date cannot be told from the names of its files.
 */
export async function importSnomed(concepts: ConceptStore, path: string, options: SnomedImportOptions): Promise<SnomedImport> {
  const files = await rf2Files(await releaseFiles(path))
  const version = versionUri(files, options)
  options.progress(`${version}: ${files.length} files`)
  const builder = snomedBuilder(version)
  await readRf2(files, builder, (kind, rows) => options.progress(`… ${rows} rows (${kind})`))
  const built = builder.finish()
  const staged = await concepts.stage(built.system)
  let bytes = 0
  for (const [name, section] of built.sections) {
    await staged.put(name, section)
    bytes += section.length
  }
  const system = await staged.publish()
  options.progress(`published ${system.concepts} concepts in ${Math.ceil(bytes / 1024 / 1024)} MiB`)
  return { system, dangling: built.dangling }
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

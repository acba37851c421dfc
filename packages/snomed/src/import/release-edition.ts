import { readRf2, type Rf2File } from './rf2.js'

/** What a release is a version of. */
export interface ReleaseEdition {
  readonly module: string
  /** True for what is named as international (`_INT_`) and is not: no official release. */
  readonly experimental: boolean
}

const INTERNATIONAL = '900000000000207008'
const DEPENDENCY = ['sourceEffectiveTime', 'targetEffectiveTime'] as const

/**
 * The edition that a release is of: that of the module which its module dependencies date as the release. Of several it is the international
 * one where the files are named so; where they name none, that, too.
 *
 * @param date `YYYYMMDD` of the release.
 * @returns `undefined` when it cannot be derived.
 */
export async function releaseEdition(files: readonly Rf2File[], date: string): Promise<ReleaseEdition | undefined> {
  const international = files.every(({ file }) => /_INT_[0-9]{8}\.txt$/.test(file.name))
  const modules = await modulesOf(files, date)
  if (international && (modules.size === 0 || modules.has(INTERNATIONAL))) return { module: INTERNATIONAL, experimental: false }
  const [module, ...others] = modules
  return module === undefined || others.length > 0 ? undefined : { module, experimental: international }
}

/** The modules that are of the date by the active members of the module dependency reference set. */
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

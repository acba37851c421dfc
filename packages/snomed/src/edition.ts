import { SCT } from './sctid.js'

/** A version URI taken apart. @see https://confluence.ihtsdotools.org/display/DOCURI */
export interface SnomedVersion {
  /** `http://snomed.info/sct/<module>`, or with `xsct` for what is not an official release. */
  readonly edition: string
  readonly module: string
  /** `YYYYMMDD`; absent in the URI of an edition. */
  readonly date?: string
}

const VERSION = /^(http:\/\/snomed\.info\/x?sct\/([0-9]{6,18}))(?:\/version\/([0-9]{8}))?$/

/** Takes a version or edition URI apart; `undefined` when it is none. */
export function snomedVersion(uri: string): SnomedVersion | undefined {
  const [, edition, module, date] = VERSION.exec(uri) ?? []
  if (edition === undefined || module === undefined) return undefined
  return { edition, module, ...(date !== undefined && { date }) }
}

/**
 * The version that is meant among those that are known: exactly the one asked for, the newest of the edition asked for, or, when nothing
 * is asked for, the newest of the international edition, else the newest of all.
 */
export function pickSnomedVersion(versions: readonly string[], asked: string | undefined): string | undefined {
  if (asked !== undefined && versions.includes(asked)) return asked
  const known = versions.flatMap((uri) => snomedVersion(uri) ?? [])
  const international = known.filter(({ module }) => module === SCT.core)
  const candidates =
    asked === undefined ? (international.length > 0 ? international : known) : known.filter(({ edition }) => edition === asked)
  const newest = candidates.toSorted((a, b) => Number(b.date) - Number(a.date))[0]
  return newest === undefined ? undefined : `${newest.edition}/version/${newest.date}`
}

/** Ids with a meaning in the SNOMED CT model. @see https://confluence.ihtsdotools.org/display/DOCTIG */
export const SCT = {
  root: '138875005',
  isA: '116680003',
  inferred: '900000000000011006',
  defined: '900000000000073002',
  primitive: '900000000000074008',
  fullySpecifiedName: '900000000000003001',
  synonym: '900000000000013009',
  definition: '900000000000550004',
  preferred: '900000000000548007',
  acceptable: '900000000000549004',
  caseInsensitive: '900000000000448009',
  conceptModelAttribute: '410662002',
  unapprovedAttribute: '106237007',
  historicalAssociation: '900000000000522004',
  core: '900000000000207008',
} as const

/** Canonical of the code system. */
export const SNOMED = 'http://snomed.info/sct'

const MULTIPLY = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
] as const
const PERMUTE = ['0123456789', '1576283094', '5803796142', '8916043527', '9453126870', '4286573901', '2793806415', '7046913258'] as const

/** True for 6 to 18 digits without a leading zero, which the grammars accept as an id. */
function isSctidShaped(text: string): boolean {
  return /^[1-9][0-9]{5,17}$/.test(text)
}

/** True for an id with the right check digit (Verhoeff). */
export function isSctid(text: string): boolean {
  return isSctidShaped(text) && checkOf(text) === 0
}

/** Appends the check digit. */
export function withCheckDigit(digits: string): string {
  const check = checkOf(`${digits}0`)
  return `${digits}${Array.from({ length: 10 }, (_, digit) => digit).find((digit) => multiply(check, digit) === 0) ?? 0}`
}

function checkOf(digits: string): number {
  let check = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48
    check = multiply(check, Number(PERMUTE[i % 8]?.charAt(digit)))
  }
  return check
}

function multiply(a: number, b: number): number {
  return Number(MULTIPLY[a]?.charAt(b))
}

/** A parsed version URI. @see https://confluence.ihtsdotools.org/display/DOCURI */
export interface SnomedVersion {
  /** `http://snomed.info/sct/<module>`, or with `xsct` if it is not an official release. */
  readonly edition: string
  readonly module: string
  /** `YYYYMMDD`; absent in the URI of an edition. */
  readonly date?: string
}

const VERSION = /^(http:\/\/snomed\.info\/x?sct\/([0-9]{6,18}))(?:\/version\/([0-9]{8}))?$/

/** Parses a version or edition URI; returns `undefined` for any other URI. */
export function snomedVersion(uri: string): SnomedVersion | undefined {
  const [, edition, module, date] = VERSION.exec(uri) ?? []
  if (edition === undefined || module === undefined) return undefined
  return { edition, module, ...(date !== undefined && { date }) }
}

/**
 * Selects one of the known versions: exactly the requested one, the newest of the requested edition or, without a request,
 * the newest of the international edition, or else the newest of all.
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

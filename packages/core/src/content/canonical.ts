/** The parts of a canonical reference, `url|version#fragment`. Code that finds a definition by url and version must use or refuse the fragment. */
export interface Canonical {
  readonly url: string
  readonly version?: string
  /** Id of a contained resource. */
  readonly fragment?: string
}

/** Splits a canonical reference into its parts. @see https://hl7.org/fhir/R4/references.html#canonical */
export function canonicalOf(text: string): Canonical {
  const bar = text.indexOf('|')
  const hash = text.indexOf('#', Math.max(bar, 0))
  const end = hash < 0 ? text.length : hash
  const version = bar < 0 ? '' : text.slice(bar + 1, end)
  return {
    url: text.slice(0, bar < 0 ? end : bar),
    ...(version !== '' && { version }),
    ...(hash >= 0 && { fragment: text.slice(hash + 1) }),
  }
}

/** Removes the version from a canonical and keeps its fragment: `url` or `url#fragment`. */
export function withoutVersion(canonical: string): string {
  const { url, fragment } = canonicalOf(canonical)
  return fragment === undefined ? url : `${url}#${fragment}`
}

/** Returns `url|version`, or the url alone when there is no version. */
export function formatCanonical(url: string, version: string | undefined): string {
  return version === undefined ? url : `${url}|${version}`
}

import { builtJson } from './built-file.js'

/** A SearchParameter as FHIR 4.0.1 publishes it; `base`, `target` and `component` as there. */
export interface PublishedSearchParameter {
  readonly url: string
  readonly code: string
  readonly base: readonly string[]
  readonly type: string
  /** FHIRPath; absent for what has no path, such as `_text`. */
  readonly expression?: string
  readonly target?: readonly string[]
  readonly component?: readonly { readonly definition: string; readonly expression: string }[]
  /** Of a token parameter, by type: the code system of the `code` elements that it looks at, where the release binds them to one. */
  readonly systems?: Readonly<Record<string, string>>
  /** True when a reference parameter looks at canonicals only. */
  readonly canonical?: boolean
}

/** The 1,400 search parameters of FHIR 4.0.1, ordered by url. */
export function r4SearchParameters(): readonly PublishedSearchParameter[] {
  const rows = builtJson('search-parameters.json')
  if (!isTable(rows)) throw new TypeError('search-parameters.json is no table.')
  return rows
}

function isTable(rows: unknown): rows is readonly PublishedSearchParameter[] {
  return Array.isArray(rows)
}

/** A code system whose concepts are kept by the adapter in an index of its own, not as one resource. */
export interface StoredSystem {
  readonly url: string
  readonly version: string
  /** Set by every publish; the identity for caches. */
  readonly key: string
  readonly concepts: number
  /** The CodeSystem resource without its concepts, as JSON text. */
  readonly header: string
}

export interface ConceptDesignation {
  readonly language?: string
  /** `system|code` of the use. */
  readonly use?: string
  readonly value: string
}

/** One concept as it is imported and read back. Property values are JSON texts of `[type, value]`, for example `["code","A"]`. */
export interface ConceptRecord {
  readonly code: string
  readonly display?: string
  readonly definition?: string
  readonly inactive: boolean
  readonly abstract: boolean
  readonly parents: readonly string[]
  readonly properties: readonly { readonly code: string; readonly value: string }[]
  readonly designations: readonly ConceptDesignation[]
}

/** Conditions on concepts; all must hold. */
export interface ConceptQuery {
  readonly descendantsOf?: { readonly code: string; readonly includeSelf: boolean }
  readonly childrenOf?: string
  readonly property?: { readonly code: string; readonly values: readonly string[] }
  /** Folded words; each must start a word of the display, a designation or the code. */
  readonly words?: readonly string[]
  readonly activeOnly?: boolean
  readonly limit: number
  /** `next` of the page before. */
  readonly after?: string
}

export interface ConceptPage {
  readonly concepts: readonly ConceptRecord[]
  readonly next?: string
}

/** Concepts of code systems. Errors as in `Storage`. */
export interface ConceptStore {
  systems(): Promise<readonly StoredSystem[]>
  /** Records in the order of the codes; `undefined` where a code does not exist. */
  concepts(key: string, codes: readonly string[]): Promise<readonly (ConceptRecord | undefined)[]>
  page(key: string, query: ConceptQuery): Promise<ConceptPage>
  count(key: string, query: ConceptQuery): Promise<number>
  /** True when `ancestor` is a proper ancestor of `code`. */
  isDescendant(key: string, code: string, ancestor: string): Promise<boolean>
  /** Stages concepts, then publishes all of them at once under the header's url and version; nothing is visible before. */
  publish(header: string, concepts: AsyncIterable<readonly ConceptRecord[]>): Promise<StoredSystem>
  remove(key: string): Promise<void>
}

import type { CodeSystemProvider } from './provider.js'

/** Gives the provider for a version; the current one when none is asked for, `undefined` when that version is not known. */
export type SystemSource = (version?: string) => CodeSystemProvider | undefined

/** Code systems that come with the library, by url. A CodeSystem resource of the same url goes before. */
export const BUILT_IN_SYSTEMS: ReadonlyMap<string, SystemSource> = new Map()

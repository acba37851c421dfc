/** A module whose exports are published. */
export interface Entry {
  readonly file: string
  /** The main entry of the package, which passes on what others publish. */
  readonly isRoot: boolean
  /** What only our own packages use. */
  readonly isInternal: boolean
}

/** Joins the declarations of modules, by file, to one file for each entry; `shared` is for what several use and none publishes. */
export function bundledDeclarations(
  modules: ReadonlyMap<string, string>,
  entries: readonly Entry[],
  shared: string,
): readonly (readonly [file: string, text: string])[]

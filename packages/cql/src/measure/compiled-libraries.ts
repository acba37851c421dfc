import type { LibraryOptions } from '../libraries/library-options.js'
import type { Places } from '../compile/compiler.js'
import { createPlaces } from '../compile/given.js'
import type { ElmNode } from '../elm/node.js'
import type { LoadedLibrary } from '../libraries/content.js'
import { compileLibrary, type CqlLibrary } from '../libraries/library.js'
import { loadedLibraries, type LoadedMeasure } from './loaded-measure.js'

/** The libraries of a Measure, whose definitions are compiled when criteria need them. */
export interface CompiledLibraries {
  /** In the Measure's order. */
  readonly libraries: readonly CqlLibrary[]
  /** The library of criteria that are expressions themselves. */
  readonly expressions: CqlLibrary | undefined
  /** Places in evaluations that the libraries use together. */
  readonly places: Places
  /** Keeps the compiled definitions for evaluations of the same criteria. */
  readonly keep: () => void
}

/** How libraries are compiled. */
export type Compiling = Omit<LibraryOptions, 'include' | 'onRetrieve' | 'parameters' | 'places' | 'terminology'>

/** Opens the libraries of a Measure, to compile their definitions. */
export function newlyCompiled(loaded: LoadedMeasure, compiling: Compiling): CompiledLibraries {
  const places = createPlaces()
  const compiled = ({ elm, includes }: LoadedLibrary): CqlLibrary =>
    compileLibrary(elm, { ...compiling, include: (id) => includes.get(id), places })
  return {
    libraries: loaded.libraries.map(({ library }) => compiled(library)),
    expressions: loaded.expressions === undefined ? undefined : compiled(loaded.expressions),
    places,
    keep: () => undefined,
  }
}

/**
 * Compiles the libraries of a Measure, or returns them as they were compiled before.
 *
 * @param criteria Text that identifies the criteria: they determine which definitions are compiled, and therefore what is read for each subject.
 */
export type LibraryCompiler = (loaded: LoadedMeasure, compiling: Compiling, criteria: string) => CompiledLibraries

interface Compiled {
  readonly elm: readonly ElmNode[]
  readonly compiling: Compiling
}

interface Kept extends Compiled {
  readonly compiled: CompiledLibraries
}

/** Number of Measures that are kept for one library. */
const MOST = 8

/**
 * Creates a compiler that keeps compiled libraries for as long as the cache of definitions keeps their ELM. A Measure is evaluated for one period after the other, or one subject after the
 * other, and compiling it takes as long as evaluating several hundred subjects.
 */
export function createLibraryCompiler(): LibraryCompiler {
  const kept = new WeakMap<ElmNode, Map<string, Kept>>()
  return (loaded, compiling, criteria) => {
    const elm = loadedLibraries({ loaded }).flatMap((library) => [library.elm, ...library.includes.values()])
    const [first] = elm
    if (first === undefined) return newlyCompiled(loaded, compiling)
    const own = kept.get(first) ?? new Map<string, Kept>()
    const known = own.get(criteria)
    const compiled = known !== undefined && isSame(known, { elm, compiling }) ? known.compiled : newlyCompiled(loaded, compiling)
    const keep = (): void => {
      kept.set(first, own)
      own.delete(criteria)
      own.set(criteria, { elm, compiling, compiled })
      for (const oldest of own.keys()) if (own.size > MOST) own.delete(oldest)
    }
    return { ...compiled, keep }
  }
}

function isSame(known: Compiled, wanted: Compiled): boolean {
  const [parts, others] = [partsOf(known), partsOf(wanted)]
  return parts.length === others.length && parts.every((part, at) => part === others[at])
}

/** Everything that the compiled code depends on. */
function partsOf({ elm, compiling }: Compiled): readonly unknown[] {
  return [...elm, ...Object.entries(compiling).flat()]
}

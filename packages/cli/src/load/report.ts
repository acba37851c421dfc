import { openDependencies } from 'fhir-ops/packages'
import type { OpenDependency } from 'fhir-ops/internal/packages'
import { counted } from '../text.js'
import type { Io } from '../io.js'
import { progressOn } from '../progress.js'
import type { LoadOptions, LoadSummary } from './loader.js'

const MAX_REFUSALS = 20

/** Reports the progress and the result of a load. @param options With `knowsPackages`, the caller reports missing packages. */
export function loadReports(
  io: Io,
  { knowsPackages = false }: { readonly knowsPackages?: boolean | undefined } = {},
): Required<Pick<LoadOptions, 'onProgress' | 'onEnd'>> {
  const progress = progressOn(io)
  return {
    onProgress: ({ stored, share }) => progress.show({ doing: 'loading', done: stored, thing: 'resource', share }),
    onEnd: (summary) => {
      progress.end()
      reportLoad(knowsPackages ? { ...summary, packages: [] } : summary, io)
    },
  }
}

/** Reports what was loaded and what was refused. */
function reportLoad(summary: LoadSummary, io: Io): void {
  const { loaded, unchanged, refused, seconds } = summary
  const types = [...summary.types].map(([type, count]) => `${type} ${count}`)
  io.err(`loaded ${counted(loaded, 'resource')} in ${seconds.toFixed(1)} s${types.length > 0 ? ` (${types.join(', ')})` : ''}`)
  if (unchanged > 0) io.err(`left ${unchanged} unchanged, already stored`)
  for (const open of openDependencies(summary.packages)) io.err(dependencyNote(open))
  if (refused.length === 0) return
  io.err(`refused ${refused.length}:`)
  for (const { place, reason } of refused.slice(0, MAX_REFUSALS)) io.err(`  ${place}: ${reason}`)
  const rest = refused.length - MAX_REFUSALS
  if (rest > 0) io.err(`  and ${rest} more`)
}

/** Says that a package is missing, or present in another version. */
export function dependencyNote({ by, name, version, given }: OpenDependency): string {
  return given === undefined
    ? `${by} needs ${name} ${version}, which is not given`
    : `${by} was made with ${name} ${version}; ${given} is given`
}

import type { Io } from '../io.js'
import type { LoadSummary } from './loader.js'

const MAX_REFUSALS = 20

/** Tells what was loaded and what was refused. */
export function reportLoad(summary: LoadSummary, io: Io): void {
  const types = [...summary.types].map(([type, count]) => `${type} ${count}`)
  io.err(`loaded ${summary.loaded} resources${types.length > 0 ? ` (${types.join(', ')})` : ''}`)
  if (summary.refused.length === 0) return
  io.err(`refused ${summary.refused.length}:`)
  for (const { place, reason } of summary.refused.slice(0, MAX_REFUSALS)) io.err(`  ${place}: ${reason}`)
  const rest = summary.refused.length - MAX_REFUSALS
  if (rest > 0) io.err(`  and ${rest} more`)
}

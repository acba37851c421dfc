import { availableParallelism, cpus, loadavg } from 'node:os'

const ROUNDS = 30
const ENTRIES = 20_000

/** The speed of this machine for such work, and its load, for comparing runs. */
interface Machine {
  readonly calibration: number
  readonly load: number
}

export function machineNow(): Machine {
  return { calibration: calibration(), load: loadavg()[0] ?? 0 }
}

/** A line below the tables; `scripts/bench.mjs` reads the calibration from it. */
export function machineLine(before: Machine, after: Machine): string {
  const [loads, times] = [[before.load, after.load].map((load) => load.toFixed(1)), [before.calibration, after.calibration]]
  return (
    `Measured with Node ${process.version} on ${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown processor'}), ` +
    `load ${loads.join(' to ')}, calibration ${Math.min(...times).toFixed(1)} ms.`
  )
}

/** Processor time of a fixed task like ours: parse, look up, sort and write. The minimum of several rounds, in ms. */
export function calibration(): number {
  const text = JSON.stringify(
    Array.from({ length: ENTRIES }, (_, at) => ({ code: `c${(at * 7_919) % ENTRIES}`, display: `Concept ${at}` })),
  )
  return Math.min(...Array.from({ length: ROUNDS }, () => processorMs(() => work(text))))
}

function work(text: string): string {
  const concepts: { readonly code: string; readonly display: string }[] = JSON.parse(text)
  const byCode = new Map(concepts.map((concept) => [concept.code, concept.display]))
  return JSON.stringify([...byCode.keys()].sort().map((code) => byCode.get(code)))
}

function processorMs(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

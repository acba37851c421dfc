import { constants, performance, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { isObject } from 'fhir-ops/internal/json'

const MIB = 1024 * 1024

/**
 * Both halves of what V8 has for young objects, which live for a request. It would take 128 on a machine with memory to spare; with a
 * quarter of that, translations, pages, searches and validations take as much processor time, and with an eighth a fifth more.
 */
const MOST_YOUNG = 32 * MIB
/**
 * What the heap may grow by before V8 collects all of it: by half of what is in use, and a small heap by so much. With 40 Bundles that are validated cost a third
 * more processor time, for no less memory under load.
 */
const HEADROOM = 64 * MIB
const LEAST_PERCENT = 50
const MOST_PERCENT = 100

/** What is young in so little room is collected by the thread itself in less processor time than with others, which have to be woken. */
const NO_HELPERS = '--no-parallel-scavenge'

const LOOK_MS = 1_000
/** Of a second, in which the process works: below, it waits for requests. */
const AT_REST = 0.05
/** To save memory takes V8 two collections, and the next requests take again what was given back: that is for a process that has had none for a while, never under load. */
const QUIET_SECONDS = 4
/** From a collection to the next look of V8 whether it is to save memory. */
const REDUCER_SECONDS = 2

/**
 * Keeps what a server takes near what it has in use, from now on until the process ends. By itself V8 doubles what is in use before it collects, keeps what it
 * once had, and gives back nothing of a process that waits for requests, as it takes the rate of allocation of its last busy moment for that of now. Flags are
 * read whenever V8 decides, and hold for all threads.
 */
export function keepHeapModest(): void {
  setFlagsFromString(NO_HELPERS)
  boundYoung()
  boundOld()
  const collections = new PerformanceObserver((entries) => {
    boundYoung()
    if (entries.getEntries().some(isOfEverything)) boundOld()
  })
  collections.observe({ entryTypes: ['gc'] })
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${REDUCER_SECONDS * 1_000}`)
  setInterval(savingAtRest(), LOOK_MS).unref()
}

/** Looks each second whether V8 is to save memory. */
function savingAtRest(): () => void {
  let before = performance.eventLoopUtilization()
  let quiet = 0
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    quiet = utilization < AT_REST ? quiet + 1 : 0
    saveMemory(quiet >= QUIET_SECONDS)
  }
}

function isOfEverything(entry: PerformanceEntry): boolean {
  return 'detail' in entry && isObject(entry.detail) && entry.detail['kind'] === constants.NODE_PERFORMANCE_GC_MAJOR
}

/** Called after each collection, of which each may double the room. */
function boundYoung(): void {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  setFlagsFromString(`--semi-space-growth-factor=${(young?.space_size ?? 0) < MOST_YOUNG ? 2 : 1}`)
}

/** Called after a collection of everything, for the next one. */
function boundOld(): void {
  const percent = Math.min(MOST_PERCENT, Math.max(LEAST_PERCENT, (100 * HEADROOM) / getHeapStatistics().used_heap_size))
  setFlagsFromString(`--heap-growing-percent=${Math.round(percent)}`)
}

/** V8 then collects some seconds after its last collection, in small steps, and returns what it has no use for. */
function saveMemory(isWanted: boolean): void {
  setFlagsFromString(isWanted ? '--optimize-for-size' : '--no-optimize-for-size')
}

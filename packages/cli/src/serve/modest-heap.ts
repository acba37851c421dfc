import { constants, performance, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { isObject } from 'fhir-ops/internal/json'

const MIB = 1024 * 1024

/**
 * Size of both halves of V8's young generation, whose objects live for a request. By default, V8 would use 128 MiB on a machine with enough memory. With
 * a quarter of that, translations, pages, searches and validations take the same processor time; with an eighth, a fifth more.
 */
const MOST_YOUNG = 32 * MIB
/**
 * How much the heap may grow before a full collection: by half of its size, or by this amount if it is small. With 40 MiB, validating Bundles cost a third
 * more processor time, without using less memory under load.
 */
const HEADROOM = 64 * MIB
const LEAST_PERCENT = 50
const MOST_PERCENT = 100

/** With so little room, the thread itself collects young objects in less processor time than with helper threads, which have to be woken. */
const NO_HELPERS = '--no-parallel-scavenge'

const LOOK_MS = 1_000
/** Utilization during a second below which the process counts as waiting for requests. */
const AT_REST = 0.05
/** Seconds at rest before memory is saved. Saving takes two collections, and the next requests need the memory again: it is never done under load. */
const QUIET_SECONDS = 4
/** Seconds from a collection until V8 checks again whether to save memory. */
const REDUCER_SECONDS = 2

/**
 * Limits the memory of a server to about what it uses, until the process ends. By default, V8 doubles the used memory before it collects, keeps what it
 * once had, and returns nothing while a process waits for requests, because it assumes that allocations continue at the rate of the last busy moment. The
 * flags are read whenever V8 decides, and apply to all threads.
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

/** Returns a check, to be called every second, that switches V8's memory saving on and off. */
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

/** Called after each collection, because each may double the size of the young generation. */
function boundYoung(): void {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  setFlagsFromString(`--semi-space-growth-factor=${(young?.space_size ?? 0) < MOST_YOUNG ? 2 : 1}`)
}

/** Called after a full collection; sets the limit for the next one. */
function boundOld(): void {
  const percent = Math.min(MOST_PERCENT, Math.max(LEAST_PERCENT, (100 * HEADROOM) / getHeapStatistics().used_heap_size))
  setFlagsFromString(`--heap-growing-percent=${Math.round(percent)}`)
}

/** Switches memory saving. V8 then collects some seconds after its last collection, in small steps, and returns unused memory. */
function saveMemory(isWanted: boolean): void {
  setFlagsFromString(isWanted ? '--optimize-for-size' : '--no-optimize-for-size')
}

import { isObject } from 'fhir-ops/internal/json'

/** What of a server's resident memory is what, in bytes. */
export interface MemoryParts {
  /** All of it. */
  readonly resident: number
  /** What V8 has for objects of the main thread, used or not. */
  readonly heap: number
  /** How much of that is for young objects. */
  readonly young: number
  /** What of the heap is in use, or has been since the last collection. */
  readonly used: number
  /** Buffers, WebAssembly memories and texts outside the heap of the main thread. */
  readonly external: number
  /** Heaps and external memory of other threads. */
  readonly threads: number
  /** How many other threads there are. */
  readonly threadCount: number
  /** Node itself, libraries and files that are mapped. */
  readonly files: number
}

/** The heads of the columns of `partCells`. */
export const PART_HEADS: readonly string[] = ['resident MB', 'heap', 'of it young', 'in use', 'external', 'other threads', 'files', 'rest']

/** Megabytes, with what none of the parts has: the allocator's, V8's code, stacks. */
export function partCells(parts: MemoryParts): readonly string[] {
  const { resident, heap, young, used, external, threads, threadCount, files } = parts
  const rest = resident - heap - external - threads - files
  const mb = (bytes: number): string => (bytes / (1024 * 1024)).toFixed(0)
  return [mb(resident), mb(heap), mb(young), mb(used), mb(external), `${mb(threads)} (${threadCount})`, mb(files), mb(rest)]
}

/** What a server's probe has answered. */
export function readParts(answer: unknown): MemoryParts {
  const number = (name: string): number => {
    const value = isObject(answer) ? answer[name] : undefined
    if (typeof value !== 'number') throw new TypeError(`The probe of the server has no ${name}`)
    return value
  }
  return {
    resident: number('resident'),
    heap: number('heap'),
    young: number('young'),
    used: number('used'),
    external: number('external'),
    threads: number('threads'),
    threadCount: number('threadCount'),
    files: number('files'),
  }
}

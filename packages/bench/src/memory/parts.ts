import { isObject } from 'fhir-ops/internal/json'

/** The parts of a server's resident memory, in bytes. */
export interface MemoryParts {
  /** The whole resident memory. */
  readonly resident: number
  /** Memory that V8 has for objects of the main thread, used or not. */
  readonly heap: number
  /** The part of the heap for young objects. */
  readonly young: number
  /** The part of the heap that is in use, or was since the last collection. */
  readonly used: number
  /** Buffers, WebAssembly memories and texts outside the heap of the main thread. */
  readonly external: number
  /** Heaps and external memory of other threads. */
  readonly threads: number
  /** Number of other threads. */
  readonly threadCount: number
  /** Mapped files: Node itself, libraries and others. */
  readonly files: number
}

/** The heads of the columns of `partCells`. */
export const PART_HEADS: readonly string[] = ['resident MB', 'heap', 'of it young', 'in use', 'external', 'other threads', 'files', 'rest']

/** The parts in megabytes, and the rest: memory of the allocator, V8's code, stacks. */
export function partCells(parts: MemoryParts): readonly string[] {
  const { resident, heap, young, used, external, threads, threadCount, files } = parts
  const rest = resident - heap - external - threads - files
  const mb = (bytes: number): string => (bytes / (1024 * 1024)).toFixed(0)
  return [mb(resident), mb(heap), mb(young), mb(used), mb(external), `${mb(threads)} (${threadCount})`, mb(files), mb(rest)]
}

/** Reads the answer of a server's probe. */
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

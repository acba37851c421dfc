import type { ReleaseFile } from './release-file.js'

/** Measures how much of the files has been read. */
export interface ReadMeter {
  /** The file, of which what is read counts. */
  metered(file: ReleaseFile): ReleaseFile
  /** `37 %, about 20 seconds left`; the rest is taken to be read as fast as what was read. */
  words(): string
}

/**
 * Makes a meter for files that are all to be read once.
 *
 * @param now Milliseconds.
 */
export function readMeter(files: readonly ReleaseFile[], now: () => number = () => performance.now()): ReadMeter {
  const start = now()
  const total = files.reduce((sum, { size }) => sum + size, 0)
  let read = 0
  async function* counting(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      read += piece.length
      yield piece
    }
  }
  return {
    metered: (file) => ({ ...file, bytes: () => counting(file.bytes()) }),
    words() {
      if (read === 0) return '0 %'
      const seconds = ((now() - start) * (total / read - 1)) / 1_000
      return `${Math.floor((read / total) * 100)} %, about ${counted(Math.ceil(seconds), 'second')} left`
    },
  }
}

/** A number with what it counts: `1 concept`, `2 concepts`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}

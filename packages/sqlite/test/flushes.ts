import { execFile, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { TemporaryFolder } from './temporary-folder.js'

const run = promisify(execFile)

/** Whether system calls of other processes can be watched here. */
export const canWatchCalls: boolean = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0

/** How many flushes to disk came before each acknowledgement of `one-by-one-writer`, since the one before. */
export async function flushesBeforeAcknowledgements(folder: TemporaryFolder, synchronous: 'FULL' | 'NORMAL'): Promise<readonly number[]> {
  const calls = folder.file(`calls-${synchronous}`)
  const writer = fileURLToPath(new URL('one-by-one-writer.ts', import.meta.url))
  const watched = [process.execPath, writer, folder.file(`${synchronous}.db`), synchronous]
  await run('strace', ['-f', '-e', 'trace=fdatasync,fsync,write', '-o', calls, ...watched])
  const counts: number[] = []
  let flushes = 0
  for (const line of (await readFile(calls, 'utf8')).split('\n')) {
    if (/(fdatasync|fsync)\(\d+\) += 0|<\.\.\. (fdatasync|fsync) resumed>.*= 0/.test(line)) flushes++
    if (!line.includes('write(1, "acknowledged')) continue
    counts.push(flushes)
    flushes = 0
  }
  return counts
}

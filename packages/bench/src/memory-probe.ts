// Imported by a server process: reports to the bench, on request, the parts of its memory.
import { readFileSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { getHeapSpaceStatistics } from 'node:v8'
import type { Worker } from 'node:worker_threads'
import type { MemoryParts } from './memory/parts.js'

const LOOK_MS = 200

/** Last reported bytes of each other thread. A thread that ends during a request never answers. */
const threads = new Map<Worker, number>()

process.on('worker', (worker) => {
  const ask = async (): Promise<void> => {
    const { total_heap_size: heap, external_memory: external } = await worker.getHeapStatistics()
    if (threads.has(worker)) threads.set(worker, heap + external)
  }
  threads.set(worker, 0)
  const looking = setInterval(() => void ask().catch(() => {}), LOOK_MS).unref()
  worker.on('exit', () => {
    clearInterval(looking)
    threads.delete(worker)
  })
})

// There is no IPC channel to the parent, because `serve` starts in another way with one.
const answering = createServer((_, response) => response.end(JSON.stringify(parts())))
answering.listen(0, '127.0.0.1', () => {
  const address = answering.address()
  if (typeof address === 'object' && address !== null) writeSync(1, `parts at ${address.port}\n`)
})
answering.unref()

function parts(): MemoryParts {
  const { rss: resident, heapTotal: heap, heapUsed: used, external } = process.memoryUsage()
  const kib = /^RssFile:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return {
    resident,
    heap,
    young: getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.physical_space_size ?? 0,
    used,
    external,
    threads: [...threads.values()].reduce((sum, bytes) => sum + bytes, 0),
    threadCount: threads.size,
    files: Number(kib) * 1024,
  }
}

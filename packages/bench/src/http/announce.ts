import type { Server } from 'node:http'

/** Listens on a free loopback port and prints it, with further data for the parent; sends the processor time of its process whenever the parent asks. */
export function announce(server: Server, more: object): void {
  process.on('message', () => process.send?.(process.cpuUsage()))
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    process.stdout.write(`${JSON.stringify({ port, ...more })}\n`)
  })
}

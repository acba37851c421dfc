import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { builtFile } from '../../../../test/built.js'

/** A web server with the page. */
export interface Site {
  /** With a slash at the end, and no fragment. */
  readonly url: string
  /** Address that opens the page, with an access token where one is needed. */
  readonly start: string
  close(): Promise<void>
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.bin': 'application/octet-stream',
}

/** The built page as a folder of files, as any web server has it, below a path. */
export async function staticSite(): Promise<Site> {
  const folder = join(builtFile('packages/playground/dist/page/index.html'), '..')
  const server = createServer(({ url = '' }, response) => {
    const path = url.replace(/^\/some\/place/, '').replace(/\/$/, '/index.html')
    const file = join(folder, path)
    if (!url.startsWith('/some/place/') || !existsSync(file)) return void response.writeHead(404).end()
    response.writeHead(200, { 'Content-Type': TYPES[extname(path)] ?? 'text/plain' })
    createReadStream(file).pipe(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/some/place/`
  return {
    url,
    start: url,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** `fhir-ops demo`, as it is built, with its sample content. */
export async function demoSite(): Promise<Site> {
  const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-playground-'))
  const args = [builtFile('packages/cli/dist/main.js'), 'demo', '--port', '0', '--file', join(folder, 'demo.db')]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const said: string[] = []
  child.stderr.on('data', (part: Buffer) => said.push(String(part)))
  let start = ''
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line)
    if (line.includes('/#token=')) start = line.slice(line.indexOf('http'))
    if (line.startsWith('listening on ')) break
  }
  if (start === '') throw new Error(`The demo named no page:\n${said.join('\n')}`)
  return {
    url: start.slice(0, start.indexOf('#')),
    start,
    async close() {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}

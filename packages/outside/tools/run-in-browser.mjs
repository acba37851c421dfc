// Builds a Vite project, opens it in a browser that needs no driver, and prints the first line that the page writes, which the page sends to its server.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { build, preview } from 'vite'

const [, , root, ...command] = process.argv
/** In milliseconds. */
const LONGEST = 180_000
/** What the translator of CQL writes when it is loaded. */
const NOTICE = 'Environment variables are not supported in the browser'
/** Runs before the program of the page. */
const SENDING = `
  const send = (line) => fetch('/written', { method: 'POST', body: line })
  console.log = (...words) => words[0] !== ${JSON.stringify(NOTICE)} && send(words.join(' '))
  addEventListener('error', ({ message }) => send(message))
  addEventListener('unhandledrejection', ({ reason }) => send(String(reason)))
`

const { promise: written, resolve, reject } = Promise.withResolvers()
setTimeout(() => reject(new Error('The page has written nothing for three minutes.')), LONGEST).unref()
const receiving = {
  name: 'receiving',
  transformIndexHtml: () => [{ tag: 'script', children: SENDING, injectTo: 'head-prepend' }],
  configurePreviewServer({ middlewares }) {
    middlewares.use(
      '/written',
      (request, response) =>
        void text(request)
          .then(resolve)
          .finally(() => response.end()),
    )
  },
}
const options = { root, logLevel: 'error', configFile: false, plugins: [receiving] }
await build({ ...options, build: { target: 'esnext' } })
const server = await preview({ ...options, preview: { port: 0, host: '127.0.0.1' } })
const home = await mkdtemp(join(tmpdir(), 'fhir-ops-browser-'))
const [program, ...args] = command
const env = { ...process.env, HOME: home, XDG_RUNTIME_DIR: home }
// Its own group, because a browser is several processes.
const browser = spawn(program, [...args, server.resolvedUrls.local[0]], { stdio: 'ignore', detached: true, env })
browser.on('error', reject)
browser.on('exit', () => reject(new Error('The browser ended before the page wrote.')))

try {
  console.log(await written)
} finally {
  browser.removeAllListeners('exit')
  if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid)
  await rm(home, { recursive: true, force: true, maxRetries: 5 })
  await server.close()
}

// Opens a Vite project in Chromium, as it is built or from the development server, and prints the first line that the page writes.
import { chromium } from 'playwright-core'
import { build, createServer, preview } from 'vite'

const [, , executablePath, kind, root] = process.argv
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

const options = { root, logLevel: 'error', configFile: false }
const server = kind === 'built' ? await previewed() : await createServer({ ...options, server: { port: 0, host: '127.0.0.1' } })
if (kind !== 'built') await server.listen()
const browser = await chromium.launch({ executablePath, args: ARGS })
/** In milliseconds; Vite prepares what the page imports when it is first asked for. */
const LONGEST = 180_000
/** What the translator of CQL writes when it is loaded. */
const NOTICE = 'Environment variables are not supported in the browser'

try {
  console.log(await written(await browser.newPage()))
} finally {
  await browser.close()
  await server.close()
}

async function previewed() {
  await build({ ...options, build: { target: 'esnext' } })
  return preview({ ...options, preview: { port: 0, host: '127.0.0.1' } })
}

function written(page) {
  return new Promise((resolve, reject) => {
    page.on('console', (message) => message.type() === 'log' && message.text() !== NOTICE && resolve(message.text()))
    page.on('pageerror', reject)
    page.goto(server.resolvedUrls.local[0], { timeout: LONGEST }).catch(reject)
    setTimeout(() => reject(new Error('The page has written nothing for three minutes.')), LONGEST).unref()
  })
}

// How long a newcomer waits: from `git clone` to the first answer of a call, and to the first result of the playground where there is a Chromium.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './packages.mjs'

const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-newcomer-'))
const clone = join(folder, 'fhir-ops')
const load = loadavg()[0].toFixed(1)
let last = performance.now()

try {
  const cloned = spawnSync('git', ['clone', '--quiet', root, clone], { stdio: 'inherit' })
  if (cloned.status !== 0) throw new Error('git clone failed.')
  const seconds = { clone: lap() }
  const server = spawn('npm', ['start'], {
    cwd: clone,
    env: { ...process.env, PORT: '0' },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const page = await pageOf(server)
    seconds['install, build, start'] = lap()
    await firstAnswer(page)
    seconds['first answer'] = lap()
    const shown = await firstResult(page)
    if (shown !== undefined) seconds['first result of the playground'] = shown
  } finally {
    // The whole group: npm does not pass a signal on to what it has started.
    if (server.pid !== undefined) process.kill(-server.pid, 'SIGTERM')
  }
  for (const [part, value] of Object.entries(seconds)) console.log(`${value.toFixed(1).padStart(6)} s  ${part}`)
  console.log(`on ${availableParallelism()} cores with a load of ${load} before`)
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}

/** Seconds since the one before. */
function lap() {
  const [before, now] = [last, performance.now()]
  last = now
  return (now - before) / 1000
}

/** The address of the playground, when the server listens. */
async function pageOf({ stdout }) {
  let said = ''
  return new Promise((resolve, reject) => {
    stdout.on('data', (part) => {
      said += part
      const [address] = /http:\S+\/#token=\S+/.exec(said) ?? []
      if (/^listening on /m.test(said) && address !== undefined) resolve(new URL(address))
    })
    stdout.on('end', () => reject(new Error(`npm start ended:\n${said}`)))
  })
}

async function firstAnswer({ origin, hash }) {
  const url = `${origin}/fhir/R4/ValueSet/$expand?url=http://example.org/fhir/ValueSet/visit-priority`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${hash.slice('#token='.length)}` } })
  if (!answer.ok) throw new Error(`The first answer is ${answer.status}.`)
}

/** Seconds from opening the page to its first result. */
async function firstResult(page) {
  const require = createRequire(join(root, 'packages/playground/package.json'))
  const program = ['chromium', 'chromium-browser', 'google-chrome'].find((name) => spawnSync(name, ['--version']).status === 0)
  if (program === undefined) return undefined
  const { chromium } = require('playwright-core')
  const executablePath = spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim()
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const tab = await browser.newPage()
    lap()
    await tab.goto(page.href)
    await tab.locator('.verdict').first().waitFor({ timeout: 60_000 })
    return lap()
  } finally {
    await browser.close()
  }
}

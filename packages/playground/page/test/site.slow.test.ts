import { spawnSync } from 'node:child_process'
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium as launcher, type Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromium, CHROMIUM_ARGS } from '../../../../test/chromium.js'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const OUT = join(ROOT, 'site/dist')
const program = chromium()
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/** Why the site cannot be built here, if so: what builds it is installed when it is first needed. */
function missing(): string | undefined {
  const site = join(ROOT, 'site')
  if (existsSync(join(site, 'node_modules/.package-lock.json'))) return undefined
  const args = ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel', 'error']
  return spawnSync('npm', args, { cwd: site }).status === 0 ? undefined : 'vitepress and typedoc cannot be installed'
}

const why = missing()
let server: Server
let browser: Browser
let base: string

describe.skipIf(why !== undefined)('the site (needs tools of npm)', () => {
  let output = ''
  beforeAll(async () => {
    const { status, stdout, stderr } = spawnSync('node', ['site/build.mjs'], { cwd: ROOT, encoding: 'utf8' })
    output = `${stdout}\n${stderr}`
    if (status !== 0) throw new Error(output)
    server = createServer(({ url = '/' }, response) => {
      const [path = ''] = url.split(/[?#]/)
      const file = [path, `${path}.html`, `${path}index.html`]
        .map((name) => join(OUT, name))
        .find((name) => existsSync(name) && extname(name) !== '')
      if (file === undefined) return void response.writeHead(404).end()
      response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' })
      createReadStream(file).pipe(response)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const address = server.address()
    base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  test('is built, and every link of it leads somewhere', () => {
    expect(output).toContain('The site is in')
  })

  test('has every page of the documentation and every entry of the reference', () => {
    const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'))
    expect(pages.filter((page) => !existsSync(join(OUT, page.replace(/\.md$/, '.html'))))).toEqual([])
    const reference = readFileSync(join(OUT, 'reference/index.html'), 'utf8')
    for (const entry of ['fhir-ops/expand', '@fhir-ops/handler', '@fhir-ops/playground']) expect(reference).toContain(entry)
  })

  test('shows what was measured as charts', () => {
    const page = readFileSync(join(OUT, 'performance.html'), 'utf8')
    const charts = [...page.matchAll(/src="(\/charts\/\d+\.svg)"/g)].map(([, path = '']) => readFileSync(join(OUT, path), 'utf8'))
    expect(charts.length).toBeGreaterThan(0)
    for (const chart of charts) expect(chart.match(/<rect/g)?.length).toBeGreaterThan(3)
  })

  describe.skipIf(program === undefined)('in Chromium (needs Chromium)', () => {
    beforeAll(async () => {
      browser = await launcher.launch({ executablePath: program ?? '', args: [...CHROMIUM_ARGS] })
    })
    afterAll(() => browser.close())

    test('an operation can be tried on its page, and nothing comes from elsewhere', async () => {
      const page = await browser.newPage()
      const requests: string[] = []
      page.on('request', (request) => requests.push(request.url()))
      await page.goto(`${base}/operations/translate.html`)
      await page.locator('iframe.playground').scrollIntoViewIfNeeded()
      await page.frameLocator('iframe.playground').getByText('3 translations').waitFor()
      expect(requests.filter((url) => !url.startsWith(base))).toEqual([])
      await page.close()
    })

    test('the search finds a page by a word in it', async () => {
      const page = await browser.newPage()
      await page.goto(`${base}/`)
      await page.getByRole('button', { name: 'Search' }).first().click()
      await page.locator('#localsearch-input').fill('reversed refinements')
      await page.locator('#localsearch-list a').first().waitFor()
      expect(await page.locator('#localsearch-list').innerText()).toMatch(/ECL|Performance/)
      await page.close()
    })
  })
})

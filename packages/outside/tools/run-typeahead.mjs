// Builds the form, serves it from an origin of its own, and types into it; writes what is offered and what is chosen.
import { createServer } from 'node:http'
import { existsSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { chromium } from 'playwright-core'
import { build } from 'vite'

const { program, args, folder, outDir, port, base, token } = JSON.parse(process.argv[2] ?? '{}')
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
await build({
  root: folder,
  logLevel: 'error',
  build: { outDir, emptyOutDir: true, chunkSizeWarningLimit: 10_000 },
  resolve: { dedupe: ['react', 'react-dom'] },
})
const server = createServer(({ url }, response) => {
  const path = new URL(url, 'http://x').pathname
  const file = join(outDir, path === '/' ? 'index.html' : path)
  if (existsSync(file)) response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(readFileSync(file))
  else response.writeHead(404).end()
})
await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
const browser = await chromium.launch({ executablePath: program, args })
const problems = []
try {
  const page = await browser.newPage()
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  await page.goto(`http://127.0.0.1:${port}/#${new URLSearchParams({ base, token })}`)
  await page.getByPlaceholder('Search').fill('bet')
  // Until the server has answered, the form offers to make what was typed.
  const option = page.getByRole('option', { name: 'Beta' }).first()
  await option.waitFor({ timeout: 30_000 })
  const offered = await page.getByRole('option').allInnerTexts()
  await option.click()
  await page.waitForFunction(() => document.getElementById('chosen').textContent !== '')
  const chosen = JSON.parse(await page.locator('#chosen').innerText())
  process.stdout.write(JSON.stringify({ offered, chosen, problems }))
} catch (error) {
  process.stdout.write(JSON.stringify({ error: String(error), problems }))
} finally {
  await browser.close()
  server.close()
}

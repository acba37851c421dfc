// Serves an app from an origin of its own, starts it in Chromium, and writes what it has got when the user is back from the provider.
import { createServer } from 'node:http'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { chromium } from 'playwright-core'

const { program, args, folder, fhirclient, port, server, scope } = JSON.parse(process.argv[2] ?? '{}')
const types = { '.html': 'text/html', '.js': 'text/javascript' }
const site = createServer(({ url }, response) => {
  const { pathname } = new URL(url, 'http://x')
  const file = pathname.startsWith('/fhirclient/')
    ? join(fhirclient, pathname.slice('/fhirclient/'.length))
    : join(folder, pathname === '/' ? 'index.html' : pathname)
  if (existsSync(file) && statSync(file).isFile())
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(readFileSync(file))
  else response.writeHead(404).end()
})
await new Promise((resolve) => site.listen(port, '127.0.0.1', resolve))
const browser = await chromium.launch({ executablePath: program, args })
const visited = []
let page
try {
  page = await browser.newPage()
  page.on('framenavigated', (frame) => visited.push(frame.url()))
  await page.goto(`http://127.0.0.1:${port}/?${new URLSearchParams({ server, scope })}`)
  await page.waitForFunction(() => (document.getElementById('result')?.textContent ?? '') !== '', undefined, { timeout: 30_000 })
  process.stdout.write(JSON.stringify(JSON.parse(await page.locator('#result').innerText())))
} catch (error) {
  process.stdout.write(JSON.stringify({ error: String(error), visited, shown: await page?.locator('body').innerText() }))
} finally {
  await browser.close()
  site.closeAllConnections()
  site.close()
}

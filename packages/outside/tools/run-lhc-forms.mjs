// Serves a page with LHC-Forms from an origin of its own and types into its field; writes what is offered, and what the form makes of the choice.
import { createServer } from 'node:http'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { chromium } from 'playwright-core'

const { program, args, folders, port, base, token, valueSet } = JSON.parse(process.argv[2] ?? '{}')
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
const server = createServer(({ url }, response) => {
  const [, first = '', ...rest] = new URL(url, 'http://x').pathname.split('/')
  const file = folders[first] === undefined ? join(folders.page, first === '' ? 'index.html' : first) : join(folders[first], ...rest)
  if (existsSync(file) && statSync(file).isFile())
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(readFileSync(file))
  else response.writeHead(404).end()
})
await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
const browser = await chromium.launch({ executablePath: program, args })
const problems = []
try {
  const page = await browser.newPage()
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  await page.goto(`http://127.0.0.1:${port}/#${new URLSearchParams({ base, token, valueSet })}`)
  await page.waitForFunction(() => document.title === 'ready')
  const field = page.locator('#form input').first()
  await field.click()
  // Each letter may be searched for; the answer of an earlier search makes the list anew and takes a choice back.
  const last = page.waitForResponse((response) => new URL(response.url()).searchParams.get('filter') === 'bet')
  await field.pressSequentially('bet')
  await (await last).finished()
  const option = page.getByText('Beta', { exact: true }).first()
  await option.waitFor({ timeout: 30_000 })
  const offered = await option.innerText()
  await field.press('ArrowDown')
  await page.waitForFunction(() => document.querySelector('#form input').value === 'Beta')
  await field.press('Tab')
  await page.waitForFunction(() => LForms.Util.getFormFHIRData('QuestionnaireResponse', 'R4', '#form').item?.[0].answer !== undefined)
  const made = await page.evaluate(() => {
    const resources = LForms.Util.getFormFHIRData('QuestionnaireResponse', 'R4', '#form', { extract: true })
    return Array.isArray(resources) ? resources : [resources]
  })
  process.stdout.write(JSON.stringify({ offered, made, problems }))
} catch (error) {
  process.stdout.write(JSON.stringify({ error: String(error), problems }))
} finally {
  await browser.close()
  server.close()
}

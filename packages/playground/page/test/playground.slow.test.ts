import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium as launcher, type Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtFile } from '../../../../test/built.js'
import { chromium, CHROMIUM_ARGS } from '../../../../test/chromium.js'
import { OPERATION_PAGES } from '../operations/index.js'
import { difference, differenceFrom, differenceFromDocumentation } from './looks-alike.js'
import { writeAddress } from '../address.js'
import { openPage, type OpenedPage } from './opened-page.js'
import { demoSite, staticSite, type Site } from './sites.js'

const program = chromium()
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const samples = OPERATION_PAGES.flatMap((page) => page.samples.map((sample) => ({ id: page.id, sample: sample.id, page })))

/** What the first sample of each operation shows. */
const SHOWN: Readonly<Record<string, RegExp>> = {
  expand: /105 codes.*FAMMEMB.*sibling/s,
  lookup: /parent \(PRN\).*mother.*stepmother/s,
  'validate-code': /not valid.*Similar codes.*female/s,
  subsumes: /FAMMEMB is above MTHFOST/,
  compare: /overlapping.*mon.*thu.*fri/s,
  translate: /3 translations.*EM · emergency.*1 · Level 1.*relatedto/s,
  closure: /8 pairs.*MTH.*FAMMEMB/s,
  snapshot: /Observation\.subject.*1\.\.1.*The weight/s,
  'data-requirements': /requirements.*Patient/s,
  'collect-data': /resources.*Patient.*ada/s,
  validate: /7 errors.*Did you mean 'birthDate'/s,
  'evaluate-measure': /75 %.*Denominator.*4.*female.*100 %/s,
  cql: /1 value.*return.*83/s,
  execute: /"bmi": 21.8/,
}
/** Pictures with a smaller difference are the same page. */
const ALIKE = 0.05
/** Operations whose answer is a refusal that the sample is about. */
const REFUSED = new Set(['lookup/typo'])

let browser: Browser
let alone: Site
let demo: Site

describe.skipIf(program === undefined)('the playground in Chromium (needs Chromium)', () => {
  beforeAll(async () => {
    browser = await launcher.launch({ executablePath: program ?? '', args: [...CHROMIUM_ARGS] })
    ;[alone, demo] = [await staticSite(), await demoSite()]
  })
  afterAll(async () => {
    await browser.close()
    await Promise.all([alone.close(), demo.close()])
  })

  describe('by itself', () => {
    test.each(OPERATION_PAGES.filter(({ needsServer }) => needsServer === undefined).map(({ id }) => id))(
      '%s runs in the browser',
      async (id) => {
        await using opened = await openPage(browser, alone)
        await opened.open(`#/${id}`)
        await runIfManual(opened, id)
        expect(await opened.answered()).toMatch(/^200 · .* · this browser$/)
        expect(await opened.page.locator('.shown').innerText()).toMatch(SHOWN[id] ?? '')
        expect(opened.problems).toEqual([])
      },
    )

    test('every sample has the answer that it is about, and nothing leaves the browser', async () => {
      await using opened = await openPage(browser, alone)
      for (const { id, sample, page } of samples.filter(({ page: { needsServer } }) => needsServer === undefined)) {
        await opened.open(`#/${id}/${sample}`)
        await runIfManual(opened, id)
        const status = await opened.answered()
        expect(status, `${page.title} ${sample}`).toMatch(REFUSED.has(`${id}/${sample}`) ? /^404/ : /^200/)
      }
      expect(opened.problems).toEqual([])
      const parts = new RegExp(`^${alone.url}(assets/[\\w-]+\\.(js|css|svg|bin))?$`)
      expect(opened.requests.filter((url) => !parts.test(url))).toEqual([])
    })

    test('execute says where bots run', async () => {
      await using opened = await openPage(browser, alone)
      await opened.open('#/execute')
      await opened.page.getByText('Bots run on a server').waitFor()
    })

    test('what is typed into the search is searched while it is typed', async () => {
      await using opened = await openPage(browser, alone)
      await opened.open('#/expand/search')
      await opened.page.getByText('18 codes found').waitFor()
      await opened.page.getByLabel('Search').fill('medicationst')
      await opened.page.getByText('1 code found').waitFor()
      expect(await opened.page.getByRole('tree').innerText()).toContain('MedicationStatement')
      expect(await opened.page.locator('mark').allTextContents()).toContain('MedicationSt')
    })

    test('a finding is fixed by its button, and the fixes of all by one', async () => {
      await using opened = await openPage(browser, alone)
      await opened.open('#/validate/patient')
      await opened.answered()
      const findings = opened.page.locator('.finding')
      const before = await findings.count()
      await opened.page.getByRole('button', { name: /^Fix: Invalid additional property/ }).click()
      await expect.poll(() => findings.count()).toBeLessThan(before)
      expect(await opened.page.locator('.cm-content').first().innerText()).toContain('"birthDate": "1980-12-10"')
      await opened.page.getByRole('button', { name: /^Fix \d findings/ }).click()
      await expect.poll(() => opened.page.getByRole('button', { name: /^Fix/ }).count()).toBe(0)
      expect(await opened.page.locator('.cm-content').first().innerText()).toContain('"active": true')
    })

    test('a finding is underlined where it is, with its fix in the editor', async () => {
      await using opened = await openPage(browser, alone)
      await opened.open('#/validate/patient')
      await opened.answered()
      await opened.page.locator('.cm-lintRange-error').first().hover()
      await opened.page.locator('.cm-tooltip').getByRole('button', { name: 'Fix' }).click()
      await expect.poll(() => opened.page.locator('.cm-content').first().innerText()).toContain('"active": true')
      expect(opened.problems).toEqual([])
    })

    test('a population opens to its subjects, and a subject to why it is in each population, and to the resource', async () => {
      await using opened = await openPage(browser, alone)
      await opened.open('#/evaluate-measure')
      await opened.page
        .getByRole('button', { name: /^Numerator/ })
        .first()
        .focus()
      await opened.page.keyboard.press('Enter')
      await opened.page.getByRole('button', { name: 'Patient/ada' }).first().focus()
      await opened.page.keyboard.press('Enter')
      await opened.page.locator('.member .reason').filter({ hasText: 'Numerator is true because' }).waitFor()
      await opened.page.locator('.member pre').filter({ hasText: '"family": "Lovell"' }).waitFor()
    })

    test.each(['light', 'dark'] as const)(
      'on a phone the reasons of a patient come with steps and, of CQL, with the source: %s',
      async (colorScheme) => {
        await using opened = await openPage(browser, alone, { width: 360, height: 780, colorScheme })
        const { page } = opened
        await page.evaluate(AXE)
        await opened.open('#/evaluate-measure/cql')
        await page.locator('button.bar').first().click()
        await page.locator('button.chip').first().click()
        await page.locator('.member .clauses summary').click()
        await page.locator('.member .clauses .clause.t').first().waitFor()
        await page.locator('.member .reason details summary').first().click()
        await page.locator('.member .reason-steps li').first().waitFor()
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
        expect(await violations(page)).toEqual([])
        expect(opened.problems).toEqual([])
      },
    )

    test('a similar code is one click away', async () => {
      await using opened = await openPage(browser, alone)
      await opened.open('#/lookup/typo')
      await opened.page.getByRole('button', { name: /^MTH/ }).click()
      await opened.page.getByRole('heading', { name: 'mother' }).waitFor()
    })

    test('a copied link opens what was put in', async () => {
      await using opened = await openPage(browser, alone)
      await opened.open('#/expand/own')
      await opened.answered()
      await opened.page.getByLabel('Search').fill('notf')
      await opened.page.getByText('1 code found').waitFor()
      await opened.page.getByRole('button', { name: 'Copy link' }).click()
      await opened.page.getByRole('button', { name: 'Copied' }).waitFor()
      const link = await opened.page.evaluate(() => navigator.clipboard.readText())
      await using other = await openPage(browser, { ...alone, start: link })
      await other.page.getByText('1 code found').waitFor()
      expect(await other.page.getByLabel('Search').inputValue()).toBe('notf')
      expect(await other.page.getByRole('tree').innerText()).toContain('Notfall, sofort')
    })

    test.each([
      ['#/validate/~AAAA', 'cannot be read'],
      ['#/vlidate', "There is no operation 'vlidate'"],
      ['#/validate/nothing', "There is no sample 'nothing'"],
    ])('%s opens no other input without saying so, and the page goes on', async (address, problem) => {
      await using opened = await openPage(browser, alone)
      await opened.open(address)
      await opened.page.locator('.verdict.warn').filter({ hasText: problem }).waitFor()
      await opened.page.getByRole('button', { name: 'Run', exact: true }).click()
      expect(await opened.answered()).toMatch(/^200/)
    })

    test('of a long call the beginning is shown, so that typing stays quick, and the whole is copied', async () => {
      await using opened = await openPage(browser, alone)
      const family = 'x'.repeat(300_000)
      const resource = JSON.stringify({ resourceType: 'Patient', name: [{ family }] })
      await opened.open(await writeAddress({ operation: 'validate', input: { fields: {}, texts: { resource } } }))
      await opened.answered()
      const curl = opened.page.getByRole('group', { name: 'curl' })
      expect((await curl.innerText()).length).toBeLessThan(50_000)
      await opened.page
        .locator('.same')
        .getByText(/more characters, which are copied too/)
        .first()
        .waitFor()
      await opened.page.getByRole('button', { name: 'Copy curl' }).click()
      await opened.page.getByRole('button', { name: 'Copy curl' }).filter({ hasText: 'Copied' }).waitFor()
      expect(await opened.page.evaluate(() => navigator.clipboard.readText())).toContain(family)
    })

    test('input that makes no request is said so, and the page goes on', async () => {
      await using opened = await openPage(browser, alone)
      await opened.open('#/expand/own')
      await opened.answered()
      await opened.page.locator('.cm-content').first().fill('{ "resourceType": ')
      await opened.page.locator('.verdict.warn').filter({ hasText: 'JSON' }).waitFor()
      await opened.page.locator('.cm-content').first().fill('<ValueSet xmlns="http://hl7.org/fhir"/>')
      await opened.page.locator('.verdict.warn').filter({ hasText: 'This is XML or HTML' }).waitFor()
      await opened.page.locator('.cm-content').first().fill('{}')
      await opened.page.locator('.verdict.warn').filter({ hasText: 'The text has no resourceType' }).waitFor()
      await opened.page.locator('.cm-content').first().fill('')
      await opened.page.locator('.finding').filter({ hasText: 'http://example.org/fhir/ValueSet/visit-priority' }).waitFor()
      expect(opened.problems).toEqual([])
    })
  })

  describe('served by the demo', () => {
    test.each(OPERATION_PAGES.map(({ id }) => id))('%s runs on the server', async (id) => {
      await using opened = await openPage(browser, demo)
      await opened.open(`#/${id}`)
      if (['evaluate-measure', 'data-requirements', 'collect-data'].includes(id)) {
        await opened.answered()
        // The first one finds that the server has nothing of it, and is offered to store it.
        const name = id === 'evaluate-measure' ? 'Store them and run' : 'Store on the server'
        await opened.page.getByRole('button', { name }).click()
        await opened.page.locator('.bars, .table-frame').first().waitFor()
        opened.problems.length = 0
      }
      await runIfManual(opened, id)
      expect(await opened.answered()).toMatch(/^200 · .* · 127\.0\.0\.1:\d+$/)
      expect(await opened.page.locator('.shown').innerText()).toMatch(SHOWN[id] ?? '')
      expect(opened.problems).toEqual([])
      expect(opened.requests.filter((url) => !url.startsWith(demo.url))).toEqual([])
    })

    test.each([
      ['gzip, deflate, br', 'gzip'],
      ['gzip;q=0.5', 'gzip'],
      ['gzip;q=0', null],
      ['identity', null],
    ])('its parts are sent as %s allows', async (accepted, encoding) => {
      const [part = ''] = /assets\/[\w-]+\.js/.exec(await (await fetch(demo.url)).text()) ?? []
      const response = await fetch(demo.url + part, { headers: { 'accept-encoding': accepted } })
      expect([response.headers.get('content-encoding'), response.headers.get('vary')]).toEqual([encoding, 'Accept-Encoding'])
      expect(await response.text()).toBe(readFileSync(builtFile(`packages/playground/dist/page/${part}`), 'utf8'))
    })

    test('the token is taken out of the address, and kept for the tab only', async () => {
      await using opened = await openPage(browser, demo)
      await opened.answered()
      expect(opened.page.url()).not.toContain('token')
      await opened.page.reload()
      expect(await opened.answered()).toMatch(/^200/)
      await using other = await openPage(browser, { ...demo, start: demo.url })
      expect(await other.answered()).toMatch(/^401/)
      await other.page.getByText('The server wants an access token').waitFor()
    })

    test('the same page runs operations in the browser, too', async () => {
      await using opened = await openPage(browser, { ...demo, start: demo.url })
      await opened.page.getByLabel('Runs on').selectOption('browser')
      await opened.page.locator('.verdict').filter({ hasText: '105 codes' }).waitFor()
      expect(await opened.answered()).toContain('this browser')
    })
  })

  describe('markup in what is shown is a text', () => {
    const MARKUP = '<img src="x" onerror="window.hasRun = true"><script>window.hasRun = true</script>'
    const texts = new Set(['display', 'title', 'name', 'text', 'family', 'definition', 'description', 'human'])
    /** JSON in which texts that people read are markup; anything else as it is. */
    const marked = (text: string): string => {
      try {
        return JSON.stringify(JSON.parse(text, (name, value) => (texts.has(name) && typeof value === 'string' ? MARKUP : value)))
      } catch {
        return text
      }
    }
    const markedAll = (input: Readonly<Record<string, string>>): Record<string, string> =>
      Object.fromEntries(Object.entries(input).map(([name, text]) => [name, marked(text)]))

    /** Nothing ran, nothing was asked for, and the page has no element of the markup. */
    const expectText = async ({ page, problems, requests }: OpenedPage): Promise<void> => {
      expect(await page.evaluate('window.hasRun')).toBeUndefined()
      expect(await page.locator('img[src="x"], script:not([src])').count()).toBe(0)
      expect(problems.filter((problem) => problem.startsWith('policy:'))).toEqual([])
      expect(requests.filter((url) => url.endsWith('/x'))).toEqual([])
    }

    test('in inputs of every operation, and in messages about them', async () => {
      await using opened = await openPage(browser, alone)
      for (const { id, samples: own, needsServer } of OPERATION_PAGES) {
        if (needsServer !== undefined) continue
        for (const { fields, texts: given } of own) {
          for (const input of [
            { fields, texts: markedAll(given) },
            { fields: Object.fromEntries(Object.keys(fields).map((name) => [name, MARKUP])), texts: given },
          ]) {
            await opened.open(await writeAddress({ operation: id, input }))
            await runIfManual(opened, id)
            await opened.answered()
            await expectText(opened)
          }
        }
      }
    })

    test('in what is stored on a server', async () => {
      const authorization = `Bearer ${new URLSearchParams(demo.start.slice(demo.start.indexOf('#') + 1)).get('token')}`
      const concept = [{ code: 'a', display: MARKUP, definition: MARKUP, concept: [{ code: 'b', display: MARKUP }] }]
      const common = { name: 'Marked', title: MARKUP, description: MARKUP, status: 'active' }
      const system = { resourceType: 'CodeSystem', id: 'marked', url: 'http://x/marked', content: 'complete', ...common, concept }
      const set = { resourceType: 'ValueSet', id: 'marked', url: 'http://x/vs', ...common, compose: { include: [{ system: system.url }] } }
      for (const resource of [system, set]) {
        const headers = { authorization, 'content-type': 'application/fhir+json' }
        const url = `${demo.url}fhir/R4/${resource.resourceType}/marked`
        expect((await fetch(url, { method: 'PUT', headers, body: JSON.stringify(resource) })).status).toBe(201)
      }
      await using opened = await openPage(browser, demo)
      for (const [operation, fields] of [
        ['expand', { url: set.url }],
        ['expand', { url: set.url, filter: 'img' }],
        ['lookup', { system: system.url, code: 'a' }],
        ['validate-code', { url: set.url, system: system.url, code: 'a', display: 'other' }],
      ] as const) {
        await opened.open(await writeAddress({ operation, input: { fields, texts: {} } }))
        expect(await opened.answered()).toMatch(/^200/)
        expect(await opened.page.locator('.shown').innerText()).toContain('window.hasRun')
        await expectText(opened)
      }
    })
  })

  describe('for everybody', () => {
    test.each(['light', 'dark'] as const)('axe has no findings: %s', async (colorScheme) => {
      await using opened = await openPage(browser, alone, { colorScheme })
      await opened.page.evaluate(AXE)
      for (const { id } of OPERATION_PAGES) {
        await opened.open(`#/${id}`)
        if (id === 'execute') await opened.page.getByText('Bots run on a server').waitFor()
        else {
          await runIfManual(opened, id)
          await opened.answered()
        }
        expect(await violations(opened.page), id).toEqual([])
        const why = opened.page.getByRole('tab', { name: /^Why/ })
        if ((await why.count()) > 0) await why.click()
        expect(await violations(opened.page), `${id}, why`).toEqual([])
        if ((await why.count()) > 0) await opened.page.getByRole('tab', { name: 'Result' }).click()
      }
    })

    test('axe has no findings on a phone, with the fields of a server', async () => {
      await using opened = await openPage(browser, demo, { width: 390, height: 844 })
      await opened.page.evaluate(AXE)
      await opened.answered()
      expect(await violations(opened.page)).toEqual([])
    })

    test('nothing is wider than a phone', async () => {
      await using opened = await openPage(browser, alone, { width: 360, height: 780 })
      for (const { id } of OPERATION_PAGES) {
        await opened.open(`#/${id}`)
        if (id !== 'execute') {
          await runIfManual(opened, id)
          await opened.answered()
        }
        expect(await opened.page.evaluate(() => document.documentElement.scrollWidth), id).toBe(360)
      }
    })

    test('the keyboard is enough: from the top to a result, along the tree, over tabs, and out of the editor', async () => {
      await using opened = await openPage(browser, alone)
      const { page } = opened
      await opened.open('#/expand')
      await opened.answered()
      const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? '')
      await tabTo(opened, /^\$validate$/)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: '$validate', exact: true }).waitFor()
      await opened.answered()
      await page.locator('.cm-content').focus()
      await page.keyboard.press('F8')
      await page.keyboard.press('Control+Enter')
      const inEditor = (): Promise<boolean> => page.evaluate(() => document.activeElement?.shadowRoot !== null)
      // A finding that is shown has a button of its own on the way out.
      for (let presses = 0; presses < 4 && (await inEditor()); presses++) await page.keyboard.press('Tab')
      expect(await inEditor()).toBe(false)
      await opened.open('#/expand')
      await opened.answered()
      await page.getByRole('treeitem').first().focus()
      for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key)
      expect(await focused()).toContain('adopted child')
      await page.keyboard.press('ArrowLeft')
      await page.keyboard.press('ArrowLeft')
      expect(await page.getByRole('treeitem', { name: 'CHILD' }).first().getAttribute('aria-expanded')).toBe('false')
      await page.getByRole('tab', { name: 'Result' }).focus()
      await page.keyboard.press('End')
      expect(await page.getByRole('tab', { name: 'Response' }).getAttribute('aria-selected')).toBe('true')
    })
  })

  test('there is a page for every operation that README lists', () => {
    const [, list = ''] =
      /\n## Operations\n([^]*?)\n## /.exec(readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8')) ?? []
    const listed = new Set([...list.matchAll(/\$([a-z-]+)`/g)].map(([, name = '']) => name))
    const shown = new Set(OPERATION_PAGES.map(({ title }) => title.slice(1)))
    // A Library is evaluated on the page of CQL; what is submitted is what was collected.
    expect([...listed].filter((name) => !shown.has(name))).toEqual(['submit-data', 'evaluate'])
  })

  describe('its looks', () => {
    test.each<[name: string, address: string, view: Parameters<typeof openPage>[2]]>([
      ['expand', '#/expand', {}],
      ['translate', '#/translate', {}],
      ['validate', '#/validate', {}],
      ['evaluate-measure-dark', '#/evaluate-measure', { colorScheme: 'dark' }],
      ['compare-dark', '#/compare', { colorScheme: 'dark' }],
      ['lookup-phone', '#/lookup', { width: 390, height: 844 }],
    ])('%s is as in the committed picture', async (name, address, view) => {
      await using opened = await openPage(browser, alone, view)
      await opened.open(address)
      await opened.answered()
      expect(await differenceFrom(browser, name, await opened.page.screenshot({ animations: 'disabled' }))).toBeLessThan(ALIKE)
    })

    test('the documentation shows the page as it is', async () => {
      await using opened = await openPage(browser, alone, { height: 760 })
      await opened.open('#/validate')
      await opened.answered()
      expect(await differenceFromDocumentation(browser, await opened.page.screenshot({ animations: 'disabled' }))).toBeLessThan(ALIKE)
    })

    test('a machine with other fonts has the same pictures', async () => {
      await using opened = await openPage(browser, alone)
      await opened.open('#/translate')
      await opened.answered()
      const before = await opened.page.screenshot()
      await opened.page.evaluate(() => document.documentElement.style.setProperty('--sans', 'serif'))
      expect(await difference(browser, before, await opened.page.screenshot())).toBeLessThan(ALIKE)
    })

    test('another page, or one without its style, would be noticed', async () => {
      await using opened = await openPage(browser, alone)
      await opened.open('#/expand')
      await opened.answered()
      const before = await opened.page.screenshot()
      await opened.open('#/validate')
      await opened.answered()
      expect(await difference(browser, before, await opened.page.screenshot())).toBeGreaterThan(ALIKE)
      await opened.page.evaluate(() => document.querySelector('link[rel=stylesheet]')?.remove())
      expect(await difference(browser, before, await opened.page.screenshot())).toBeGreaterThan(ALIKE)
    })
  })
})

/** Presses the button of an operation that runs when it is asked to. */
async function runIfManual({ page }: Awaited<ReturnType<typeof openPage>>, id: string): Promise<void> {
  if (OPERATION_PAGES.find((one) => one.id === id)?.isManual === true) await page.getByRole('button', { name: 'Run', exact: true }).click()
}

interface AxeFinding {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

async function violations(page: Awaited<ReturnType<typeof openPage>>['page']): Promise<readonly string[]> {
  const result: unknown = await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')
  const found = (result as { readonly violations: readonly AxeFinding[] }).violations
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

/** Presses Tab until the focus is on something with this text. */
async function tabTo({ page }: Awaited<ReturnType<typeof openPage>>, text: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab')
    if (text.test(await page.evaluate(() => document.activeElement?.textContent ?? ''))) return
  }
  throw new Error(`Tab does not come to ${text}.`)
}

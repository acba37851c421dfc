import type { Browser, Page } from 'playwright-core'
import type { Site } from './sites.js'

/** A page in Chromium, with what happened in it. */
export interface OpenedPage extends AsyncDisposable {
  readonly page: Page
  /** Violations of the policy, uncaught errors, and errors that the page or the browser wrote. */
  readonly problems: string[]
  /** Addresses of all requests, in order. */
  readonly requests: string[]
  /** Opens an operation and waits for its answer. */
  readonly open: (address: string) => Promise<void>
  /** Waits until what was started is answered, and gives the line above the result. */
  readonly answered: () => Promise<string>
}

/** How a page is looked at. */
export interface View {
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: 'light' | 'dark'
}

const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
  console.error('policy:', violatedDirective, blockedURI, sourceFile, lineNumber))`

/** Opens a site in a browser profile of its own. */
export async function openPage(
  browser: Browser,
  site: Site,
  { width = 1280, height = 860, colorScheme = 'light' }: View = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, permissions: ['clipboard-read', 'clipboard-write'] })
  const page = await context.newPage()
  const problems: string[] = []
  const requests: string[] = []
  await page.addInitScript(REPORT_VIOLATIONS)
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(String(error)))
  context.on('request', (request) => requests.push(request.url()))
  const answered = async (): Promise<string> => {
    const status = page.locator('.status:not(.busy)').filter({ hasText: /^\d{3} · / })
    return (await status.textContent({ timeout: 60_000 })) ?? ''
  }
  await page.goto(site.start)
  return {
    page,
    problems,
    requests,
    answered,
    async open(address) {
      // The address that was opened is replaced by that of the sample, so opening it again is a change.
      await page.evaluate(`document.querySelector('.status').textContent = ''; location.hash = ${JSON.stringify(address)}`)
      await page.locator('.shown').waitFor()
    },
    [Symbol.asyncDispose]: () => context.close(),
  }
}

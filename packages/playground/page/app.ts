import { isForgetful, readAddress, writeAddress, type Place } from './address.js'
import { copyText, sayOn } from './dom/code-block.js'
import { element } from './dom/element.js'
import { browserRunner } from './engine/browser-runner.js'
import type { Call, Runner } from './engine/call.js'
import { serverRunner } from './engine/server-runner.js'
import { storeCall } from './engine/store-call.js'
import { issuesIn } from './fhir/outcome.js'
import { createForm, type Form } from './form.js'
import { createHeader, keepToken, type Header } from './header.js'
import { inputSection } from './input-section.js'
import { markCurrent, menuElement } from './menu.js'
import { OPERATION_PAGES } from './operations/index.js'
import type { Input, OperationPage, PictureHost, Sample } from './operations/operation-page.js'
import { createResultView, type ResultView } from './result-view.js'

/** How long somebody who types is waited for. */
const PAUSE_MS = 250
const EMPTY: Input = { fields: {}, texts: {} }

/** An operation with what is put in. */
interface Opened {
  readonly page: OperationPage
  readonly form: Form
  /** The sample that was opened, until something is changed. */
  sample: string | undefined
}

/** The parts of the page, and what goes on in it. */
interface Desk {
  readonly header: Header
  readonly menu: HTMLElement
  readonly workplace: HTMLElement
  readonly result: ResultView
  /** Where calls are sent at present. */
  readonly runner: () => Runner
  opened: Opened | undefined
  /** Ends the call under way when the next one begins. */
  running: AbortController
  timer: ReturnType<typeof setTimeout> | undefined
}

/**
 * Builds the page.
 *
 * @param base FHIR base of the server that serves the page; empty for a page by itself, which runs everything in the browser.
 */
export function startPlayground(root: HTMLElement, base: string): void {
  keepToken()
  const server = base === '' ? undefined : new URL(base, location.href)
  const header = createHeader(server?.host, () => void run(desk))
  const runners = { browser: lazily(browserRunner), server: lazily(() => serverRunner(base, header.token)) }
  const desk: Desk = {
    header,
    menu: menuElement(),
    workplace: element('div', { class: 'workplace' }),
    result: createResultView(server?.href),
    runner: () => runners[header.place()](),
    opened: undefined,
    running: new AbortController(),
    timer: undefined,
  }
  const main = element('main', { class: 'main' }, desk.workplace, desk.result.element)
  root.append(header.element, element('div', { class: 'columns' }, desk.menu, main))
  // The definitions are loaded while the first form is made.
  desk.runner()
  addEventListener('hashchange', () => void openAddress(desk))
  void openAddress(desk)
}

function lazily<Made>(make: () => Made): () => Made {
  let made: Made | undefined
  return () => (made ??= make())
}

async function openAddress(desk: Desk): Promise<void> {
  const place = await readAddress(location.hash)
  const page = OPERATION_PAGES.find(({ id }) => id === place.operation) ?? OPERATION_PAGES[0]
  if (page === undefined) return
  const sample = page.samples.find(({ id }) => id === place.sample)
  open(desk, page, { input: place.input ?? sample ?? page.samples[0] ?? EMPTY, problem: problemOf(place, { page, sample }) })
}

/** Why a sample is opened instead of what the address names. */
function problemOf(
  place: Place,
  { page, sample }: { readonly page: OperationPage; readonly sample: Sample | undefined },
): string | undefined {
  if (place.operation !== '' && place.operation !== page.id)
    return `There is no operation '${place.operation}' here, so this is ${page.title}.`
  if (place.isLost === true)
    return 'The input in this address cannot be read, so this is a sample. The address is damaged or incomplete, or its input is too long for one.'
  if (place.sample !== undefined && sample === undefined) return `There is no sample '${place.sample}' here, so this is another one.`
  return undefined
}

/** What an operation is opened with; not run if there is a problem. */
interface Opening {
  readonly input: Input | Sample
  readonly problem?: string | undefined
}

function open(desk: Desk, page: OperationPage, { input, problem }: Opening): void {
  const form = createForm(page, input, { onChange: () => changed(desk), onRun: () => void run(desk) })
  const opened = { page, form, sample: 'id' in input ? input.id : undefined }
  desk.opened = opened
  desk.running.abort()
  markCurrent(desk.menu, page.id)
  document.title = `${page.title} · fhir-ops playground`
  const section = inputSection(opened, {
    openSample: (sample) => open(desk, page, { input: sample }),
    run: () => void run(desk).then(() => showResult(desk)),
    store: page.stored === undefined ? undefined : () => void store(desk, opened, page.stored),
    async copyLink(at) {
      const address = await addressOf(opened)
      if (isForgetful(address)) return sayOn(at, 'Too long for a link')
      return copyText(new URL(address, location.href).href, at)
    },
  })
  desk.workplace.replaceChildren(section)
  showCall(desk, opened)
  if (problem === undefined && page.isManual !== true) void run(desk)
  else desk.result.showProblem(problem ?? missing(desk, page) ?? 'Runs when you ask it to.')
}

/** Why the operation cannot run here. */
function missing({ header }: Desk, { needsServer }: OperationPage): string | undefined {
  return header.place() === 'browser' ? needsServer : undefined
}

function changed(desk: Desk): void {
  const { opened } = desk
  if (opened === undefined) return
  opened.sample = undefined
  clearTimeout(desk.timer)
  showCall(desk, opened)
  if (opened.page.isManual !== true) desk.timer = setTimeout(() => void run(desk), PAUSE_MS)
}

function showCall({ result }: Desk, opened: Opened): void {
  const call = callOf(opened)
  result.showCall(call instanceof Error ? undefined : call, opened.page.code(opened.form.input()))
}

function callOf({ page, form }: Opened): Call | Error {
  try {
    return page.call(form.input())
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

async function run(desk: Desk): Promise<void> {
  clearTimeout(desk.timer)
  const { opened, result } = desk
  if (opened === undefined) return
  void rememberAddress(desk, opened)
  const call = callOf(opened)
  const problem = missing(desk, opened.page) ?? (call instanceof Error ? call.message : undefined)
  if (problem !== undefined || call instanceof Error) return result.showProblem(problem ?? '')
  desk.running.abort()
  desk.running = new AbortController()
  const { signal } = desk.running
  result.showBusy()
  try {
    const answer = await desk.runner().run(call, signal)
    if (!signal.aborted) result.showAnswer({ page: opened.page, answer, place: desk.runner().place, host: hostOf(desk, opened) })
  } catch (error) {
    if (!signal.aborted) result.showProblem(`No answer: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** In a narrow window the result is below what was put in. */
function showResult({ result }: Desk): void {
  const { top } = result.element.getBoundingClientRect()
  if (top > innerHeight * 0.7) result.element.scrollIntoView({ block: 'start' })
}

/** Stores what the operation counts on the server, and runs it then. */
async function store(desk: Desk, { form }: Opened, editor = ''): Promise<void> {
  try {
    const answer = await desk.runner().run(storeCall(form.input().texts[editor] ?? ''), new AbortController().signal)
    if (answer.status < 400) return await run(desk)
    desk.result.showProblem(`Not stored: ${issuesIn(answer.json)?.[0]?.text ?? `status ${answer.status}`}`)
  } catch (error) {
    desk.result.showProblem(`Not stored: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function hostOf(desk: Desk, opened: Opened): PictureHost {
  const { form, page } = opened
  const isOnServer = desk.header.place() !== 'browser'
  return {
    ...(isOnServer && page.stored !== undefined && { store: () => void store(desk, opened, page.stored) }),
    editor: form.editor,
    input: form.input(),
    ask: (call) => desk.runner().run(call, desk.running.signal),
    runWith(fields) {
      form.setFields(fields)
      changed(desk)
      void run(desk)
    },
  }
}

function addressOf({ page, form, sample }: Opened): Promise<string> {
  return writeAddress({ operation: page.id, ...(sample === undefined ? { input: form.input() } : { sample }) })
}

/** A page that is loaded again, or gone back to, shows the same. */
async function rememberAddress(desk: Desk, opened: Opened): Promise<void> {
  const address = await addressOf(opened)
  if (desk.opened === opened) history.replaceState(null, '', address)
}

import { codeBlock } from './dom/code-block.js'
import { button, element } from './dom/element.js'
import { tabs, type Tab, type Tabs } from './dom/tabs.js'
import { curlOf } from './curl.js'
import type { Answer, Call } from './engine/call.js'
import { explanationIn, type Explanation } from './fhir/explanation.js'
import { issuesIn } from './fhir/outcome.js'
import type { OperationPage, PictureHost } from './operations/operation-page.js'
import { findingsPicture } from './pictures/findings.js'
import { reasonsPicture } from './pictures/reasons.js'
import { similarPicture, stepsPicture } from './pictures/steps.js'
import { verdict } from './pictures/verdict.js'

/** Where an answer is shown, and the call beside it. */
export interface ResultView {
  readonly element: HTMLElement
  readonly showBusy: () => void
  readonly showAnswer: (shown: ShownAnswer) => void
  /** What kept a call from being made or answered. */
  readonly showProblem: (text: string) => void
  readonly showCall: (call: Call | undefined, program: string) => void
}

/** An answer and what belongs to it. */
export interface ShownAnswer {
  readonly page: OperationPage
  readonly answer: Answer
  readonly place: string
  readonly host: PictureHost
}

/** So much of an answer is written out; the whole is what `curl` gives. */
const MOST_TEXT = 200_000

/** @param base Of the server, for `curl`; absent where there is none. */
export function createResultView(base: string | undefined): ResultView {
  const status = element('p', { role: 'status', class: 'status' }, 'Loading the definitions of R4 …')
  const shown = element('div', { class: 'shown' })
  const same = element('section', { class: 'same', 'aria-label': 'The same call' })
  const chosen: { result?: Tabs; call?: Tabs } = {}

  function showTabs(parts: readonly Tab[]): void {
    chosen.result = tabs('Result', parts, chosen.result?.chosen())
    shown.replaceChildren(chosen.result.element)
  }

  return {
    element: element('section', { class: 'result', 'aria-label': 'Result' }, status, shown, same),
    showBusy: () => status.classList.add('busy'),
    showAnswer({ page, answer, place, host }) {
      status.classList.remove('busy')
      status.textContent = `${answer.status} · ${duration(answer.ms)} · ${place}`
      const explanation = explanationIn(answer.json)
      showTabs([
        { title: 'Result', panel: answer.status < 400 ? page.picture(answer, host) : refusal(answer, host) },
        ...(explanation === undefined ? [] : [{ title: 'Why', ...whyOf(explanation) }]),
        { title: 'Response', panel: codeBlock('response', written(answer)) },
      ])
    },
    showProblem(text) {
      status.classList.remove('busy')
      status.textContent = 'Not run'
      shown.replaceChildren(verdict('warn', text))
    },
    showCall(call, program) {
      const curl = call === undefined ? 'The input makes no request yet.' : curlOf(call, base)
      const parts = [
        { title: 'curl', panel: codeBlock('curl', curl) },
        { title: 'TypeScript', panel: codeBlock('TypeScript', program) },
      ]
      chosen.call = tabs('The same call', parts, chosen.call?.chosen())
      same.replaceChildren(element('h2', { class: 'small-title' }, 'The same call'), chosen.call.element)
    },
  }
}

/** The reasons of a single subject, else the steps. */
function whyOf({ criteria, source, ...explanation }: Explanation): Pick<Tab, 'note' | 'panel'> {
  if (criteria.length > 0) return { panel: reasonsPicture(criteria, source), note: String(criteria.length) }
  return { panel: stepsPicture({ ...explanation, criteria, source }), note: String(explanation.steps.length) }
}

function refusal(answer: Answer, { input, runWith, store }: PictureHost): HTMLElement {
  const issues = issuesIn(answer.json) ?? []
  // What refuses before the service does, such as a limit of the server on headers, says no more than its status.
  const refused = issues.length > 0 ? 'The operation was refused.' : `The operation was refused: HTTP ${answer.status}, without a reason.`
  const text = answer.status === 401 ? 'The server wants an access token: put it in above.' : refused
  const nearest = explanationIn(answer.json)?.nearest ?? []
  const take = 'code' in input.fields ? (code: string): void => runWith({ code }) : undefined
  return element(
    'div',
    {},
    verdict('bad', text),
    findingsPicture(issues),
    similarPicture(nearest, take),
    answer.status === NOT_FOUND && store !== undefined && storeOffer(store),
  )
}

const NOT_FOUND = 404

/** A server counts what it has, which is not what a sample brings. */
function storeOffer(store: () => void): HTMLElement {
  return element(
    'div',
    { class: 'offer' },
    element('p', {}, 'The server may not have the resources of this page yet.'),
    button('Store them and run', store, { class: 'button' }),
  )
}

function written({ json, text }: Answer): string {
  const whole = json === undefined ? text : JSON.stringify(json, null, 2)
  return whole.length <= MOST_TEXT ? whole : `${whole.slice(0, MOST_TEXT)}\n… ${whole.length - MOST_TEXT} more characters`
}

function duration(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

import { element } from '../dom/element.js'
import type { ExplainedCriterion, SourceDefinition } from '../fhir/explanation.js'
import { verdict, type Mood } from './verdict.js'

const MOODS: Readonly<Record<string, Mood>> = { true: 'good', value: 'good', false: 'bad', failed: 'bad', unknown: 'warn' }

/** Why a subject is in each population or not: the reason, what came nearest, the steps, and the source with what each clause was. */
export function reasonsPicture(criteria: readonly ExplainedCriterion[], source: readonly SourceDefinition[]): HTMLElement {
  return element('div', { class: 'reasons' }, ...criteria.map(reasonSection), source.length > 0 && sourcePicture(source))
}

function reasonSection({ result, reason, nearest, steps }: ExplainedCriterion): HTMLElement {
  return element(
    'section',
    { class: 'reason' },
    verdict(MOODS[result] ?? 'plain', reason),
    nearest.length > 0 && element('ul', { class: 'nearest', 'aria-label': 'Nearest' }, ...nearest.map((text) => element('li', {}, text))),
    steps.length > 0 &&
      element(
        'details',
        {},
        element('summary', {}, `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`),
        element('ol', { class: 'reason-steps' }, ...steps.map((text) => element('li', {}, text))),
      ),
  )
}

const TITLES: Readonly<Record<string, string>> = { t: 'true', f: 'false or empty', n: 'null', u: 'not evaluated' }

function sourcePicture(source: readonly SourceDefinition[]): HTMLElement {
  const legend = Object.entries(TITLES).map(([mark, title]) => element('li', { class: `clause ${mark}` }, title))
  return element(
    'details',
    { class: 'clauses' },
    element('summary', {}, 'The CQL, clause by clause'),
    element('ul', { class: 'chips', 'aria-label': 'Marks' }, ...legend),
    ...source.map(({ library, name, parts }) =>
      element(
        'pre',
        { tabindex: 0, role: 'group', 'aria-label': `${name} of ${library}` },
        ...parts.map(({ text, mark }) =>
          mark === undefined ? text : element('span', { class: `clause ${mark}`, title: TITLES[mark] ?? '' }, text),
        ),
      ),
    ),
  )
}

import { element } from '../dom/element.js'
import type { Explanation, Step } from '../fhir/explanation.js'
import { codingText } from '../fhir/parameters.js'

const MARKS: Readonly<Record<string, string>> = { holds: '✓', fails: '✕', chosen: '→', unknown: '?' }

/** The decisions of an engine, one below the other. */
export function stepsPicture({ steps, nearest }: Explanation): HTMLElement {
  const list = element('ol', { class: 'steps' }, ...steps.map(stepItem))
  if (nearest.length === 0) return list
  const similar = nearest.map((coding) => element('li', { class: 'chip' }, codingText(coding)))
  return element(
    'div',
    {},
    list,
    element('h3', { class: 'small-title' }, 'Similar codes that exist'),
    element('ul', { class: 'chips' }, ...similar),
  )
}

function stepItem({ kind, outcome, text, path }: Step): HTMLElement {
  return element(
    'li',
    { class: `step ${outcome}` },
    element('span', { class: 'step-mark', 'aria-hidden': 'true' }, MARKS[outcome] ?? '·'),
    element(
      'div',
      {},
      element('p', { class: 'step-text' }, text),
      element('p', { class: 'step-kind' }, `${kind} ${outcome}`, path !== undefined && element('code', {}, path)),
    ),
  )
}

import { button, element } from '../dom/element.js'
import type { Explanation, Step } from '../fhir/explanation.js'
import { codingText } from '../fhir/parameters.js'
import { stringAt, type JsonObject } from 'fhir-ops/internal/json'

const MARKS: Readonly<Record<string, string>> = { holds: '✓', fails: '✕', chosen: '→', unknown: '?' }

/** The decisions of an engine, one below the other. */
export function stepsPicture({ steps, nearest }: Explanation): HTMLElement {
  return element('div', {}, element('ol', { class: 'steps' }, ...steps.map(stepItem)), similarPicture(nearest))
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

/** Codes that are similar to one that does not exist. @param take Makes each of them a button. */
export function similarPicture(nearest: readonly JsonObject[], take?: (code: string) => void): HTMLElement | undefined {
  if (nearest.length === 0) return undefined
  const chips = nearest.map((coding) => {
    const text = codingText(coding)
    if (take === undefined) return element('li', { class: 'chip' }, text)
    return element(
      'li',
      {},
      button(text, () => take(stringAt(coding, 'code') ?? ''), { class: 'chip' }),
    )
  })
  return element(
    'section',
    { class: 'similar' },
    element('h2', { class: 'small-title' }, 'Similar codes that exist'),
    element('ul', { class: 'chips' }, ...chips),
  )
}

import { button, element, freshId } from './dom/element.js'
import type { Form } from './form.js'
import type { OperationPage, Sample } from './operations/operation-page.js'

/** Where the pages of the operations are. */
const DOCS = 'https://github.com/fhir-ops/fhir-ops/blob/main/docs/operations/'

/** What is done from the input. */
export interface InputActions {
  readonly openSample: (sample: Sample) => void
  readonly run: () => void
  /** Absent where nothing has to be stored. */
  readonly store: (() => void) | undefined
  readonly copyLink: (at: HTMLButtonElement) => Promise<void>
}

/** An operation as it is opened. */
export interface OpenedOperation {
  readonly page: OperationPage
  readonly form: Form
  /** Absent for an input that is not a sample. */
  readonly sample: string | undefined
}

/** The left side: what the operation is, its samples, and what goes in. */
export function inputSection({ page, form, sample }: OpenedOperation, { openSample, run, store, copyLink }: InputActions): HTMLElement {
  const samples = element(
    'select',
    { id: freshId('sample') },
    sample === undefined && element('option', { value: '' }, 'Your own'),
    ...page.samples.map(({ id, title }) => element('option', { value: id }, title)),
  )
  samples.value = sample ?? ''
  samples.addEventListener('change', () => {
    const chosen = page.samples.find(({ id }) => id === samples.value)
    if (chosen !== undefined) openSample(chosen)
  })
  const link = button('Copy link', () => void copyLink(link))
  return element(
    'section',
    { class: 'input', 'aria-label': 'Input' },
    element(
      'header',
      { class: 'title' },
      element('h1', {}, page.title),
      element('p', {}, `${page.purpose} `, element('a', { href: `${DOCS}${page.id}.md` }, 'Documentation')),
    ),
    element(
      'div',
      { class: 'actions' },
      element('div', { class: 'field' }, element('label', { for: samples.id }, 'Sample'), samples),
      button('Run', run, { class: 'button primary', title: 'Ctrl+Enter' }),
      store !== undefined && button('Store on the server', store, { class: 'button only-server' }),
      link,
    ),
    form.element,
  )
}

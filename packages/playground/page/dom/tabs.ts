import { element, freshId } from './element.js'

/** A panel with its title. */
export interface Tab {
  readonly title: string
  readonly panel: HTMLElement
  /** Shown beside the title, such as a number. */
  readonly note?: string
}

/** Panels of which one is shown. */
export interface Tabs {
  readonly element: HTMLElement
  /** Title of the panel that is shown. */
  readonly chosen: () => string
}

/** Tabs as the ARIA practices describe them: arrows, Home and End go from one to the next. The first one is shown unless `chosen` names another. */
export function tabs(label: string, parts: readonly Tab[], chosen?: string): Tabs {
  const list = element('div', { role: 'tablist', 'aria-label': label, class: 'tabs' })
  const shown = parts.map(({ title, panel, note }, index) => {
    const [id, panelId] = [freshId('tab'), freshId('panel')]
    const tab = element('button', { type: 'button', role: 'tab', id, 'aria-controls': panelId, class: 'tab' }, title)
    if (note !== undefined) tab.append(element('span', { class: 'tab-note' }, note))
    tab.addEventListener('click', () => show(index))
    const body = element('div', { role: 'tabpanel', id: panelId, 'aria-labelledby': id, tabindex: 0, class: 'tab-panel' }, panel)
    list.append(tab)
    return { title, tab, body }
  })
  let at = Math.max(
    0,
    parts.findIndex(({ title }) => title === chosen),
  )

  function show(index: number): void {
    at = index
    for (const [other, { tab, body }] of shown.entries()) {
      tab.setAttribute('aria-selected', String(other === index))
      tab.tabIndex = other === index ? 0 : -1
      body.hidden = other !== index
    }
  }

  list.addEventListener('keydown', (event) => {
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: shown.length - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    show((next + shown.length) % shown.length)
    shown[at]?.tab.focus()
  })
  show(at)
  return {
    element: element('div', { class: 'tab-set' }, list, ...shown.map(({ body }) => body)),
    chosen: () => shown[at]?.title ?? '',
  }
}

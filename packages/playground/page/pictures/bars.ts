import { element } from '../dom/element.js'

/** A bar that can be opened. */
export interface Bar {
  readonly label: string
  readonly count: number
  /** Beside the number: a share or a score. */
  readonly note?: string
  /** What is inside, made when the bar is opened. */
  readonly open?: () => HTMLElement
}

/** Horizontal bars, each as long as its share of the largest. Those with something inside are buttons. */
export function barsPicture(bars: readonly Bar[]): HTMLElement {
  const most = Math.max(1, ...bars.map(({ count }) => count))
  return element('ul', { class: 'bars' }, ...bars.map((bar) => barItem(bar, most)))
}

function barItem({ label, count, note, open }: Bar, most: number): HTMLElement {
  const fill = element('span', { class: 'bar-fill' })
  fill.style.width = `${(100 * count) / most}%`
  const row = [
    element('span', { class: 'bar-label' }, label),
    element('span', { class: 'bar-track', 'aria-hidden': 'true' }, fill),
    element('span', { class: 'bar-count' }, String(count), note !== undefined && element('small', {}, note)),
  ]
  if (open === undefined) return element('li', {}, element('div', { class: 'bar' }, ...row))
  const inside = element('div', { class: 'bar-inside' })
  inside.hidden = true
  const toggle = element('button', { type: 'button', class: 'bar', 'aria-expanded': 'false' }, ...row)
  toggle.addEventListener('click', () => {
    if (inside.childElementCount === 0) inside.append(open())
    inside.hidden = !inside.hidden
    toggle.setAttribute('aria-expanded', String(!inside.hidden))
  })
  return element('li', {}, toggle, inside)
}

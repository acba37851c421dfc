import { element } from './dom/element.js'
import { OPERATION_PAGES } from './operations/index.js'

/** The list of operations. */
export function menuElement(): HTMLElement {
  const groups = [...new Set(OPERATION_PAGES.map(({ group }) => group))]
  return element('nav', { class: 'menu', 'aria-label': 'Operations' }, ...groups.map(groupSection))
}

function groupSection(group: string): HTMLElement {
  const links = OPERATION_PAGES.filter((page) => page.group === group).map(({ id, title }) =>
    element('li', {}, element('a', { href: `#/${id}`, 'data-operation': id }, title)),
  )
  return element('section', {}, element('h2', { class: 'small-title' }, group), element('ul', {}, ...links))
}

/** Marks the operation that is open. */
export function markCurrent(menu: HTMLElement, id: string): void {
  for (const link of menu.querySelectorAll<HTMLElement>('a')) {
    const isCurrent = link.dataset['operation'] === id
    link.toggleAttribute('aria-current', false)
    if (!isCurrent) continue
    link.setAttribute('aria-current', 'page')
    // Not scrollIntoView, which would scroll the page as well.
    menu.scrollLeft = link.offsetLeft - menu.clientWidth / 2
  }
}

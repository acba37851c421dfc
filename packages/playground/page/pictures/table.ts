import { element, type Child } from '../dom/element.js'

/** A table with a heading for each column. */
export function table(columns: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  return element(
    'div',
    { class: 'table-frame', tabindex: 0, role: 'group', 'aria-label': `Table: ${columns.join(', ')}` },
    element(
      'table',
      {},
      element('thead', {}, element('tr', {}, ...columns.map((column) => element('th', { scope: 'col' }, column)))),
      element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((cell) => element('td', {}, cell))))),
    ),
  )
}

/** Names and their values, one below the other; those without a value are left out. */
export function facts(entries: readonly (readonly [name: string, value: Child])[]): HTMLElement {
  const known = entries.filter(([, value]) => value !== undefined && value !== '')
  return element('dl', { class: 'facts' }, ...known.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]))
}

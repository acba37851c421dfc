import { button, element } from '../dom/element.js'

/** A concept with those below it. */
export interface TreeNode {
  readonly code: string
  readonly label: string | undefined
  /** Said beside it: `abstract`, `inactive`. */
  readonly notes: readonly string[]
  /** For a tooltip: the code system. */
  readonly about: string
  readonly children: readonly TreeNode[]
}

/** So many siblings are shown at first. */
const PAGE = 100
/** A tree of so few nodes is open from the start; of a larger one with a single root that root is. */
const OPEN_AT_ONCE = 40

/**
 * A tree of codes as the ARIA practices describe it: up and down go along what is shown, right opens and left closes, letters are left to the
 * search beside it. Branches are made when they are opened.
 *
 * @param words Marked wherever a label begins a word with them.
 */
export function treePicture(label: string, nodes: readonly TreeNode[], words: readonly string[] = []): HTMLElement {
  const isSmall = sizeOf(nodes) <= OPEN_AT_ONCE
  const tree = element('ul', { role: 'tree', 'aria-label': label, class: 'tree' })
  fill(tree, nodes, { words, openTo: isSmall ? Infinity : nodes.length === 1 ? 1 : 0, level: 1 })
  tree.querySelector('li')?.setAttribute('tabindex', '0')
  tree.addEventListener('keydown', (event) => onKey(tree, event))
  tree.addEventListener('focusin', ({ target }) => target instanceof HTMLElement && makeCurrent(tree, target))
  return tree
}

function sizeOf(nodes: readonly TreeNode[]): number {
  return nodes.reduce((sum, { children }) => sum + 1 + sizeOf(children), 0)
}

interface Look {
  readonly words: readonly string[]
  /** Branches down to this level are open. */
  readonly openTo: number
  readonly level: number
}

/** Adds the next page of nodes, and a button for those after it. */
function fill(list: HTMLElement, nodes: readonly TreeNode[], look: Look): void {
  list.append(...nodes.slice(0, PAGE).map((node) => treeItem(node, look)))
  const rest = nodes.slice(PAGE)
  if (rest.length === 0) return
  const holder = element('li', { role: 'none', class: 'tree-more' })
  const more = button(`Show ${Math.min(rest.length, PAGE)} more of ${rest.length}`, () => {
    holder.remove()
    const last = list.lastElementChild
    fill(list, rest, look)
    const next = last?.nextElementSibling
    if (next instanceof HTMLElement) next.focus()
  })
  holder.append(more)
  list.append(holder)
}

function treeItem(node: TreeNode, look: Look): HTMLElement {
  const item = element('li', { role: 'treeitem', tabindex: -1, 'aria-level': look.level })
  const hasChildren = node.children.length > 0
  const twist = element('span', { class: 'twist', 'aria-hidden': 'true' })
  const label = element('span', { class: 'tree-label' }, ...marked(node.label ?? '', look.words))
  const row = element(
    'div',
    { class: 'tree-row', title: node.about },
    twist,
    element('code', {}, ...marked(node.code, look.words)),
    label,
    ...node.notes.map((note) => element('span', { class: 'note' }, note)),
    hasChildren && element('span', { class: 'count', 'aria-hidden': 'true' }, String(node.children.length)),
  )
  item.append(row)
  if (!hasChildren) return item
  const group = element('ul', { role: 'group' })
  item.append(group)
  const open = (isOpen: boolean): void => {
    if (isOpen && group.childElementCount === 0) fill(group, node.children, { ...look, level: look.level + 1 })
    item.setAttribute('aria-expanded', String(isOpen))
    group.hidden = !isOpen
  }
  open(look.level <= look.openTo)
  row.addEventListener('click', () => open(item.getAttribute('aria-expanded') !== 'true'))
  item.addEventListener('tree-open', ({ target, currentTarget }) => target === currentTarget && open(true))
  item.addEventListener('tree-close', ({ target, currentTarget }) => target === currentTarget && open(false))
  return item
}

/** The text with the beginnings of words that were searched for. */
function marked(text: string, words: readonly string[]): readonly (Node | string)[] {
  const wanted = words.filter((word) => word !== '').map((word) => word.toLowerCase())
  if (wanted.length === 0) return [text]
  return text.split(/(?<=[^\p{L}\p{N}])|(?=[^\p{L}\p{N}])/u).flatMap((part) => {
    const found = wanted.filter((word) => part.toLowerCase().startsWith(word)).toSorted((one, other) => other.length - one.length)[0]
    return found === undefined ? [part] : [element('mark', {}, part.slice(0, found.length)), part.slice(found.length)]
  })
}

function onKey(tree: HTMLElement, event: KeyboardEvent): void {
  const { target, key } = event
  if (!(target instanceof HTMLElement) || target.getAttribute('role') !== 'treeitem') return
  const shown = [...tree.querySelectorAll<HTMLElement>('[role=treeitem]')].filter((item) => item.offsetParent !== null)
  const at = shown.indexOf(target)
  const parent = target.parentElement?.closest<HTMLElement>('[role=treeitem]')
  const action = branchKeys(target, { next: shown[at + 1], parent })[key]
  const place = { ArrowDown: shown[at + 1], ArrowUp: shown[at - 1], Home: shown[0], End: shown.at(-1) }[key]
  if (action === undefined && place === undefined) return
  event.preventDefault()
  if (action instanceof Event) target.dispatchEvent(action)
  else (action ?? place)?.focus()
}

interface Neighbours {
  readonly next: HTMLElement | undefined
  readonly parent: HTMLElement | null | undefined
}

/** What the keys for branches do at an item: open or close it, or go on to another one. */
function branchKeys(item: HTMLElement, { next, parent }: Neighbours): Readonly<Record<string, Event | HTMLElement | null | undefined>> {
  const [open, close] = [new CustomEvent('tree-open'), new CustomEvent('tree-close')]
  const expanded = item.getAttribute('aria-expanded')
  if (expanded === 'true') return { ArrowRight: next, ArrowLeft: close, Enter: close, ' ': close }
  if (expanded === 'false') return { ArrowRight: open, ArrowLeft: parent, Enter: open, ' ': open }
  return { ArrowLeft: parent }
}

function makeCurrent(tree: HTMLElement, item: HTMLElement): void {
  if (item.getAttribute('role') !== 'treeitem') return
  for (const other of tree.querySelectorAll('[role=treeitem][tabindex="0"]')) other.setAttribute('tabindex', '-1')
  item.tabIndex = 0
}

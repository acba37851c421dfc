import { button, element } from './element.js'

const CONFIRMED_MS = 1500

/** Browsers take seconds to lay out some megabytes, at each key that is typed. */
const MOST_SHOWN = 20_000

/** A text in a fixed-width font, of which only the beginning is shown if it is long, with a button that copies it all. */
export function codeBlock(label: string, text: string): HTMLElement {
  const more = text.length - MOST_SHOWN
  const copy = button('Copy', () => void copyText(text, copy), { class: 'button small copy', 'aria-label': `Copy ${label}` })
  return element(
    'div',
    { class: 'code' },
    copy,
    element('pre', { tabindex: 0, role: 'group', 'aria-label': label }, element('code', {}, text.slice(0, MOST_SHOWN))),
    more > 0 && element('p', { class: 'hint' }, `… and ${more.toLocaleString('en')} more characters, which are copied too.`),
  )
}

/** Copies and says so on the button; where the browser does not allow it, the button says that. */
export async function copyText(text: string, at: HTMLButtonElement): Promise<void> {
  const isCopied = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  )
  sayOn(at, isCopied ? 'Copied' : 'Copying is not allowed here')
}

/** Shows a text on a button for a moment. */
export function sayOn(at: HTMLButtonElement, text: string): void {
  const before = at.textContent ?? ''
  at.textContent = text
  setTimeout(() => (at.textContent = before), CONFIRMED_MS)
}

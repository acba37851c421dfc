import { button, element } from './element.js'

const CONFIRMED_MS = 1500

/** A text in a fixed-width font with a button that copies it. */
export function codeBlock(label: string, text: string): HTMLElement {
  const copy = button('Copy', () => void copyText(text, copy), { class: 'button small copy', 'aria-label': `Copy ${label}` })
  return element(
    'div',
    { class: 'code' },
    copy,
    element('pre', { tabindex: 0, role: 'group', 'aria-label': label }, element('code', {}, text)),
  )
}

/** Copies and says so on the button; where the browser does not allow it, the button says that. */
export async function copyText(text: string, at: HTMLButtonElement): Promise<void> {
  const before = at.textContent ?? ''
  const isCopied = await navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  )
  at.textContent = isCopied ? 'Copied' : 'Copying is not allowed here'
  setTimeout(() => (at.textContent = before), CONFIRMED_MS)
}

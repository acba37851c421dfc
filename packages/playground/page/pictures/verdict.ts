import { element, type Child } from '../dom/element.js'

/** How good the news is. */
export type Mood = 'good' | 'bad' | 'warn' | 'plain'

/** One sentence above a picture, with a mark that does not depend on colours. */
export function verdict(mood: Mood, ...text: readonly Child[]): HTMLElement {
  const mark = { good: '✓', bad: '✕', warn: '!', plain: 'i' }[mood]
  return element(
    'p',
    { class: `verdict ${mood}` },
    element('span', { class: 'mark', 'aria-hidden': 'true' }, mark),
    element('span', {}, ...text),
  )
}

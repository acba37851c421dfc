import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

/** Colours are the page's, so that the editor follows its light and dark. */
const THEME = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', fontSize: 'var(--code-size)', height: '100%' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--accent)', padding: '10px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--muted)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 6px 0 12px', minWidth: '28px' },
  '.cm-activeLine': { backgroundColor: 'var(--line-active)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--selection)', outline: 'none' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    boxShadow: 'var(--shadow)',
    fontFamily: 'var(--sans)',
    fontSize: '13px',
    maxWidth: '420px',
  },
  '.cm-diagnostic': { padding: '8px 12px', borderLeft: '3px solid var(--bad)', lineHeight: '1.45' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
  '.cm-diagnostic-info': { borderLeftColor: 'var(--accent)' },
  '.cm-diagnosticAction': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
    borderRadius: '6px',
    padding: '3px 10px',
    margin: '6px 0 0',
    display: 'block',
    font: 'inherit',
    fontWeight: '600',
    cursor: 'pointer',
  },
  '.cm-lintRange-error': underlined('--bad'),
  '.cm-lintRange-warning': underlined('--warn'),
  '.cm-lintRange-info': underlined('--accent'),
  '.cm-lint-marker': { width: '0.7em', height: '0.7em', borderRadius: '50%', marginTop: '0.45em' },
  '.cm-lint-marker-error': dot('--bad'),
  '.cm-lint-marker-warning': dot('--warn'),
  '.cm-lint-marker-info': dot('--accent'),
  '.cm-panels': { backgroundColor: 'var(--surface)', color: 'var(--text)', borderColor: 'var(--line)' },
})

/** Pictures of the library are `data:` addresses, which the page's policy refuses. */
function underlined(color: string): Record<string, string> {
  return {
    backgroundImage: 'none',
    textDecoration: `underline wavy var(${color}) 1.5px`,
    textUnderlineOffset: '3px',
    textDecorationSkipInk: 'none',
  }
}

function dot(color: string): Record<string, string> {
  return { content: '""', backgroundColor: `var(${color})` }
}

const COLORS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: tags.keyword, color: 'var(--code-name)', fontWeight: '600' },
  { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
])

/** How the editor looks. */
export const editorLook: Extension = [THEME, syntaxHighlighting(COLORS)]

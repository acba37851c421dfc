import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { jsonLanguage } from '@codemirror/lang-json'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { searchKeymap } from '@codemirror/search'
import { EditorState, Transaction, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { element } from '../dom/element.js'
import { isError, type Issue } from '../fhir/outcome.js'
import { cqlLanguage } from './cql-language.js'
import { patchText } from './patch-text.js'
import { editorLook } from './theme.js'

/** What is edited. */
export type EditorLanguage = 'json' | 'cql' | 'text'

/** An editor of one text. */
export interface Editor {
  readonly element: HTMLElement
  text(): string
  /** Replaces the text; it can be undone. */
  setText(text: string): void
  /** Underlines issues where they are; those with a fix have a button for it. */
  showIssues(issues: readonly Issue[]): void
  /** Puts the cursor to the place of an issue. */
  goTo(issue: Issue): void
  /** False when the text has no such place any more. */
  applyFix(issue: Issue): boolean
}

/** Options of `createEditor`. */
export interface EditorOptions {
  readonly label: string
  readonly language: EditorLanguage
  readonly text: string
  /** Called after each change by whoever types, not after `setText`. */
  readonly onChange: () => void
  /** Ctrl+Enter, or Cmd+Enter. */
  readonly onRun: () => void
}

const LANGUAGES: Readonly<Record<EditorLanguage, Extension>> = { json: jsonLanguage, cql: cqlLanguage, text: [] }

/**
 * An editor (CodeMirror) in a shadow root: there it may attach its styles without a `style` element, which a strict policy refuses. Tab leaves
 * it, as it does every other input.
 */
export function createEditor(options: EditorOptions): Editor {
  const host = element('div', { class: 'editor' })
  const root = host.attachShadow({ mode: 'open' })
  const view = new EditorView({ root, parent: root, state: stateOf(options) })
  const run = (text: string): void => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } })

  function applyFix({ fix }: Issue): boolean {
    const fixed = fix === undefined ? undefined : patchText(view.state.doc.toString(), fix)
    if (fixed === undefined) return false
    view.dispatch({ changes: changeBetween(view.state.doc.toString(), fixed), userEvent: 'input.fix' })
    return true
  }

  function diagnosticOf(issue: Issue): Diagnostic | undefined {
    if (issue.line === undefined) return undefined
    const range = rangeOf(view.state, issue)
    return {
      ...range,
      severity: isError(issue) ? 'error' : issue.severity === 'warning' ? 'warning' : 'info',
      message: [issue.text, issue.hint].filter((part) => part !== undefined).join('\n'),
      actions: issue.fix === undefined ? [] : [{ name: 'Fix', apply: () => void applyFix(issue) }],
    }
  }

  return {
    element: host,
    text: () => view.state.doc.toString(),
    setText: run,
    showIssues(issues) {
      const diagnostics = issues.map(diagnosticOf).filter((one) => one !== undefined)
      view.dispatch(setDiagnostics(view.state, diagnostics))
    },
    goTo(issue) {
      const { from } = rangeOf(view.state, issue)
      view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
      view.focus()
    },
    applyFix,
  }
}

function stateOf({ label, language, text, onChange, onRun }: EditorOptions): EditorState {
  const runKey = {
    key: 'Mod-Enter',
    run: () => {
      onRun()
      return true
    },
  }
  return EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      highlightActiveLine(),
      EditorView.lineWrapping,
      LANGUAGES[language],
      editorLook,
      keymap.of([runKey, ...defaultKeymap, ...historyKeymap, ...searchKeymap, ...lintKeymap]),
      // Without the index, tools do not see that what scrolls can be reached by keyboard.
      EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      EditorView.updateListener.of(({ docChanged, transactions }) => {
        if (docChanged && transactions.some((one) => one.annotation(Transaction.userEvent) !== undefined)) onChange()
      }),
    ],
  })
}

/** From the place of an issue to the end of what is written there. */
function rangeOf(state: EditorState, { line = 1, column = 1 }: Issue): { readonly from: number; readonly to: number } {
  const { from, to, text } = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines))
  const start = Math.min(from + column - 1, to)
  const [written = ''] = /^("(?:[^"\\]|\\.)*"|[^\s,\]}]+|.)/.exec(text.slice(start - from)) ?? []
  return { from: start, to: Math.max(start + written.length, start) }
}

/** The one place where two texts differ. */
function changeBetween(before: string, after: string): { readonly from: number; readonly to: number; readonly insert: string } {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) }
}

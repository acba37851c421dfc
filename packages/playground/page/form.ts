import { element, freshId } from './dom/element.js'
import { createEditor, type Editor } from './editor/editor.js'
import type { EditorField, Field, Fields, Input, OperationPage } from './operations/operation-page.js'

/** What a person fills in for one operation. */
export interface Form {
  readonly element: HTMLElement
  readonly input: () => Input
  readonly setFields: (fields: Fields) => void
  readonly editor: (name: string) => Editor | undefined
}

/** What happens in a form. */
export interface FormEvents {
  /** Something was typed or chosen. */
  readonly onChange: () => void
  /** Enter in a field, or Ctrl+Enter in an editor. */
  readonly onRun: () => void
}

type Control = HTMLInputElement | HTMLSelectElement

/** The fields and editors of an operation, filled with an input. */
export function createForm({ fields, editors }: OperationPage, input: Input, events: FormEvents): Form {
  const controls = new Map(fields.map((field) => [field.name, controlOf(field, events)] as const))
  const opened = new Map(editors.map((field) => [field.name, openedEditor(field, input, events)] as const))
  const setFields = (values: Fields): void => {
    for (const [name, value] of Object.entries(values)) setValue(controls.get(name), value)
  }
  setFields(input.fields)
  const form = element(
    'form',
    { class: 'form', onsubmit: (event) => (event.preventDefault(), events.onRun()) },
    element('div', { class: 'fields' }, ...fields.map((field) => fieldElement(field, controls.get(field.name)))),
    ...editors.map((field) => editorElement(field, opened.get(field.name))),
    // Enter in a field submits only where there is a button for it.
    element('button', { type: 'submit', hidden: true }),
  )
  return {
    element: form,
    setFields,
    input: () => ({
      fields: Object.fromEntries([...controls].map(([name, control]) => [name, valueOf(control)]).filter(([, value]) => value !== '')),
      texts: Object.fromEntries([...opened].map(([name, editor]) => [name, editor.text()])),
    }),
    editor: (name) => opened.get(name),
  }
}

function controlOf({ name, kind = 'text', choices = [], placeholder }: Field, { onChange }: FormEvents): Control {
  const id = freshId(name)
  if (kind === 'choice') {
    const options = choices.map(([value, label]) => element('option', { value }, label))
    return element('select', { id, name, onchange: onChange }, ...options)
  }
  const type = kind === 'check' ? 'checkbox' : kind === 'number' ? 'number' : 'text'
  const texts = type === 'text' ? { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' } : {}
  return element('input', { id, name, type, placeholder, min: kind === 'number' ? 0 : undefined, oninput: onChange, ...texts })
}

function valueOf(control: Control): string {
  if (control instanceof HTMLInputElement && control.type === 'checkbox') return control.checked ? 'true' : ''
  return control.value
}

function setValue(control: Control | undefined, value: string): void {
  if (control instanceof HTMLInputElement && control.type === 'checkbox') control.checked = value === 'true'
  else if (control !== undefined) control.value = value
}

function fieldElement({ label, kind, wide }: Field, control: Control | undefined): HTMLElement {
  const name = element('label', { for: control?.id }, label)
  if (kind === 'check') return element('div', { class: 'field check' }, control, name)
  return element('div', { class: wide === true ? 'field wide' : 'field' }, name, control)
}

function openedEditor({ name, label, language }: EditorField, { texts }: Input, { onChange, onRun }: FormEvents): Editor {
  return createEditor({ label, language, text: texts[name] ?? '', onChange, onRun })
}

function editorElement({ name, label, hint, isOptional = false }: EditorField, editor: Editor | undefined): HTMLElement {
  // What is optional and empty takes no room.
  return element(
    'details',
    { class: `editor-field ${name}`, open: !isOptional || editor?.text() !== '' },
    element('summary', { class: 'small-title' }, label),
    element('p', { class: 'hint' }, hint),
    element('div', { class: 'editor-frame' }, editor?.element),
  )
}

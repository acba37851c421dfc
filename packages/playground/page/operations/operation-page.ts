import type { Editor, EditorLanguage } from '../editor/editor.js'
import type { Answer, Call } from '../engine/call.js'

/** Values of the fields by their names; a checked box is `true`, an empty one ''. */
export type Fields = Readonly<Record<string, string>>

/** What a person has put in. */
export interface Input {
  readonly fields: Fields
  /** Texts of the editors by their names. */
  readonly texts: Readonly<Record<string, string>>
}

/** A field of the form. */
export interface Field {
  readonly name: string
  readonly label: string
  /** Default `text`. */
  readonly kind?: 'text' | 'number' | 'check' | 'choice'
  /** Of a `choice`: values with their labels. */
  readonly choices?: readonly (readonly [value: string, label: string])[]
  readonly placeholder?: string
  /** Takes a whole row. */
  readonly wide?: boolean
}

/** An editor below the form. */
export interface EditorField {
  readonly name: string
  readonly label: string
  readonly language: EditorLanguage
  /** What it is for, in a sentence. */
  readonly hint: string
  /** Closed as long as it is empty. */
  readonly isOptional?: boolean
}

/** Something to begin with. */
export interface Sample extends Input {
  /** In addresses. */
  readonly id: string
  readonly title: string
}

/** What a picture may do besides being looked at. */
export interface PictureHost {
  readonly editor: (name: string) => Editor | undefined
  /** Changes fields and runs the operation. */
  readonly runWith: (fields: Fields) => void
  /** A call of its own, for what is opened. */
  readonly ask: (call: Call) => Promise<Answer>
  /** Stores on the server what the operation looks at, and runs it; absent where it looks at nothing that is stored, and in the browser. */
  readonly store?: () => void
  readonly input: Input
}

/** An operation of the playground. */
export interface OperationPage {
  /** As its page in the documentation. */
  readonly id: string
  /** As in FHIR: `$expand`. */
  readonly title: string
  readonly group: string
  /** What it is for, in one sentence. */
  readonly purpose: string
  readonly fields: readonly Field[]
  readonly editors: readonly EditorField[]
  readonly samples: readonly Sample[]
  /** Name of the editor with what must be stored where the operation runs. A server stores it when it is asked to. */
  readonly stored?: string
  /** Does something each time, so it runs when it is asked to, and not while somebody types. */
  readonly isManual?: boolean
  /** Why it does not run in the browser; absent when it does. */
  readonly needsServer?: string
  /** @throws {Error} for input that makes no request, such as JSON that cannot be read. */
  readonly call: (input: Input) => Call
  /** A program that does the same in process. */
  readonly code: (input: Input) => string
  /** The answer as a picture, for a status below 400. */
  readonly picture: (answer: Answer, host: PictureHost) => HTMLElement
}

/** A field's value without the blanks around it. */
export function fieldOf({ fields }: Input, name: string): string {
  return (fields[name] ?? '').trim()
}

/** An editor's text. */
export function textOf({ texts }: Input, name: string): string {
  return texts[name] ?? ''
}

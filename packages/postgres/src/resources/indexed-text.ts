/**
 * Most UTF-16 units of a text that is kept in an index: two of them and a resource's address fit into the third of a page that an entry
 * of a B-tree may take.
 */
const MAX_INDEXED = 400

/** A text as it is kept in an index, and whole beside it when that is only its beginning. */
export interface IndexedText {
  readonly indexed: string | null
  readonly whole: string | null
}

/** Cuts a long text for an index. */
export function indexedText(text: string | undefined): IndexedText {
  if (text === undefined) return { indexed: null, whole: null }
  return text.length < MAX_INDEXED ? { indexed: text, whole: null } : { indexed: beginning(text), whole: text }
}

/** Whether a question about this text is answered by what is in the index: what was cut is never as short. */
export function isAnsweredByIndex(text: string): boolean {
  return text.length < MAX_INDEXED - 1
}

/** A beginning of the text that is also one of everything in the index that begins with the text. */
export function beginning(text: string): string {
  const cut = text.slice(0, MAX_INDEXED)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}

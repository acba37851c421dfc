import { writableText, type PutEntry, type SearchQuery } from '../src/storage/index.js'

/** A Basic with a payload of about so many characters, found by `code`. */
export function basic(id: string, { code = 'a', size = 0 }: { readonly code?: string; readonly size?: number } = {}): PutEntry {
  const text = writableText('Basic', id, { resourceType: 'Basic', code: { text: code }, language: 'x'.repeat(size) })
  return { op: 'put', type: 'Basic', id, text, entries: [{ param: 'code', value: code }] }
}

/** Basics by code. */
export function byCode(code: string): SearchQuery {
  return { type: 'Basic', where: { kind: 'entry', param: 'code', all: [{ field: 'value', op: 'eq', operand: code }] } }
}

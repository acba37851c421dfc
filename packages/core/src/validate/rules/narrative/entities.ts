const PREDEFINED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['apos', "'"],
  ['gt', '>'],
  ['lt', '<'],
  ['nbsp', '\u00A0'],
  ['quot', '"'],
])

const REFERENCE = /&(?:#\d{1,7}|#x[0-9A-Fa-f]{1,6}|\w{1,32});/g

/** The first reference that narrative does not know, or a bare ampersand; `undefined` when all are known. */
export function unknownEntity(text: string): string | undefined {
  if (!text.includes('&')) return undefined
  const rest = text.replace(REFERENCE, (whole) => (resolved(whole) === undefined ? `\u0000${whole}` : ''))
  const unknown = /\u0000(&\w+;)/.exec(rest)?.[1]
  return unknown ?? (rest.includes('&') ? '&' : undefined)
}

/** The text with its references resolved, once. */
export function unescaped(text: string): string {
  return text.replace(REFERENCE, (whole) => resolved(whole) ?? whole)
}

/** What one reference, `&` to `;`, stands for. */
function resolved(reference: string): string | undefined {
  const name = reference.slice(1, -1)
  if (!name.startsWith('#')) return PREDEFINED.get(name)
  const code = name.startsWith('#x') ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined
}

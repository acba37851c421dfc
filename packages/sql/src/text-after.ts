const LAST_CODE_POINT = 0x10ffff

/** The least text that follows every text with this prefix in code point order; `undefined` when none does. */
export function textAfter(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === LAST_CODE_POINT) points.pop()
  const last = points.pop()
  // Surrogates are not code points of a text.
  return last === undefined ? undefined : String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
}

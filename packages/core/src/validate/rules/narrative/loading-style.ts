/** Tables that HL7's tools make have images beside them, or in them as data. */
const LOADING = /expression\(|url\((?!data:)(?:[a-z][a-z0-9+.-]{0,20}:|[/\\]{2})/i

/** True for a style that loads something from elsewhere. */
export function isLoadingStyle(style: string): boolean {
  return LOADING.test(withoutEscapes(style).replace(/[\s'"]/g, ''))
}

/** @see https://www.w3.org/TR/css-syntax-3/#consume-escaped-code-point */
function withoutEscapes(style: string): string {
  return style.replace(/\\(?:([0-9a-f]{1,6})\s?|(.))/gi, (_, hex?: string, character?: string) =>
    hex === undefined ? (character ?? '') : characterOf(Number.parseInt(hex, 16)),
  )
}

function characterOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD'
}

import { stringEnd } from 'fhir-ops/json'

/** What one pass over a JSON text tells before it is parsed. */
export interface JsonScan {
  /** Deepest nesting of arrays and objects. */
  readonly depth: number
  /** Colons outside strings: as many as there are members. */
  readonly colons: number
}

const QUOTE = 0x22
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Scans a text that may be no JSON at all. */
export function scanJson(text: string): JsonScan {
  let open = 0
  let depth = 0
  let colons = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = stringEnd(text, at)
    else if (code === COLON) colons++
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth = Math.max(depth, ++open)
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) open--
  }
  return { depth, colons }
}

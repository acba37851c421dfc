import { StreamLanguage } from '@codemirror/language'

const KEYWORDS = new Set(
  `after all and as asc before between by case code codesystem concept context contains day days default define desc difference display
  distinct during else end ends exclude exists false first flatten from function hour hours if in include included includes intersect
  interval is less let library list maximum meets minimum minute minutes mod month months more not null occurs of on or overlaps
  parameter properly private public return same second seconds singleton sort start starts such that then to true tuple union using
  valueset version week weeks when where width with within without xor year years`.split(/\s+/),
)

/** Colours for CQL: keywords, texts, numbers and dates, comments. */
export const cqlLanguage: StreamLanguage<unknown> = StreamLanguage.define({
  name: 'cql',
  token(stream) {
    if (stream.eatSpace()) return null
    if (stream.match('//')) return skipped(stream, 'comment')
    if (stream.match(/^'[^']*'?/)) return 'string'
    if (stream.match(/^"[^"]*"?/)) return 'propertyName'
    if (stream.match(/^@?T?\d[\d.:T-]*/)) return 'number'
    const word = stream.match(/^[A-Za-z_]\w*/)
    if (Array.isArray(word)) return KEYWORDS.has(String(word[0]).toLowerCase()) ? 'keyword' : null
    stream.next()
    return null
  },
})

function skipped(stream: { skipToEnd(): void }, token: string): string {
  stream.skipToEnd()
  return token
}

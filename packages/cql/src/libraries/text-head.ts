/** A library that a CQL text includes, or a model that it uses, as named in its head. */
interface NamedInHead {
  readonly keyword: 'include' | 'using'
  /** Without its namespace. */
  readonly id: string
  readonly namespace: string | undefined
  readonly version: string | undefined
}

/** Matches comments, string literals and quoted names (in which keywords have no meaning), the declarations of the head, and the end of the head. */
const TOKEN =
  /\/\*[^]*?(?:\*\/|$)|\/\/[^\r\n]*|'(?:[^'\\]|\\[^])*(?:'|\\?$)|"(?:[^"\\]|\\[^])*(?:"|\\?$)|\b(?<keyword>library|include|using)\s{1,20}(?<path>[\w."]{1,200})(?:\s{1,20}version\s{1,20}'(?<version>[^']{1,100})')?|\b(?<end>context|define)\b/g

/** Reads the declarations in the head of a text, in their order, whatever its line breaks are. */
export function namedInHead(text: string): readonly NamedInHead[] {
  const named: NamedInHead[] = []
  for (const { groups = {} } of text.matchAll(TOKEN)) {
    if (groups['end'] !== undefined) return named
    const keyword = groups['keyword']
    if (keyword !== 'include' && keyword !== 'using') continue
    const path = (groups['path'] ?? '').replaceAll('"', '')
    const dot = path.lastIndexOf('.')
    named.push({ keyword, id: path.slice(dot + 1), namespace: dot < 0 ? undefined : path.slice(0, dot), version: groups['version'] })
  }
  return named
}

/**
 * Replaces the namespaces of libraries by blanks, so that all other text keeps its position: the translator does not know the namespaces, and libraries are
 * found by their identifiers.
 */
export function withoutNamespaces(text: string): string {
  let isHead = true
  return text.replaceAll(TOKEN, (token: string, ...rest: readonly unknown[]) => {
    const groups = rest.at(-1)
    if (!isGroups(groups)) return token
    isHead &&= groups['end'] === undefined
    const { keyword, path = '' } = groups
    const dot = path.lastIndexOf('.')
    if (!isHead || dot < 0 || keyword === undefined || keyword === 'using' || path.includes('"')) return token
    const start = token.indexOf(path, keyword.length)
    return `${token.slice(0, start)}${' '.repeat(dot + 1)}${token.slice(start + dot + 1)}`
  })
}

function isGroups(value: unknown): value is Readonly<Record<string, string | undefined>> {
  return typeof value === 'object' && value !== null
}

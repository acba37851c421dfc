const TOKENS = /"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]|[^{}[\],:"]+/g

/**
 * Lays JSON out in lines without parsing it, so that numbers keep their digits.
 *
 * @param text JSON without blanks between tokens.
 */
export function prettyJson(text: string): string {
  let indent = ''
  return text.replaceAll(TOKENS, (token) => {
    if (token === ':') return ': '
    if (token === ',') return `,\n${indent}`
    if (token === '{' || token === '[') {
      indent += '  '
      return `${token}\n${indent}`
    }
    if (token !== '}' && token !== ']') return token
    indent = indent.slice(2)
    return `\n${indent}${token}`
  })
}

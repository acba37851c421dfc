// Writes characters that are not ASCII as escapes. V8 keeps a source with one character beyond Latin-1 in two bytes per character: thirteen of them double what the
// validator takes. It also keeps invisible characters, such as those that change the direction of writing, out of the published files.

/** A plugin of Rolldown, which writes escapes in strings as characters after `renderChunk`. No line moves, so that source maps stay true. */
export function asciiOnly() {
  return {
    name: 'ascii-only',
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) if (chunk.type === 'chunk') chunk.code = escaped(chunk.fileName, chunk.code)
    },
  }
}

/** Where an escape would be read as something else: after a backslash, and in `String.raw`. */
const NOT_ESCAPABLE = /\\[^\0-\x7f]|String\.raw`[^`]*[^\0-\x7f]/

function escaped(fileName, code) {
  const [wrong] = NOT_ESCAPABLE.exec(code) ?? []
  if (wrong !== undefined) throw new Error(`${fileName}: write what is not ASCII as an escape in ${wrong}`)
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** True for a character of ASCII that can be seen, and so is not white space of any kind. */
export function isVisible(code: number): boolean {
  return code > 32 && code < 127
}

/** True for a text of such characters only. Most codes and URIs are, which spares them an expression: bench `validate`. */
export function isVisibleText(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isVisible(text.charCodeAt(i))) return false
  return true
}

/** True for a text of which every character is seen, a blank or a break of a line, and none is of the rare ones that come behind U+2000. */
export function isPlainText(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isPlain(text.charCodeAt(i))) return false
  return true
}

function isPlain(code: number): boolean {
  return (code >= 32 && code < 0x2000) || code === 10 || code === 13 || code === 9
}

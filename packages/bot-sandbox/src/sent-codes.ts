/** Code that is sent to a thread. Its text is sent only with the first of its runs, because a long text takes longer to send than to run. */
export interface SentCode {
  readonly number: number
  readonly text?: string
  /** Codes that the thread may drop: they will be sent with their text again. */
  readonly forgotten: readonly number[]
}

/** Maximum number of characters of all remembered codes, unless one alone is longer. */
const MOST_CHARACTERS = 2 * 1024 * 1024

/** Creates the host's side of the codes of one thread. The thread must receive all its results, in the same order. */
export function codeSender(): (code: string) => SentCode {
  const known = new Map<string, number>()
  let characters = 0
  let last = 0
  return (code) => {
    const number = known.get(code)
    if (number !== undefined) return { number, forgotten: [] }
    last += 1
    characters += code.length
    const forgotten: number[] = []
    for (const [oldest, itsNumber] of known) {
      if (characters <= MOST_CHARACTERS) break
      known.delete(oldest)
      characters -= oldest.length
      forgotten.push(itsNumber)
    }
    known.set(code, last)
    return { number: last, text: code, forgotten }
  }
}

/** Creates the thread's side, which returns the text of a code. @throws {Error} if the text was not sent. */
export function codeReceiver(): (sent: SentCode) => string {
  const texts = new Map<number, string>()
  return ({ number, text, forgotten }) => {
    for (const one of forgotten) texts.delete(one)
    if (text !== undefined) texts.set(number, text)
    const code = texts.get(number)
    if (code === undefined) throw new Error('The code of a run was not sent.')
    return code
  }
}

/** A code that a thread is given: its text goes with the first of its runs only, because a long one takes longer to send than to run. */
export interface SentCode {
  readonly number: number
  readonly text?: string
  /** Codes that the thread may forget: they will be sent with their text again. */
  readonly forgotten: readonly number[]
}

/** Most characters of all codes that are remembered, unless one alone is longer. */
const MOST_CHARACTERS = 2 * 1024 * 1024

/** Makes the host's side of the codes of one thread. Whatever it gives must be received, in that order. */
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

/** Makes the thread's side: gives the text of a code. @throws {Error} when it was not sent. */
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

import { OperationError } from 'fhir-ops/errors'

/** About half of what the longest string holds. */
const MAX_CHARACTERS = 2 ** 28

/**
 * The lines of a text in pieces. LF ends a line; what else may end one, such as U+2028, JSON may have inside a string.
 *
 * @param name Of the text, for messages.
 * @param maxCharacters Of one line.
 * @throws {OperationError} `body-invalid` when a line is longer.
 */
export async function* linesIn(
  pieces: AsyncIterable<string>,
  name: string,
  maxCharacters: number = MAX_CHARACTERS,
): AsyncGenerator<string, void, undefined> {
  let begun: string[] = []
  let length = 0
  for await (const piece of pieces) {
    const [end = '', ...others] = piece.split('\n')
    begun.push(end)
    length += end.length
    if (length > maxCharacters) throw new OperationError('body-invalid', `A line of ${name} is longer than ${maxCharacters} characters.`)
    const start = others.pop()
    if (start === undefined) continue
    yield begun.join('')
    yield* others
    begun = [start]
    length = start.length
  }
  if (length > 0) yield begun.join('')
}

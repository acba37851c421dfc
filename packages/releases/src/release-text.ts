import { isUtf8 } from 'node:buffer'
import { OperationError } from 'fhir-ops/errors'
import type { ReleaseFile } from './release-file.js'

const NEW_LINE = 0x0a
const BYTE_ORDER_MARK = /^\uFEFF/
/** No line of a release is longer. */
const MAX_LINE = 1 << 20

/**
 * The text of a file in pieces of whole lines, of which only the last may lack its line break.
 *
 * @throws {OperationError} `definition-invalid` when it is not UTF-8 or has no lines, and what reading the file throws.
 */
export async function* releaseText(file: ReleaseFile): AsyncGenerator<string> {
  let rest = Buffer.alloc(0)
  let isFirst = true
  for await (const piece of file.bytes()) {
    rest = Buffer.concat([rest, piece])
    const end = rest.lastIndexOf(NEW_LINE) + 1
    if (end > 0) {
      yield textOf(rest.subarray(0, end), { file, isFirst })
      isFirst = false
    }
    rest = rest.subarray(end)
    if (rest.length > MAX_LINE) throw new OperationError('definition-invalid', `${file.name} has a line of more than ${MAX_LINE} bytes.`)
  }
  if (rest.length > 0) yield textOf(rest, { file, isFirst })
}

function textOf(bytes: Buffer, { file, isFirst }: { readonly file: ReleaseFile; readonly isFirst: boolean }): string {
  if (!isUtf8(bytes)) throw new OperationError('definition-invalid', `${file.name} is not in UTF-8.`)
  const text = bytes.toString('utf8')
  return isFirst ? text.replace(BYTE_ORDER_MARK, '') : text
}

/** A line with its number, from 1. */
export interface ReleaseLine {
  readonly number: number
  readonly text: string
}

/** The lines of a file, many at a time; without those that are empty. @throws {OperationError} as `releaseText`. */
export async function* releaseLines(file: ReleaseFile): AsyncGenerator<readonly ReleaseLine[]> {
  let number = 0
  for await (const piece of releaseText(file)) {
    const lines: ReleaseLine[] = []
    for (const line of piece.replace(/\r?\n$/, '').split('\n')) {
      number++
      const text = line.endsWith('\r') ? line.slice(0, -1) : line
      if (text !== '') lines.push({ number, text })
    }
    yield lines
  }
}

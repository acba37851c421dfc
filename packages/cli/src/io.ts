import { createInterface } from 'node:readline/promises'
import { stripVTControlCharacters } from 'node:util'
import { decodingUtf8 } from 'fhir-ops/internal/text'
import { refusingPacked } from './files.js'
import type { Engine } from './storage.js'

/** What can stand at the end of a line, each a whole word, and the part of it that is there. */
export type Completer = (line: string) => Promise<readonly [words: readonly string[], begun: string]>

/** Where a command writes. Results go to `out`, progress and errors to `err`, so that results can be piped. */
export interface Io {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  /** Standard input to its end. @throws {OperationError} `body-invalid` where it is packed, or not UTF-8. */
  readonly stdin: () => Promise<string>
  /** The same in pieces, as they arrive. Default: all at once, as `stdin` gives it. */
  readonly stdinPieces?: () => AsyncIterable<string>
  /** Standard input line by line, with a prompt and completion on a terminal. */
  readonly lines?: (completer: Completer) => AsyncIterable<string>
  /** Draws a line instead of the one drawn before; an empty one takes it away. Absent where `err` is not a terminal. */
  readonly draw?: (line: string) => void
  /** True when `out` is a terminal that shows colours. Default false. */
  readonly isTerminal?: boolean
  /** True when `err` is a terminal that shows colours. Default false. */
  readonly isColoured?: boolean
  /** Milliseconds from any moment on, for how long work takes. Default: those of the process. */
  readonly now?: () => number
  /** What commands of a shell work with, which keeps it open. */
  readonly engine?: Engine
}

/** The terminal's own streams. */
export const terminal: Io = terminalIo()

function terminalIo(): Io {
  let isDrawn = false
  const draw = (line: string): void => {
    if (isDrawn) process.stderr.write('\r\u001B[K')
    isDrawn = line !== ''
    if (isDrawn) process.stderr.write(fitting(line, columnsOf(process.stderr) - 1))
  }
  const written = (stream: NodeJS.WriteStream, line: string): void => {
    draw('')
    stream.write(`${line}\n`)
  }
  return {
    out: (line) => written(process.stdout, line),
    err: (line) => written(process.stderr, line),
    isTerminal: showsColours(process.stdout),
    isColoured: showsColours(process.stderr),
    ...(process.stderr.isTTY && { draw }),
    lines: promptedLines,
    stdin: wholeInput,
    stdinPieces: standardInput,
  }
}

async function wholeInput(): Promise<string> {
  let text = ''
  for await (const piece of standardInput()) text += piece
  return text
}

function standardInput(): AsyncIterable<string> {
  return decodingUtf8(refusingPacked(process.stdin, 'Standard input'), 'Standard input')
}

function showsColours(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && stream.hasColors() && process.env['NO_COLOR'] === undefined
}

/** A terminal of a container may not know how wide it is, and says 0. */
function columnsOf({ columns }: Pick<NodeJS.WriteStream, 'columns'>): number {
  return columns > 0 ? columns : 80
}

/** A line that wraps could not be taken away. */
function fitting(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line)
  return plain.length <= columns ? line : plain.slice(0, Math.max(0, columns))
}

async function* promptedLines(completer: Completer): AsyncGenerator<string> {
  const isPrompting = process.stdin.isTTY && process.stdout.isTTY
  const complete = async (line: string): Promise<[string[], string]> => {
    const [words, begun] = await completer(line)
    return [[...words], begun]
  }
  const reader = createInterface({
    input: process.stdin,
    ...(isPrompting && { output: process.stdout, completer: complete }),
    prompt: 'fhir-ops> ',
  })
  try {
    if (isPrompting) reader.prompt()
    for await (const line of reader) {
      yield line
      if (isPrompting) reader.prompt()
    }
  } finally {
    reader.close()
  }
}

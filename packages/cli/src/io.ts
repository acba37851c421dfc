import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { stripVTControlCharacters } from 'node:util'
import type { CqlTranslator } from '@fhir-ops/cql/translator'
import { decodingUtf8 } from 'fhir-ops/internal/text'
import { escapeControls, OperationError } from 'fhir-ops/internal/errors'
import { refusingPacked } from './files.js'
import type { Engine } from './storage.js'

/** Returns the possible last words of a line, and the part of the last word that was already typed. */
export type Completer = (line: string) => Promise<readonly [words: readonly string[], begun: string]>

/** Input and output of a command. Results go to `out`, progress and errors to `err`, so that results can be piped. */
export interface Io {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  /** Reads standard input to its end. @throws {OperationError} `body-invalid` if it is compressed, or not UTF-8. */
  readonly stdin: () => Promise<string>
  /** Reads standard input in pieces, as they arrive. Default: all in one piece, from `stdin`. */
  readonly stdinPieces?: () => AsyncIterable<string>
  /** Reads standard input line by line, with a prompt and completion on a terminal. */
  readonly lines?: (completer: Completer) => AsyncIterable<string>
  /** True if a person types those lines. Default false. */
  readonly isPrompting?: boolean
  /** Replaces the line drawn before; an empty line removes it. Absent if `err` is not a terminal. */
  readonly draw?: (line: string) => void
  /** True if `out` is a terminal that shows colors. Default false. */
  readonly isTerminal?: boolean
  /** True if `err` is a terminal that shows colors. Default false. */
  readonly isColoured?: boolean
  /**
   * Changes to the root folder, once a server has opened everything that it was given by relative paths: Node starts no thread in a folder that was
   * removed, as the folder of an earlier release is by the next one.
   */
  readonly leaveFolder?: () => void
  /** Returns milliseconds since an arbitrary time, for measuring durations. Default: the clock of the process. */
  readonly now?: () => number
  /** The engine for commands in a shell, which keeps it open. */
  readonly engine?: Engine
  /** The CQL translator for commands in a shell, which keeps its thread. Default: each command starts a thread of its own. */
  readonly translator?: CqlTranslator
}

/** The process's standard streams. */
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
    leaveFolder,
    lines: promptedLines,
    isPrompting: isPrompting(),
    stdin: wholeInput,
    stdinPieces: standardInput,
  }
}

/** The driver of PostgreSQL reads the file of passwords for each connection. */
function leaveFolder(): void {
  const { PGPASSFILE = '' } = process.env
  if (PGPASSFILE !== '') process.env['PGPASSFILE'] = resolve(PGPASSFILE)
  process.chdir('/')
}

let isInputRead = false

/** @throws {OperationError} `parameter-value` the second time: its end has then been read. */
function readOnce(): void {
  if (isInputRead) throw new OperationError('parameter-value', 'Standard input (-) can be read only once.')
  isInputRead = true
}

async function wholeInput(): Promise<string> {
  let text = ''
  for await (const piece of standardInput()) text += piece
  return text
}

function standardInput(): AsyncIterable<string> {
  readOnce()
  if (process.stdin.isTTY) process.stderr.write('reading standard input; Ctrl-D ends it\n')
  return decodingUtf8(refusingPacked(process.stdin, 'Standard input'), 'Standard input')
}

function showsColours(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY && stream.hasColors() && process.env['NO_COLOR'] === undefined
}

/** Returns the width of the terminal. In a container, a terminal may not know its width and report 0. */
function columnsOf({ columns }: Pick<NodeJS.WriteStream, 'columns'>): number {
  return columns > 0 ? columns : 80
}

/** Cuts a line to the width of the terminal, because a wrapped line could not be removed. */
function fitting(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line)
  return plain.length <= columns ? line : plain.slice(0, Math.max(0, columns))
}

function isPrompting(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY
}

async function* promptedLines(completer: Completer): AsyncGenerator<string> {
  const prompts = isPrompting()
  const complete = async (line: string): Promise<[string[], string]> => {
    const [words, begun] = await completer(line)
    return [[...words], begun]
  }
  const reader = createInterface({
    input: process.stdin,
    ...(prompts && { output: process.stdout, completer: complete }),
    prompt: 'fhir-ops> ',
  })
  try {
    if (prompts) reader.prompt()
    for await (const line of reader) {
      yield line
      if (prompts) reader.prompt()
    }
  } finally {
    reader.close()
  }
}

/** Formats a number with the name of what it counts: `1 resource`, `2 resources`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`
}

/**
 * Formats rows as columns of equal width, two spaces apart, without trailing spaces. Control characters are escaped, because the cells contain texts of
 * definitions: a line break would start another row, and an escape sequence would control the terminal.
 */
export function table(content: readonly (readonly string[])[]): readonly string[] {
  const rows = content.map((row) => row.map(escapeControls))
  const widths: number[] = []
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Ends a command with an exit status, without a message, because everything was already printed. */
export class Exit extends Error {
  override readonly name: string = 'Exit'
  readonly status: number

  constructor(status: number) {
    super(`exit status ${status}`)
    this.status = status
  }
}

/** Converts a TypeError, by which packages refuse options, to a usage error; returns other errors unchanged. */
export function wrongUse(cause: unknown): unknown {
  return cause instanceof TypeError ? new OperationError('parameter-value', cause.message, { cause }) : cause
}

/** Resolves on the first SIGINT or SIGTERM. Later signals are ignored: npm repeats those that the terminal has already sent to all its processes. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve())
  })
}

/** Where a command writes. Results go to `out`, progress and errors to `err`, so that results can be piped. */
export interface Io {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  /** Standard input to its end. */
  readonly stdin: () => Promise<string>
  /** True when `out` is a terminal that shows colours. Default false. */
  readonly isTerminal?: boolean
}

/** The terminal's own streams. */
export const terminal: Io = {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
  isTerminal: process.stdout.isTTY && process.stdout.hasColors() && process.env['NO_COLOR'] === undefined,
  async stdin() {
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks).toString('utf8')
  },
}

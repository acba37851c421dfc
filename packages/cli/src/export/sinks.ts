import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** Takes the resources of a type, one text after the other. */
export type Sink = (type: string, texts: AsyncIterable<string>) => Promise<void>

/** Prints every resource as a line. */
export function lines(out: (line: string) => void): Sink {
  return async (_type, texts) => {
    for await (const text of texts) out(text)
  }
}

/** Writes a file `<Type>.ndjson` for each type that has resources. It appears under its name when it is whole. */
export async function folder(path: string): Promise<Sink> {
  await mkdir(path, { recursive: true })
  return async (type, texts) => {
    const part = join(path, `${type}.ndjson.part`)
    let isEmpty = true
    async function* lineByLine(): AsyncGenerator<string> {
      for await (const text of texts) {
        isEmpty = false
        yield `${text}\n`
      }
    }
    try {
      await pipeline(lineByLine, createWriteStream(part))
      await (isEmpty ? rm(part) : rename(part, join(path, `${type}.ndjson`)))
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }
}

import { readFile } from 'node:fs/promises'
import { OperationError } from 'fhir-ops/errors'

/** The bytes of a file that a command was given. @throws {OperationError} `parameter-value` for a folder; an error of the system, which names the file, for one that cannot be read. */
export async function fileBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    // This error of the system names no file.
    if (cause instanceof Error && 'code' in cause && cause.code === 'EISDIR')
      throw new OperationError('parameter-value', `${path} is a folder: name a file.`, { cause })
    throw cause
  }
}

/** The text of a file, in UTF-8. Throws as `fileBytes`. */
export async function fileText(path: string): Promise<string> {
  return new TextDecoder().decode(await fileBytes(path))
}

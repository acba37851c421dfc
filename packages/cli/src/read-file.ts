import { readFile } from 'node:fs/promises'
import { OperationError } from 'fhir-ops/errors'
import { decodeUtf8 } from 'fhir-ops/internal/text'
import { refusePacked } from './packed-bytes.js'

/** The bytes of a file that a command was given. @throws {OperationError} `parameter-value` for a folder; an error of the system, which names the file, for one that cannot be read. */
async function fileBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (cause) {
    // This error of the system names no file.
    if (cause instanceof Error && 'code' in cause && cause.code === 'EISDIR')
      throw new OperationError('parameter-value', `${path} is a folder: name a file.`, { cause })
    throw cause
  }
}

/** As `fileBytes`, of a file of text. @throws {OperationError} as that, and `body-invalid` for a file that is packed. */
export async function unpackedBytes(path: string): Promise<Uint8Array> {
  const bytes = await fileBytes(path)
  refusePacked(bytes, path)
  return bytes
}

/** The text of a file, in UTF-8. @throws {OperationError} as `unpackedBytes`, and `body-invalid` for another encoding. */
export async function fileText(path: string): Promise<string> {
  return decodeUtf8(await unpackedBytes(path), path)
}

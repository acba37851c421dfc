import { InvalidArgumentError, Option } from 'commander'
import { OperationError } from 'fhir-ops/errors'
import { isPlainAddress } from '../storage.js'
import { STANDARD_INPUT } from '../files.js'

/** `--storage`, with the same meaning in every command. */
export function storageOption(): Option {
  return new Option('--storage <storage>', 'memory, sqlite:FILE, postgres:URL or http:URL').default('memory')
}

/** For commands that store something. @throws {OperationError} `parameter-value` for memory, whose content would be lost. */
export function checkIsKept(storage: string, otherwise = ''): void {
  if (storage !== 'memory') return
  throw new OperationError(
    'parameter-value',
    `The content of memory storage is lost when the command ends: name another storage${otherwise}.`,
  )
}

/** `--load`, repeatable. */
export function loadOption(): Option {
  return new Option(
    '--load <path>',
    'JSON, Bundle or NDJSON file (also .gz), FHIR package (.tgz) or a folder of them; repeatable; - for standard input',
  )
    .argParser<readonly string[]>((path, before: readonly string[] | undefined) => [...(before ?? []), path])
    .default([], 'nothing')
}

/** For commands that read other things from standard input. @throws {OperationError} `parameter-value` if content is to be loaded from it. */
export function checkInputIsFree(load: readonly string[], read: string): void {
  if (load.includes(STANDARD_INPUT)) throw new OperationError('parameter-value', `Standard input (-) has ${read}: name a file to load.`)
}

/** `--words`. */
export function wordsOption(): Option {
  return new Option('--words', 'index the words of resources as they are written, and search by them (_text, _content)')
}

/** `--explain`. */
export function explainOption(): Option {
  return new Option('--explain', 'explain on standard error how the result was found')
}

/** `--suppress`. */
export function suppressOption(): Option {
  return new Option(
    '--suppress <file>',
    'JSON file with accepted findings of $validate, each with a reason and an expiry date; - for standard input',
  )
}

/** `--json`. */
export function jsonOption(): Option {
  return new Option('--json', 'print the FHIR resource instead of text')
}

/** Collects the values of a repeatable option. */
export function repeated(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

/** An option for a text that is valid after `Bearer` in a header. */
export function tokenOption(name: string, description: string): Option {
  const parse = unrepeated(`${name} must be 1 to 4,096 ASCII characters without blanks and commas.`, (text) =>
    /^[!-+\--~]{1,4096}$/.test(text),
  )
  return new Option(`${name} <token>`, description).argParser(parse)
}

/** An option for an http or https address to which paths can be appended. */
export function addressOption(name: string, description: string): Option {
  const parse = unrepeated(`${name} must be an http or https address without user, query and fragment.`, isPlainAddress)
  return new Option(`${name} <url>`, description).argParser(parse)
}

/** Parses a value that may contain a password: an `InvalidArgumentError` would repeat the value in its message. */
function unrepeated(message: string, isRight: (text: string) => boolean): (text: string) => string {
  return (text) => {
    if (!isRight(text)) throw new OperationError('parameter-value', message)
    return text
  }
}

/** Parses a text that is not blank, as the value of a variable that is not set would be. */
export function notBlank(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be blank.')
  return text
}

/** Parses a port to listen on; 0 for a free one. */
export function portNumber(text: string): number {
  return wholeNumber(0, 65_535)(text)
}

/** Returns a parser of whole numbers from `least` to `most`. */
export function wholeNumber(least: number, most = 999_999_999): (text: string) => number {
  return (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < least || Number(text) > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
    return Number(text)
  }
}

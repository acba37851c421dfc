import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

/** The folder that lists the messages of HL7's validator, with one file for each of its classes. */
export const RULE_BOOK: string = resolve(import.meta.dirname, '../../rule-book')
/** Folders with tests of findings, the likeliest first. */
const TESTS = ['packages/conformance/src/validator', 'packages/core/src/validate', 'packages/handler/test', 'packages/cli/src']
const ROOT = resolve(import.meta.dirname, '../../../..')

/**
 * The state of a message of HL7's validator: `yes` is reported by our kinds; `off` as well, but only on request; `partly` has another severity or
 * place, or only some of the cases, with a reason; `open` is missing; `not` is not supported, with a reason.
 */
export const STATES = ['yes', 'off', 'partly', 'open', 'not'] as const

/** One message of HL7's validator. */
export interface Message {
  /** Its message id; `no id: ` and its text for the few without an id. */
  readonly id: string
  /** The class of HL7's validator that reports it. */
  readonly area: string
  /** Severity; several, separated by slashes, if it depends on the circumstances. */
  readonly severity: string
  readonly state: (typeof STATES)[number]
  /** The kinds of finding that cover it, for `yes`, `off` and `partly`. */
  readonly kinds: readonly string[]
  /** For `not`, a key of `REASONS` or a sentence; for `partly`, a sentence, which is empty if the rest is still missing. */
  readonly reason: string
}

/** Reasons why whole groups of messages are not supported. */
export const REASONS: Readonly<Record<string, string>> = {
  internal: 'It reports a limit or fault of the Java program itself.',
  server: 'It is about the terminology server that the Java program asks; here terminology is in the same process.',
  fragment: 'It is a part of the texts of other messages.',
  release: 'It is for other releases than R4.',
  logical: 'It is about instances of logical models, which are not resources.',
  xml: 'It is about XML; JSON is the only format here.',
  publication: 'It is a rule of the publication process of HL7, not of FHIR.',
  expansion: 'It is an error of `$expand`, which has its own errors.',
  viewdefinition: 'ViewDefinitions are resources of SQL on FHIR, not of R4.',
  option: 'It occurs only with an option of the Java program that has no counterpart.',
  detail: 'It adds a detail to the text of another message.',
  cda: 'It is about CDA documents.',
  matchetype: 'It is about matchetypes, which compare test results.',
  ai: 'It asks a language model over the network.',
  network: 'It loads something from the network; nothing is fetched here.',
  limit: 'It reports a limit of the Java program.',
  package: 'It depends on how packages were loaded by the Java program.',
}

/** Every message, in the order of the classes' names and of their files. */
export function messages(): readonly Message[] {
  const files = readdirSync(RULE_BOOK).filter((file) => file.endsWith('.tsv'))
  return files.toSorted().flatMap((file) => messagesIn(basename(file, '.tsv'), readFileSync(join(RULE_BOOK, file), 'utf8')))
}

/** The messages of one file, one per line: id, severity, state, and kinds or reason, separated by tabs; for `partly` kinds and reason. */
export function messagesIn(area: string, text: string): readonly Message[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const [id = '', severity = '', word, detail = '', why = ''] = line.split('\t')
    const state = STATES.find((known) => known === word)
    if (state === undefined) throw new TypeError(`${area}: ${id} has the state ${String(word)}, which is none of ${STATES.join(', ')}.`)
    const isCovered = state === 'yes' || state === 'off' || state === 'partly'
    return {
      id,
      area,
      severity,
      state,
      kinds: isCovered ? detail.split(',').filter((kind) => kind !== '') : [],
      reason: state === 'not' ? detail : why,
    }
  })
}

/** Returns a function that finds the test of a message: the file that names its id, or one that names the kind. Paths are relative to the repository. */
export function testFinder(): (message: Message) => string | undefined {
  const texts = TESTS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts') && !file.endsWith('.slow.test.ts'))
      .toSorted()
      .map((file) => join(folder, file))
      .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') })),
  )
  const naming = (word: string): string | undefined => texts.find(({ text }) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text))?.path
  const known = new Map<string, string | undefined>()
  const find = (word: string): string | undefined => {
    if (!known.has(word)) known.set(word, naming(word))
    return known.get(word)
  }
  return ({ id, kinds }) => (id.includes(' ') ? undefined : find(id)) ?? kinds.map(find).find((path) => path !== undefined)
}

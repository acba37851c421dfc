import { FINDING_KINDS } from 'fhir-ops/validate'
import { REASONS, UNSHOWN, messages, testFinder, type Message } from './rule-book.js'

const HEAD = `# $validate compared with HL7's validator

The messages of HL7's Java validator, by their ids, with the kinds of [finding](validate-findings.md) that cover them here. The ids, severities and classes are
those of [org.hl7.fhir.core](https://github.com/hapifhir/org.hl7.fhir.core) at commit b06c7ee (Apache-2.0); the mapping is ours. This page is generated from
\`packages/conformance/rule-book\` and the rules (\`npm run docs\`).

`

const LEGEND = `
**Yes**: reported with that severity, issue type and place. **On request**: the same, when [best practices](validate.md) or a setting ask for it. **Partly**: with
another severity or place, or only some of the cases; the reason is next to it. **Missing**: not yet. What is not offered is at the end, with the reasons. A severity with a slash depends on
the circumstances. The test is the one that names the message, or else the kind.
`

/** The page `docs/operations/validate-rules.md`. */
export function rulesPage(): string {
  const all = messages()
  const testOf = testFinder()
  const areas = [...new Set(all.map(({ area }) => area))]
  const sections = areas.flatMap((area) => {
    const own = all.filter((message) => message.area === area && applies(message))
    return own.length === 0 ? [] : [`\n## ${area}\n\n${TABLE}${own.map((message) => rowOf(message, testOf)).join('')}`]
  })
  return `${HEAD}${counts(all, areas)}${LEGEND}${sections.join('')}${unshown()}${notOffered(all)}`
}

/** False for messages about something that R4, JSON or this library does not have; true for single rules with their own reason. */
function applies({ state, reason }: Message): boolean {
  return state !== 'not' || !Object.hasOwn(REASONS, reason)
}

const TABLE = '| Message | Severity | | Kind | By default | Test |\n|---|---|---|---|---|---|\n'

const WORDS: Readonly<Record<Message['state'], string>> = {
  yes: 'yes',
  off: 'yes',
  partly: 'partly',
  open: 'missing',
  not: 'not offered',
}

function rowOf(message: Message, testOf: (message: Message) => string | undefined): string {
  const { id, severity, state, kinds, reason } = message
  const path = kinds.length === 0 ? undefined : testOf(message)
  const name = id.includes(' ') ? id.replace(/^no id: /, '') : `\`${id}\``
  const cells = [
    name,
    severity.replaceAll('-', ' '),
    WORDS[state],
    [kinds.map((kind) => `[\`${kind}\`](validate-findings.md)`).join(', '), reason].filter((text) => text !== '').join('. '),
    kinds.length === 0 ? '' : state === 'off' ? 'on request' : 'on',
    path === undefined ? '' : `[test](../../${path})`,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
}

function counts(all: readonly Message[], areas: readonly string[]): string {
  const row = (name: string, own: readonly Message[]): string => {
    const relevant = own.filter(applies)
    if (relevant.length === 0) return ''
    const count = (...states: readonly Message['state'][]): number => relevant.filter(({ state }) => states.includes(state)).length
    return `| ${[name, relevant.length, count('yes', 'off'), count('not'), count('partly'), count('open')].join(' | ')} |\n`
  }
  const head = '| Class | Applies | Has | Reason why not | Partly | Missing |\n|---|---|---|---|---|---|\n'
  const rows = areas.map((area) =>
    row(
      area,
      all.filter((message) => message.area === area),
    ),
  )
  return `${head}${rows.join('')}${row('**All**', all)}`
}

function unshown(): string {
  const groups = Object.entries(UNSHOWN).map(([why, ids]) => `**${why}** (${ids.length}) ${ids.map((id) => `\`${id}\``).join(' ')}\n`)
  return `\n## Covered, but tried in vain\n\nHL7's validator could not be made to report these; the reasons are from reading its source. Probes keep verdicts without ids, so it may not have been seen to report some others.\n\n${groups.join('\n')}`
}

function notOffered(all: readonly Message[]): string {
  const groups = Object.entries(REASONS).map(([word, sentence]) => {
    const ids = all.filter(({ state, reason }) => state === 'not' && reason === word).map(({ id }) => `\`${id}\``)
    return `**${sentence}** (${ids.length}) ${ids.join(' ')}\n`
  })
  return `\n## Not offered\n\n${groups.join('\n')}`
}

/** Kinds of finding that the rule book names and that do not exist. */
export function unknownKinds(): readonly string[] {
  return [...new Set(messages().flatMap(({ kinds }) => kinds))].filter((kind) => !Object.hasOwn(FINDING_KINDS, kind))
}

import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { extensionAt, stringAt, type JsonObject } from '../../../json/index.js'
import { TYPE_URL } from '../../../text/index.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { expressionProblem } from '../expression/expression-problem.js'
import { snapshotOf } from './built-snapshot.js'
import { DEFINITION_OBLIGATION } from './check-obligations.js'
import { complianceProblems } from './compliance.js'
import { DEFINITION_EXPRESSION } from './check-restrictions.js'
import { elementAtPath } from '../../profile/element-at-path.js'

const TOOLS = 'http://hl7.org/fhir/tools/StructureDefinition/'
const INHERITS: ReadonlySet<unknown> = new Set([`${TYPE_URL}inherit-obligations`, `${TOOLS}inherit-obligations`])
const FLAGS = [`${TYPE_URL}obligation-profile`, `${TYPE_URL}obligation-profile-flag`, `${TOOLS}obligation-profile`]

/** Checks that inherited obligations are those of an obligation profile on the same base, and that a profile complies with those that it names. */
export async function checkInheritance(run: Run, definition: FhirNode, built: readonly JsonObject[] | undefined): Promise<void> {
  for (const extension of childrenOf(run, definition, 'extension')) {
    const url = textOf(extension, 'url')
    if (url === `${TYPE_URL}structuredefinition-compliesWithProfile`) await checkClaim({ run, definition, extension, own: built })
    if (!INHERITS.has(url)) continue
    const text = inheritanceProblem(run, definition, extension)
    if (text !== undefined) run.findings.report(DEFINITION_OBLIGATION, extension, { text })
  }
}

function inheritanceProblem(run: Run, definition: FhirNode, extension: FhirNode): string | undefined {
  const [value] = childrenOf(run, extension, 'value')
  if (typeof value?.value !== 'string') return 'It does not say which obligations are inherited.'
  const found = run.definitions.definition('StructureDefinition', value.value)
  if (found === PENDING) return undefined
  if (found === undefined) return `The obligation profile ${quoted(value.value)} could not be found.`
  if (!FLAGS.some((flag) => extensionAt(found, flag)?.['valueBoolean'] === true))
    return `The profile ${quoted(value.value)} is not marked as an obligation profile.`
  const [own, theirs] = [textOf(definition, 'baseDefinition'), stringAt(found, 'baseDefinition')]
  return own === theirs ? undefined : `The obligation profile is on ${quoted(theirs ?? '')}, but this one on ${quoted(own ?? '')}.`
}

interface Claim {
  readonly run: Run
  readonly definition: FhirNode
  readonly extension: FhirNode
  /** The elements of the profile's snapshot. */
  readonly own: readonly JsonObject[] | undefined
}

async function checkClaim({ run, definition, extension, own }: Claim): Promise<void> {
  const [value] = childrenOf(run, extension, 'value')
  if (typeof value?.value !== 'string') return
  const say = (text: string, severity?: 'warning'): void =>
    run.findings.report(DEFINITION_OBLIGATION, definition, { text, ...(severity !== undefined && { severity }) })
  const found = run.definitions.definition('StructureDefinition', value.value)
  if (found === undefined) return say(`The profile ${quoted(value.value)} could not be found, so compliance with it is not checked.`)
  const claimed = await snapshotOf(run, value.value)
  if (found === PENDING || claimed === undefined || claimed === PENDING || own === undefined) return
  if (found['type'] !== textOf(definition, 'type'))
    return say(`The profile does not comply with ${quoted(value.value)}, which is of type ${quoted(String(found['type']))}.`)
  const problems = await complianceProblems({ run, own, claimed })
  const certain = problems.filter(({ isCertain }) => isCertain)
  if (certain.length > 0) say(`The profile does not comply with ${quoted(value.value)}: ${listed(certain)}.`)
  else if (problems.length > 0)
    say(`Whether the profile complies with ${quoted(value.value)} is not known: ${listed(problems)}.`, 'warning')
}

const MOST_NAMED = 5

function listed(problems: readonly { readonly text: string }[]): string {
  const rest = problems.length - MOST_NAMED
  const named = problems.slice(0, MOST_NAMED).map(({ text }) => text)
  return [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ')
}

/** Checks that the context invariants of an extension can be parsed, and name elements that the contexts have. */
export async function checkContextInvariants(run: Run, definition: FhirNode, contexts: readonly FhirNode[]): Promise<void> {
  const elements = contexts.filter((context) => textOf(context, 'type') === 'element').map((context) => textOf(context, 'expression') ?? '')
  const isOpen = contexts.some((context) => textOf(context, 'type') === 'extension') && elements.length === 0
  const types = elements.map((expression) => elementAtPath(run.model, expression)?.types)
  for (const invariant of childrenOf(run, definition, 'contextInvariant')) {
    await run.scheduler.turn()
    if (typeof invariant.value !== 'string') continue
    if (elements.length === 0 && !isOpen)
      run.findings.report(DEFINITION_EXPRESSION, invariant, {
        text: 'The types of the contexts are not known, so the invariant is not checked against them.',
        severity: 'information',
        code: 'informational',
      })
    const isKnown = types.length > 0 && types.every((one) => one !== undefined)
    const problem = expressionProblem(invariant.value, { model: run.model, focus: isKnown ? types.flatMap((one) => one ?? []) : [] })
    if (problem?.isError === true)
      run.findings.report(DEFINITION_EXPRESSION, invariant, {
        text: `The invariant ${quoted(invariant.value)} is invalid: ${problem.text}`,
      })
  }
}

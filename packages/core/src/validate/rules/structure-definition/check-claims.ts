import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { extensionAt, stringAt } from '../../../json/index.js'
import { TYPE_URL } from '../../../text/index.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { expressionProblem } from '../expression/expression-problem.js'
import { DEFINITION_OBLIGATION } from './check-obligations.js'
import { DEFINITION_EXPRESSION } from './check-restrictions.js'
import { placeOf } from './element-place.js'

const TOOLS = 'http://hl7.org/fhir/tools/StructureDefinition/'
const INHERITS: ReadonlySet<unknown> = new Set([`${TYPE_URL}inherit-obligations`, `${TOOLS}inherit-obligations`])
const FLAGS = [`${TYPE_URL}obligation-profile`, `${TYPE_URL}obligation-profile-flag`, `${TOOLS}obligation-profile`]

/** Checks that the profile whose obligations are inherited is one of obligations, on the same base; and that one that is complied with is known. */
export function checkInheritance(run: Run, definition: FhirNode): void {
  for (const extension of childrenOf(run, definition, 'extension')) {
    const url = textOf(extension, 'url')
    if (url === `${TYPE_URL}structuredefinition-compliesWithProfile`) checkClaim(run, definition, extension)
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

function checkClaim(run: Run, definition: FhirNode, extension: FhirNode): void {
  const [value] = childrenOf(run, extension, 'value')
  if (typeof value?.value !== 'string' || run.definitions.definition('StructureDefinition', value.value) !== undefined) return
  run.findings.report(DEFINITION_OBLIGATION, definition, {
    text: `The profile ${quoted(value.value)} could not be found, so it is not checked that this one complies with it.`,
  })
}

/** Checks that the invariants on the contexts of an extension can be read, and name elements that the contexts have. */
export function checkContextInvariants(run: Run, definition: FhirNode, contexts: readonly FhirNode[]): void {
  const elements = contexts.filter((context) => textOf(context, 'type') === 'element').map((context) => textOf(context, 'expression') ?? '')
  const isOpen = contexts.some((context) => textOf(context, 'type') === 'extension') && elements.length === 0
  const types = elements.map((expression) => placeOf(run.model, expression)?.types)
  for (const invariant of childrenOf(run, definition, 'contextInvariant')) {
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
        text: `The invariant ${quoted(invariant.value)} is not right: ${problem.text}`,
      })
  }
}

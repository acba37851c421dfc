import { quoted } from '../../../errors/index.js'
import { pathOf, PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { extensionAt, isObject, objectAt, stringAt, type JsonObject, shownJson } from '../../../json/index.js'
import { TYPE_URL } from '../../../text/index.js'
import { ADDITIONAL_BINDINGS } from '../../profile/value-rule.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'
import { snapshotOf } from './base-element.js'
import { complianceProblems } from './compliance.js'

/** A statement that an obligation profile must not make. */
export const DEFINITION_OBLIGATION: FindingDefinition = defineFinding(
  'definition-obligation',
  'error',
  'invalid',
  'Put only obligations, mustSupport and additional bindings into an obligation profile.',
)

const TOOLS = 'http://hl7.org/fhir/tools/StructureDefinition/'
const FLAGS = [`${TYPE_URL}obligation-profile`, `${TYPE_URL}obligation-profile-flag`, `${TOOLS}obligation-profile`]
const OBLIGATIONS: ReadonlySet<unknown> = new Set([`${TYPE_URL}obligation`, `${TOOLS}obligation`])
/** The members that an element of an obligation profile may have besides its obligations. */
const ALLOWED: ReadonlySet<string> = new Set(['id', 'path', 'min', 'max', 'mustSupport', 'binding'])

/** Purposes of additional bindings that restrict codes, which obligations do not. */
const RESTRICTING: ReadonlySet<unknown> = new Set(['maximum', 'required', 'extensible'])

/**
 * Checks an obligation profile: it may add obligations, mustSupport and additional bindings to elements of its base, and must not change anything else.
 *
 * @see https://hl7.org/fhir/extensions/StructureDefinition-obligation-profile-flag.html
 */
export async function checkObligations(run: Run, definition: FhirNode, differential: FhirNode | undefined): Promise<void> {
  if (!childrenOf(run, definition, 'extension').some(isFlag)) return
  if (textOf(definition, 'derivation') !== 'constraint')
    return refuse(run, definition, 'Only a profile on another definition can be an obligation profile.')
  const base = await snapshotOf(run, textOf(definition, 'baseDefinition') ?? '')
  if (base === undefined || base === PENDING || differential === undefined) return
  const known = new Map(base.map((element) => [stringAt(element, 'id'), element]))
  for (const element of childrenOf(run, differential, 'element')) {
    await run.scheduler.turn()
    const origin = known.get(textOf(element, 'id'))
    if (origin === undefined)
      refuse(
        run,
        element,
        `The base has no element ${quoted(textOf(element, 'id') ?? '')}, so there is nothing for an obligation to be on.`,
      )
    else for (const [name, member] of membersOf(run, element)) checkMember(run, member, { name, origin })
  }
}

function isFlag({ value }: FhirNode): boolean {
  return isObject(value) && FLAGS.some((flag) => flag === value['url']) && value['valueBoolean'] === true
}

function membersOf(run: Run, node: FhirNode): readonly (readonly [name: string, member: FhirNode])[] {
  const slots = isObject(node.value) ? [...new Set(Object.keys(node.value).flatMap((key) => node.type.members.get(key)?.name ?? []))] : []
  return slots.flatMap((name) => childrenOf(run, node, name).map((member) => [name, member] as const))
}

interface Member {
  readonly name: string
  /** The element in the base. */
  readonly origin: JsonObject
}

function checkMember(run: Run, member: FhirNode, { name, origin }: Member): void {
  const binding = objectAt(origin, 'binding')
  const isFine = name === 'extension' ? OBLIGATIONS.has(textOf(member, 'url')) : ALLOWED.has(name)
  if (!isFine) refuse(run, member, `An obligation profile must not change ${quoted(name)}.`)
  else if (name === 'path' && member.value !== origin['path'])
    refuse(run, member, `The path is ${quoted(stringAt(origin, 'path') ?? '')} in the base, and must not change.`)
  else if (name === 'binding' && binding === undefined) refuse(run, member, 'The element has no binding in the base, and must not get one.')
  else if (name === 'binding' && binding !== undefined)
    for (const [part, node] of membersOf(run, member)) checkInBinding(run, node, { name: part, base: binding['strength'] })
}

interface InBinding {
  readonly name: string
  /** Strength of the binding in the base. */
  readonly base: unknown
}

function checkInBinding(run: Run, member: FhirNode, { name, base }: InBinding): void {
  if (name === 'strength') {
    if (member.value !== base)
      refuse(run, member, `The strength of the binding is ${quoted(shownJson(base))} in the base and must not change.`)
  } else if (name !== 'extension' || !ADDITIONAL_BINDINGS.has(textOf(member, 'url')))
    refuse(run, member, `An obligation profile must not change ${quoted(name)} of a binding.`)
  else if (RESTRICTING.has(purposeOf(member)))
    refuse(
      run,
      member,
      `An additional binding with the purpose ${quoted(purposeOf(member) ?? '')} restricts codes, which an obligation profile must not.`,
    )
}

function purposeOf({ value }: FhirNode): string | undefined {
  return isObject(value) ? stringAt(extensionAt(value, 'purpose'), 'valueCode') : undefined
}

function refuse(run: Run, node: FhirNode, text: string): void {
  run.findings.report(DEFINITION_OBLIGATION, node, { text, expression: indexedPath(node) })
}

/**
 * The path with an index at every member of an ElementDefinition, even if it does not repeat: HL7's validator reports what such a profile must not have by
 * this path.
 */
function indexedPath(node: FhirNode): string {
  const { parent, slot, index } = node
  if (parent === undefined || slot === undefined || node.type.name === 'ElementDefinition') return pathOf(node)
  const choice = slot.isChoice ? `.ofType(${slot.type})` : ''
  return `${indexedPath(parent)}.${slot.name}[${Math.max(index, 0)}]${choice}`
}

const INHERITS: ReadonlySet<unknown> = new Set([`${TYPE_URL}inherit-obligations`, `${TOOLS}inherit-obligations`])

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
    return say(`The profile does not comply with ${quoted(value.value)}, which is of type ${quoted(shownJson(found['type']))}.`)
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

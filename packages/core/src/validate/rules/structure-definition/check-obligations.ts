import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { isObject, objectAt, objectsAt, stringAt } from '../../../json/index.js'
import { TYPE_URL } from '../../../text/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run } from '../../run/run.js'

/** What an obligation profile must not state. */
export const DEFINITION_OBLIGATION: FindingDefinition = defineFinding(
  'definition-obligation',
  'error',
  'invalid',
  'Put only obligations, mustSupport and additional bindings into an obligation profile.',
)

const TOOLS = 'http://hl7.org/fhir/tools/StructureDefinition/'
const FLAGS: ReadonlySet<unknown> = new Set([
  `${TYPE_URL}obligation-profile`,
  `${TYPE_URL}obligation-profile-flag`,
  `${TOOLS}obligation-profile`,
])
const OBLIGATIONS: ReadonlySet<unknown> = new Set([`${TYPE_URL}obligation`, `${TOOLS}obligation`])
const ADDITIONAL: ReadonlySet<unknown> = new Set([`${TYPE_URL}additional-binding`, `${TOOLS}additional-binding`])
/** What an element of a profile of obligations may say beside its obligations. */
const ALLOWED: ReadonlySet<string> = new Set(['id', 'path', 'min', 'max', 'mustSupport', 'binding'])

/**
 * Checks a profile that says it only gives obligations: it may add those, mustSupport and further bindings to elements of its base, and change
 * nothing else.
 *
 * @see https://hl7.org/fhir/extensions/StructureDefinition-obligation-profile-flag.html
 */
export function checkObligations(run: Run, definition: FhirNode, differential: FhirNode): void {
  if (!childrenOf(run, definition, 'extension').some(isFlag)) return
  for (const element of childrenOf(run, differential, 'element')) {
    for (const [name, member] of membersOf(run, element)) checkMember(run, name, member)
    for (const binding of childrenOf(run, element, 'binding')) {
      const base = baseStrength(run, textOf(definition, 'baseDefinition'), textOf(element, 'path'))
      for (const [name, member] of membersOf(run, binding)) checkInBinding(run, member, { name, base })
    }
  }
}

function isFlag({ value }: FhirNode): boolean {
  return isObject(value) && FLAGS.has(value['url']) && value['valueBoolean'] === true
}

function membersOf(run: Run, node: FhirNode): readonly (readonly [name: string, member: FhirNode])[] {
  const slots = isObject(node.value) ? [...new Set(Object.keys(node.value).flatMap((key) => node.type.members.get(key)?.name ?? []))] : []
  return slots.flatMap((name) => childrenOf(run, node, name).map((member) => [name, member] as const))
}

function checkMember(run: Run, name: string, member: FhirNode): void {
  const isFine = name === 'extension' ? OBLIGATIONS.has(textOf(member, 'url')) : ALLOWED.has(name)
  if (!isFine) refuse(run, member, `An obligation profile must not change ${quoted(name)}.`)
}

interface InBinding {
  readonly name: string
  /** Strength of the binding in the base. */
  readonly base: string | undefined
}

function checkInBinding(run: Run, member: FhirNode, { name, base }: InBinding): void {
  if (name === 'strength') {
    if (base !== undefined && member.value !== base)
      refuse(run, member, `The strength of the binding is ${quoted(base)} in the base and must not change.`)
  } else if (name !== 'extension' || !ADDITIONAL.has(textOf(member, 'url')))
    refuse(run, member, `An obligation profile must not change ${quoted(name)} of a binding.`)
}

function refuse(run: Run, node: FhirNode, text: string): void {
  run.findings.report(DEFINITION_OBLIGATION, node, { text })
}

/** As the nearest definition says on which the profile builds. */
function baseStrength(run: Run, canonical: string | undefined, path: string | undefined): string | undefined {
  const seen = new Set<string>()
  for (let next = canonical; next !== undefined && !seen.has(next);) {
    seen.add(next)
    const found = run.definitions.definition('StructureDefinition', next)
    if (found === undefined || found === PENDING) return undefined
    const elements = ['snapshot', 'differential'].flatMap((part) => objectsAt(objectAt(found, part), 'element'))
    const strength = stringAt(
      objectAt(
        elements.find((one) => one['path'] === path && one['binding'] !== undefined),
        'binding',
      ),
      'strength',
    )
    if (strength !== undefined) return strength
    next = stringAt(found, 'baseDefinition')
  }
  return undefined
}

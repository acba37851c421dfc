import { OperationError } from '../errors/index.js'
import { objectsAt, stringAt } from '../json/index.js'
import { propertyValue, type CodeSystemProvider } from '../terminology/index.js'
import type { LookedUpProperty } from './looked-up.js'

/** What is told by parameters of their own, or made from the status and the hierarchy. */
const MADE: ReadonlySet<string> = new Set(['inactive', 'parent', 'child'])

/**
 * The properties of a concept: `inactive` always, the others when asked for by name or by `*`; all where properties are concepts.
 *
 * @param asked Codes of properties, or `*`.
 * @throws {OperationError} `not-supported` when one is asked for that the system defines and that is not made here.
 */
export function conceptProperties(provider: CodeSystemProvider, concept: number, asked: readonly string[]): readonly LookedUpProperty[] {
  const all = asked.includes('*') || (asked.length === 0 && provider.header.propertiesAreConcepts === true)
  const { hierarchy, header } = provider
  const missing = asked.find((code) => header.missingProperties?.has(code))
  if (missing !== undefined) throw new OperationError('not-supported', `The property ${missing} of ${header.url} cannot be told.`)
  const wants = (code: string): boolean => asked.includes(code) || (all && header.namedProperties?.has(code) !== true)
  return [
    { code: 'inactive', value: ['valueBoolean', provider.status(concept).inactive] },
    ...(wants('parent') ? hierarchy.parents(concept).map((other) => relative(provider, 'parent', other)) : []),
    ...(wants('child') ? hierarchy.children(concept).map((other) => relative(provider, 'child', other)) : []),
    ...statedProperties(provider, concept).filter(({ code }) => !MADE.has(code) && wants(code)),
  ]
}

function relative(provider: CodeSystemProvider, code: string, other: number): LookedUpProperty {
  return { code, value: ['valueCode', provider.code(other)], ...described('description', displayOf(provider, other)) }
}

function statedProperties(provider: CodeSystemProvider, concept: number): readonly LookedUpProperty[] {
  return provider
    .sources(concept)
    .flatMap((source) => objectsAt(source.concept, 'property'))
    .flatMap((property) => {
      const [code, value] = [stringAt(property, 'code'), propertyValue(property)]
      return code === undefined || value === undefined ? [] : [{ code, value, ...displays(provider, code, value) }]
    })
}

/** The displays of a property and its value where both are concepts of the system. */
function displays(provider: CodeSystemProvider, code: string, [name, value]: LookedUpProperty['value']): Partial<LookedUpProperty> {
  if (provider.header.propertiesAreConcepts !== true) return {}
  const shown = (one: unknown): string | undefined => displayOf(provider, typeof one === 'string' ? provider.find(one) : undefined)
  return { ...described('codeDisplay', shown(code)), ...described('description', name === 'valueCode' ? shown(value) : undefined) }
}

function displayOf(provider: CodeSystemProvider, concept: number | undefined): string | undefined {
  return concept === undefined ? undefined : provider.sources(concept).flatMap((source) => stringAt(source.concept, 'display') ?? [])[0]
}

function described(member: 'description' | 'codeDisplay', text: string | undefined): Partial<LookedUpProperty> {
  return text === undefined ? {} : { [member]: text }
}

import { objectsAt, stringAt } from '../json/index.js'
import { propertyValue, type CodeSystemProvider } from '../terminology/index.js'
import type { LookedUpProperty } from './looked-up.js'

/** What is told by parameters of their own, or made from the status and the hierarchy. */
const MADE: ReadonlySet<string> = new Set(['inactive', 'parent', 'child'])

/**
 * The properties of a concept: `inactive` always, the others when asked for by name or by `*`.
 *
 * @param asked Codes of properties, or `*`.
 */
export function conceptProperties(provider: CodeSystemProvider, concept: number, asked: readonly string[]): readonly LookedUpProperty[] {
  const wants = (code: string): boolean => asked.includes('*') || asked.includes(code)
  const { hierarchy } = provider
  return [
    { code: 'inactive', value: ['valueBoolean', provider.status(concept).inactive] },
    ...(wants('parent') ? hierarchy.parents(concept).map((other) => relative(provider, 'parent', other)) : []),
    ...(wants('child') ? hierarchy.children(concept).map((other) => relative(provider, 'child', other)) : []),
    ...statedProperties(provider, concept).filter(({ code }) => !MADE.has(code) && wants(code)),
  ]
}

function relative(provider: CodeSystemProvider, code: string, other: number): LookedUpProperty {
  const [description] = provider.sources(other).flatMap((source) => stringAt(source.concept, 'display') ?? [])
  return { code, value: ['valueCode', provider.code(other)], ...(description !== undefined && { description }) }
}

function statedProperties(provider: CodeSystemProvider, concept: number): readonly LookedUpProperty[] {
  return provider
    .sources(concept)
    .flatMap((source) => objectsAt(source.concept, 'property'))
    .flatMap((property) => {
      const [code, value] = [stringAt(property, 'code'), propertyValue(property)]
      return code === undefined || value === undefined ? [] : [{ code, value }]
    })
}

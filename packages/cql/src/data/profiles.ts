import type { OperationContext } from 'fhir-ops/context'
import { OperationError } from 'fhir-ops/errors'
import { canonicalOf } from 'fhir-ops/internal/content'
import { quoted } from 'fhir-ops/internal/errors'
import { oneOf, type MemberKind } from 'fhir-ops/internal/input'
import type { ProfileTest } from '../compile/compiler.js'
import { isNode, nodesAt, textAt, type ElmNode } from '../elm/node.js'
import { memberOf } from '../model/property.js'
import type { FhirElement } from '../values/value.js'

/**
 * Which resources of its type a retrieve by profile (`[ServiceNotRequested]`) finds: those with the values that the profile fixes, if the profile is known
 * (`fixed`), those that declare the profile in `meta.profile` (`declared`), or all (`any`).
 */
export type RetrievedProfiles = 'any' | 'declared' | 'fixed'

/** Shape of the option, for checks of plain JavaScript. */
export const RETRIEVED_PROFILES: MemberKind = oneOf('any', 'declared', 'fixed')

/** The profiles that retrieves name. */
export interface Profiles {
  /** Returns the test of a profile. With the mode `fixed`, it accepts all resources before `load`. */
  test(canonical: string): ProfileTest
  /** @throws {OperationError} `too-costly` for a profile that fixes more than 5,000 characters. */
  load(): Promise<void>
}

/** A value that a profile fixes within an item of an element. */
interface Fixed {
  /** Names of the elements from the item to the value; empty for the item itself. */
  readonly path: readonly string[]
  readonly value: unknown
}

/** Values that a profile fixes in an element directly below the resource. Every item must have them; if they belong to a slice, at least one item. */
interface FixedItem {
  /** Name in JSON. */
  readonly element: string
  readonly isSlice: boolean
  readonly isNeeded: boolean
  readonly values: readonly Fixed[]
}

/** Maximum number of characters that a profile fixes, as they are compared with each candidate of a retrieve. Published profiles have some hundred. */
const MAX_TEXT = 5_000

/** Reads profiles from the content of a context. Like the definitions that `$validate` uses, they require no rights. */
export function createProfiles(ctx: OperationContext, mode: RetrievedProfiles): Profiles {
  const asked = new Map<string, FixedItem[]>()
  return {
    test: (canonical) => {
      const { url } = canonicalOf(canonical)
      if (mode === 'declared')
        return { asked: () => [{ element: 'meta', url }], missing: ({ json }) => (declares(json, url) ? undefined : 'meta.profile') }
      const items = asked.get(canonical) ?? []
      if (mode === 'fixed') asked.set(canonical, items)
      return { asked: () => items, missing: ({ json }) => items.find((item) => !hasItem(json, item))?.element }
    },
    load: async () => {
      for (const [canonical, items] of asked) {
        const fixed = await fixedBy(ctx, canonical)
        if (JSON.stringify(fixed).length > MAX_TEXT)
          throw new OperationError(
            'too-costly',
            `The profile ${quoted(canonical)} fixes values of more than ${MAX_TEXT} characters, too many to compare with each resource.`,
          )
        items.splice(0, items.length, ...fixed)
      }
    },
  }
}

function declares(json: FhirElement['json'], url: string): boolean {
  const profiles = memberOf(memberOf(json, 'meta'), 'profile')
  return Array.isArray(profiles) && profiles.some((one) => typeof one === 'string' && canonicalOf(one).url === url)
}

function hasItem(json: unknown, { element, isSlice, isNeeded, values }: FixedItem): boolean {
  const given = memberOf(json, element)
  if (given === undefined) return !isNeeded
  const items: readonly unknown[] = Array.isArray(given) ? given : [given]
  const isMet = (item: unknown): boolean => values.every(({ path, value }) => valuesAt(item, path).some((one) => matches(one, value)))
  return isSlice ? items.some(isMet) : items.every(isMet)
}

function valuesAt(value: unknown, [name, ...path]: readonly string[]): readonly unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, name === undefined ? path : [name, ...path]))
  return name === undefined ? [value] : valuesAt(memberOf(value, name), path)
}

/** Whether a value matches a pattern: it has every member and item of the pattern, and may have others. */
function matches(value: unknown, pattern: unknown): boolean {
  if (Array.isArray(pattern)) return Array.isArray(value) && pattern.every((part) => value.some((item) => matches(item, part)))
  if (isNode(pattern)) return Object.entries(pattern).every(([name, part]) => matches(memberOf(value, name), part))
  return value === pattern
}

/** Maximum number of profiles in a chain of base definitions. */
const MAX_BASES = 20

/** The values that a profile and its base profiles fix; empty if it is not known. */
async function fixedBy(ctx: OperationContext, profile: string): Promise<readonly FixedItem[]> {
  const items: FixedItem[] = []
  let next: string | undefined = profile
  for (let bases = 0; next !== undefined && bases < MAX_BASES; bases++) {
    const { url, version } = canonicalOf(next)
    const definition: ElmNode = (await ctx.content.resolve('StructureDefinition', url, version))?.resource ?? {}
    if (textAt(definition, 'derivation') !== 'constraint') break
    const snapshot = nodesAt(memberNode(definition, 'snapshot'), 'element')
    items.push(...fixedItems(snapshot.length > 0 ? snapshot : nodesAt(memberNode(definition, 'differential'), 'element')))
    next = snapshot.length > 0 ? undefined : textAt(definition, 'baseDefinition')
  }
  return items
}

function memberNode(node: ElmNode, name: string): ElmNode {
  const member = memberOf(node, name)
  return isNode(member) ? member : {}
}

function fixedItems(elements: readonly ElmNode[]): readonly FixedItem[] {
  const byId = new Map(elements.map((element) => [textAt(element, 'id') ?? '', element]))
  const isNeeded = (id: string): boolean => Number(byId.get(id)?.['min'] ?? 0) > 0
  const items = new Map<string, FixedItem & { readonly values: Fixed[] }>()
  for (const element of elements) {
    const [type = '', root, ...below] = (textAt(element, 'id') ?? '').split('.')
    const value = fixedValue(element, root)
    const [name = '', slice] = root?.split(':') ?? []
    // A value within an optional element is not required.
    const above = below.map((_, at) => [type, root, ...below.slice(0, at + 1)].join('.'))
    const isSlice = slice !== undefined
    if (value === undefined || name.includes('[') || !above.every(isNeeded) || (isSlice && !isNeeded(`${type}.${root}`))) continue
    const key = `${type}.${root}`
    const item = items.get(key) ?? { element: name, isSlice, isNeeded: isNeeded(key), values: [] }
    items.set(key, item)
    item.values.push({ path: below.map((part) => part.split(':')[0] ?? part), value })
  }
  return [...items.values()]
}

/** The value that an element fixes. For an extension with a profile, this is an object with its url. */
function fixedValue(element: ElmNode, root: string | undefined): unknown {
  const name = Object.keys(element).find((member) => /^(?:fixed|pattern)[A-Z]/.test(member))
  if (name !== undefined) return element[name]
  const isExtension = root?.startsWith('extension:') === true || root?.startsWith('modifierExtension:') === true
  const profiles = isExtension ? nodesAt(element, 'type')[0]?.['profile'] : undefined
  const [profile] = Array.isArray(profiles) ? profiles : []
  return typeof profile === 'string' ? { url: canonicalOf(profile).url } : undefined
}

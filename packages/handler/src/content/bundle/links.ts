import type { TypeDefinition, TypeModel } from 'fhir-ops/fhirpath'
import { jsonItems, jsonMembers } from 'fhir-ops/storage'
import type { Work } from 'fhir-ops/work'

/** A link in a resource: a literal reference, an element of the types uri, url, oid and uuid, or an address in a narrative. */
export interface Link {
  readonly target: string
  readonly isReference: boolean
}

/** What stands in place of a link; `undefined` leaves it. */
export type Relink = (link: Link) => string | undefined

/**
 * Replaces links in a resource's text; everything else stays as it is written, but for blanks. Canonicals are not links.
 *
 * @param text A resource, known to be well-formed JSON.
 * @see https://hl7.org/fhir/R4/http.html#trules
 */
export function relinked(text: string, model: TypeModel, relink: Relink): Work<string> {
  return rewritten({ model, relink }, text, { type: undefined, isReference: false })
}

interface Scope {
  readonly model: TypeModel
  readonly relink: Relink
}

interface Place {
  /** `undefined` where any resource may stand, and for what the model does not know. */
  readonly type: TypeDefinition | undefined
  /** True for `Reference.reference`, which is a plain string in R4. */
  readonly isReference: boolean
}

/** Lists and objects are written while other work runs in between. */
function* rewritten(scope: Scope, text: string, place: Place): Work<string> {
  yield
  if (text.startsWith('{')) return yield* objectText(scope, text, place.type)
  const items: string[] = []
  for (const item of jsonItems(text)) items.push(isContainer(item) ? yield* rewritten(scope, item, place) : scalarText(scope, item, place))
  return `[${items.join(',')}]`
}

function* objectText(scope: Scope, text: string, given: TypeDefinition | undefined): Work<string> {
  const members = jsonMembers(text)
  const type = resourceType(scope, members.find(({ name }) => name === 'resourceType')?.value) ?? given
  const written: string[] = []
  for (const { name, value } of members) {
    const slot = type?.members.get(name)
    const isReference = type?.name === 'Reference' && name === 'reference'
    const place = { type: slot && scope.model.type(slot.type), isReference }
    const valueText = isContainer(value) ? yield* rewritten(scope, value, place) : scalarText(scope, value, place)
    written.push(`${JSON.stringify(name)}:${valueText}`)
  }
  return `{${written.join(',')}}`
}

function isContainer(text: string): boolean {
  return text.startsWith('{') || text.startsWith('[')
}

function resourceType({ model }: Scope, name: string | undefined): TypeDefinition | undefined {
  const parsed: unknown = JSON.parse(name ?? 'null')
  return typeof parsed === 'string' ? model.type(parsed) : undefined
}

const LINK_TYPES: ReadonlySet<string> = new Set(['uri', 'url', 'oid', 'uuid'])

function scalarText({ relink }: Scope, text: string, { type, isReference }: Place): string {
  const name = type?.name ?? ''
  if (!text.startsWith('"') || (!isReference && name !== 'xhtml' && !LINK_TYPES.has(name))) return text
  const target = String(JSON.parse(text))
  const replaced = name === 'xhtml' ? narrative(target, relink) : relink({ target, isReference })
  return replaced === undefined || replaced === target ? text : JSON.stringify(replaced)
}

function narrative(xhtml: string, relink: Relink): string {
  return xhtml.replace(/\b(href|src)="([^"]*)"/g, (whole, name: string, target: string) => {
    const replaced = relink({ target, isReference: false })
    return replaced === undefined ? whole : `${name}="${replaced}"`
  })
}

import { typeDefinition, type SlotParts, type SystemType, type TypeDefinition, type TypeModel } from '../fhirpath/model.js'
import { objectAt, stringAt, type JsonObject } from '../json/index.js'
import { choiceName } from '../text/index.js'

/** FHIRPath types of values of these types and of types derived from them. */
const SYSTEM_TYPES: ReadonlyMap<string, SystemType> = new Map([
  ['base64Binary', 'String'],
  ['boolean', 'Boolean'],
  ['date', 'Date'],
  ['dateTime', 'DateTime'],
  ['decimal', 'Decimal'],
  ['instant', 'DateTime'],
  ['integer', 'Integer'],
  ['Quantity', 'Quantity'],
  ['string', 'String'],
  ['time', 'Time'],
  ['uri', 'String'],
  ['xhtml', 'String'],
])

/**
 * Creates the type model of a FHIR release from a table. Each type is read at its first use.
 *
 * @param table Entries `{kind, base?, elements}` by type name or path of a nested element. `elements` maps names (`deceased[x]` for a choice)
 *   to types separated by bars, with `*` at the end for a list: `boolean|dateTime`, `Patient.contact*`. Inherited elements are not repeated.
 */
export function typeModelOf(table: JsonObject): TypeModel {
  const made = new Map<string, TypeDefinition>()
  const type = (name: string): TypeDefinition | undefined => {
    const known = made.get(name)
    if (known !== undefined) return known
    const entry = objectAt(table, name)
    if (entry === undefined) return undefined
    const base = stringAt(entry, 'base')
    const definition = definitionOf(name, entry, base === undefined ? undefined : type(base))
    made.set(name, definition)
    return definition
  }
  return { type, names: () => Object.keys(table) }
}

function definitionOf(name: string, entry: JsonObject, base: TypeDefinition | undefined): TypeDefinition {
  const system = SYSTEM_TYPES.get(name) ?? base?.system
  const own = Object.entries(objectAt(entry, 'elements') ?? {}).flatMap(([key, shape]) => slotsOf(key, String(shape)))
  return typeDefinition({
    name,
    ...(base !== undefined && { base: base.name }),
    kind: kindOf(stringAt(entry, 'kind')),
    ...(system !== undefined && { system }),
    slots: [...(base?.members.values() ?? []), ...own],
  })
}

function kindOf(text: string | undefined): TypeDefinition['kind'] {
  if (text === 'primitive-type') return 'primitive'
  return text === 'resource' ? 'resource' : 'complex'
}

function slotsOf(key: string, shape: string): readonly SlotParts[] {
  const isCollection = shape.endsWith('*')
  const isChoice = key.endsWith('[x]')
  const name = isChoice ? key.slice(0, -'[x]'.length) : key
  return (isCollection ? shape.slice(0, -1) : shape).split('|').map((type) => ({
    name,
    jsonName: isChoice ? choiceName(name, type) : name,
    type,
    isCollection,
    isChoice,
  }))
}

import { OperationError } from '../errors/index.js'
import { explanationExtension } from '../explain/index.js'
import { objectsAt, stringAt, type JsonObject } from '../json/index.js'
import type { ConceptText } from '../terminology/index.js'
import type { Work } from '../work/index.js'
import { designationExtensions } from './entry-extensions.js'
import type { EntryProperty, Expansion, ExpansionEntry } from './expansion.js'

const LATER = 'http://hl7.org/fhir/5.0/StructureDefinition/extension-ValueSet.expansion'
const UNCLOSED = 'http://hl7.org/fhir/StructureDefinition/valueset-unclosed'

/** Not repeated: what is known about the status of what was used is told by the parameters of the expansion. */
const STANDARDS_STATUS = 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status'

/** What of a value set stands in its expansion. */
const KEPT = ['language', 'url', 'version', 'name', 'title', 'status', 'experimental'] as const

/** What is made for each answer. */
export interface Stamp {
  /** Random UUID. */
  readonly id: string
  readonly now: Date
}

/** Writes an expansion as a ValueSet; properties, which R4 does not know, as extensions. Many codes take their time. */
export function* writeExpansion(expansion: Expansion, stamp: Stamp): Work<JsonObject> {
  const { resource } = expansion.valueSet
  const kept = KEPT.filter((member) => Object.hasOwn(resource, member)).map((member) => [member, resource[member]] as const)
  const own = objectsAt(resource, 'extension').filter((item) => stringAt(item, 'url') !== STANDARDS_STATUS)
  const extension = [
    ...unclosed(expansion.unclosed),
    ...expansion.properties.map(declaredProperty),
    ...explanationExtension(expansion.explanation),
  ]
  const contains = yield* writeEntries(expansion.contains)
  return {
    resourceType: 'ValueSet',
    ...(own.length > 0 && { extension: own }),
    ...Object.fromEntries(kept),
    expansion: {
      ...(extension.length > 0 && { extension }),
      identifier: `urn:uuid:${stamp.id}`,
      timestamp: stamp.now.toISOString(),
      ...(expansion.total !== undefined && { total: expansion.total }),
      offset: expansion.offset,
      ...(expansion.parameters.length > 0 && {
        parameter: expansion.parameters.map(({ name, type, value }) => ({ name, [`value${type}`]: value })),
      }),
      ...(contains.length > 0 && { contains }),
    },
  }
}

const STEPS = 256
/** Of codes in codes. Readers of JSON give up not much deeper, 1,000 levels being a common limit. */
const MAX_NESTING = 400

function* writeEntries(entries: readonly ExpansionEntry[], level = 1): Work<readonly JsonObject[]> {
  if (level > MAX_NESTING)
    throw new OperationError('too-costly', `The hierarchy has more than ${MAX_NESTING} levels: ask with excludeNested=true.`)
  const written: JsonObject[] = []
  for (const entry of entries) {
    const contains = entry.contains.length === 0 ? [] : yield* writeEntries(entry.contains, level + 1)
    written.push({ ...writeEntry(entry), ...(contains.length > 0 && { contains }) })
    if (written.length % STEPS === 0) yield
  }
  return written
}

/** Writes one code of an expansion as `ValueSet.expansion.contains`, without the codes below it. */
export function writeEntry(entry: ExpansionEntry): JsonObject {
  const extension = [...entry.extensions, ...entry.properties.map(entryProperty)]
  return {
    ...(extension.length > 0 && { extension }),
    system: entry.system,
    ...(entry.abstract && { abstract: true }),
    ...(entry.inactive && { inactive: true }),
    ...(entry.version !== undefined && { version: entry.version }),
    code: entry.code,
    ...(entry.display !== undefined && { display: entry.display }),
    ...(entry.designations.length > 0 && { designation: entry.designations.map(writeDesignation) }),
  }
}

function writeDesignation({ value, language, use, extension }: ConceptText): JsonObject {
  const kept = designationExtensions(extension)
  return {
    ...(kept.length > 0 && { extension: kept }),
    ...(language !== undefined && { language }),
    ...(use !== undefined && { use }),
    value,
  }
}

function entryProperty({ code, value: [name, value] }: EntryProperty): JsonObject {
  return {
    url: `${LATER}.contains.property`,
    extension: [
      { url: 'code', valueCode: code },
      { url: 'value', [name]: value },
    ],
  }
}

function declaredProperty({ code, uri }: Expansion['properties'][number]): JsonObject {
  const parts = [{ url: 'code', valueCode: code }, ...(uri === undefined ? [] : [{ url: 'uri', valueUri: uri }])]
  return { url: `${LATER}.property`, extension: parts }
}

function unclosed(reasons: Expansion['unclosed']): readonly JsonObject[] {
  if (reasons.length === 0) return []
  return [
    { url: UNCLOSED, valueBoolean: true },
    ...reasons.flatMap((reason) => (reason === undefined ? [] : [{ url: `${UNCLOSED}-reason`, valueString: reason }])),
  ]
}

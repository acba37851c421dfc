import type { JsonObject } from 'fhir-ops/internal/json'
import type { ImplicitType } from 'fhir-ops/internal/terminology'
import type { ImportedSystem } from 'fhir-ops/terminology'
import { eclProblem, openSnomed } from './open-snomed.js'
import { snomedProvider } from './provider/snomed-provider.js'
import { displayDialect, displayTerm } from './provider/texts.js'
import { SNOMED_FORMAT } from './release/section-reader.js'
import type { SnomedIndex } from './release/snomed-index.js'
import { pickSnomedVersion, SNOMED, snomedVersion } from './sctid.js'

/**
 * SNOMED CT, for `codeSystems` of a context: the editions and versions imported into its `concepts`, with the Expression Constraint Language,
 * postcoordinated expressions, and the implicit value sets and concept maps.
 *
 * @see https://hl7.org/fhir/R4/snomedct.html
 */
export function snomed(): ImportedSystem {
  return {
    url: SNOMED,
    name: 'SNOMED CT',
    format: SNOMED_FORMAT,
    bytesPerConcept: 200,
    open(sections, header) {
      const system = openSnomed(sections, header)
      return {
        provider: () => snomedProvider(system),
        implicitResource: (type, canonical) => implicitResource(system.index, type, canonical),
      }
    },
    pickVersion: pickSnomedVersion,
    implicitVersion: implicitCanonical,
    filterProblem: ({ property, op, value }) => (property === 'constraint' && op === '=' ? eclProblem(value) : undefined),
  }
}

/** A parsed canonical of something that SNOMED CT defines without a resource. */
interface ImplicitCanonical {
  /** Version or edition that the canonical names. */
  readonly version?: string
  /** The decoded part after `=`; absent without `=`. */
  readonly value?: string
}

const PARAMETERS = { ValueSet: 'fhir_vs', ConceptMap: 'fhir_cm' } as const

/**
 * Parses the canonical of an implicit value set (`?fhir_vs`) or concept map (`?fhir_cm`); returns `undefined` for any other canonical.
 *
 * @see https://hl7.org/fhir/R4/snomedct.html#implicit
 */
function implicitCanonical(type: ImplicitType, canonical: string): ImplicitCanonical | undefined {
  const mark = canonical.indexOf('?')
  const base = canonical.slice(0, Math.max(mark, 0))
  const query = canonical.slice(mark + 1)
  if (base !== SNOMED && snomedVersion(base) === undefined) return undefined
  const version = base === SNOMED ? {} : { version: base }
  const parameter = PARAMETERS[type]
  if (query === parameter) return version
  return query.startsWith(`${parameter}=`) ? { ...version, value: decoded(query.slice(parameter.length + 1)) } : undefined
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the resource of an implicit canonical; `undefined` if the release has no such concept or reference set. */
function implicitResource(index: SnomedIndex, type: ImplicitType, canonical: string): JsonObject | undefined {
  const named = implicitCanonical(type, canonical)
  if (named === undefined) return undefined
  return type === 'ValueSet' ? implicitValueSet(index, canonical, named) : implicitMap(index, canonical, named)
}

/** Makes the value set of all codes, `isa/X`, `refset`, `refset/X` or `ecl/E`. */
function implicitValueSet(index: SnomedIndex, url: string, { version, value }: ImplicitCanonical): JsonObject | undefined {
  const content = contentOf(index, value)
  if (content === undefined) return undefined
  const include = { system: SNOMED, ...(version !== undefined && { version: index.header.version }), ...content.part }
  return { resourceType: 'ValueSet', url, title: content.title, status: 'active', compose: { include: [include] } }
}

/** Content of an implicit value set, with the title that the specification's templates define. @see https://hl7.org/fhir/R4/snomedct.html#implicit */
interface Content {
  readonly title: string
  readonly part: JsonObject
}

function contentOf(index: SnomedIndex, value: string | undefined): Content | undefined {
  if (value === undefined) return { title: 'SNOMED CT Reference Set (All of SNOMED CT)', part: {} }
  if (value === 'refset') return { title: 'SNOMED CT Reference Sets', part: { concept: refsets(index) } }
  const [kind, ...rest] = value.split('/')
  const named = rest.join('/')
  if (kind === 'ecl') return { title: `SNOMED CT Concepts matching ${named}`, part: filtered('constraint', '=', named) }
  if (!/^[0-9]+$/.test(named) || index.ids.find(named) === undefined) return undefined
  if (kind === 'isa') return { title: `SNOMED CT Concept ${named} and descendants`, part: filtered('concept', 'is-a', named) }
  const isRefset = index.refsets.find(named) !== undefined
  return kind === 'refset' && isRefset ? { title: `SNOMED CT Reference Set ${named}`, part: filtered('concept', 'in', named) } : undefined
}

function filtered(property: string, op: string, value: string): JsonObject {
  return { filter: [{ property, op, value }] }
}

function refsets(index: SnomedIndex): readonly JsonObject[] {
  return index.refsets.all.filter(({ id }) => index.ids.find(id) !== undefined).map(({ id }) => ({ code: id }))
}

/** Equivalences in the implicit maps, by association reference set. @see https://hl7.org/fhir/R4/snomedct.html#implicit-cm */
const EQUIVALENCE: ReadonlyMap<string, string> = new Map([
  ['900000000000523009', 'inexact'],
  ['900000000000526001', 'equivalent'],
  ['900000000000527005', 'equal'],
  ['900000000000530003', 'inexact'],
])

/** Makes the map of an association reference set, from inactive concepts to their targets. */
function implicitMap(index: SnomedIndex, url: string, { value }: ImplicitCanonical): JsonObject | undefined {
  if (value === undefined) return undefined
  const field = index.refsets.find(value)?.fields.indexOf('targetComponentId') ?? -1
  if (field < 0) return undefined
  const active = [...index.refsets.rows(value)].filter((row) => row.active)
  const bySource = Map.groupBy(active, ({ referencedComponentId }) => referencedComponentId)
  const equivalence = EQUIVALENCE.get(value) ?? 'relatedto'
  const element = Array.from(bySource, ([source, rows]) =>
    mapped(index, source, { target: rows.map(({ fields }) => mapped(index, fields[field] ?? '', { equivalence })) }),
  )
  const group = [{ source: SNOMED, target: SNOMED, element }]
  return { resourceType: 'ConceptMap', url, version: index.header.version, status: 'active', group }
}

/** Makes a concept of the map. Its display is read when it is accessed. */
function mapped(index: SnomedIndex, code: string, more: JsonObject): JsonObject {
  return {
    code,
    get display() {
      const concept = index.ids.find(code)
      return concept === undefined ? undefined : displayTerm(index, concept, displayDialect(index))
    },
    ...more,
  }
}

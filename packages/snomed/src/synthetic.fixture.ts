import { memoryConceptStore } from 'fhir-ops/memory'
import type { ConceptStore } from 'fhir-ops/storage'
import { snomedBuilder, type Rf2Kind } from './build/snomed-parts.js'
import { SCT, withCheckDigit } from './sctid.js'

const DATE = '20240101'
const MODULE = SCT.core
const US = '900000000000509007'
const GB = '900000000000508004'

/** An invented id of a concept. */
export function conceptId(number: number): string {
  return withCheckDigit(`${1000 + number}00`)
}

type SyntheticName =
  | 'body'
  | 'organ'
  | 'lobe'
  | 'limb'
  | 'disorder'
  | 'swelling'
  | 'twin'
  | 'both'
  | 'organDisorder'
  | 'old'
  | 'shape'
  | 'lump'
  | 'site'
  | 'form'
  | 'dose'
  | 'brand'
  | 'picks'
  | 'map'
  | 'scheme'

/** Ids of the invented concepts: body structures, disorders, shapes, attributes, reference sets. */
export const ID: Readonly<Record<SyntheticName, string>> = {
  body: conceptId(1),
  organ: conceptId(2),
  lobe: conceptId(3),
  limb: conceptId(4),
  disorder: conceptId(5),
  swelling: conceptId(6),
  twin: conceptId(7),
  both: conceptId(8),
  organDisorder: conceptId(9),
  old: conceptId(10),
  shape: conceptId(11),
  lump: conceptId(12),
  site: conceptId(13),
  form: conceptId(14),
  dose: conceptId(15),
  brand: conceptId(16),
  picks: conceptId(17),
  map: conceptId(18),
  scheme: conceptId(19),
}

const REPLACED_BY = '900000000000526001'

/** Id, parents, fully specified name, synonyms (the first preferred), and whether it is fully defined. */
const CONCEPTS: readonly (readonly [string, readonly string[], string, readonly string[], boolean?])[] = [
  [SCT.root, [], 'Root (root)', ['Root']],
  [SCT.isA, [SCT.conceptModelAttribute], 'Is a (attribute)', ['Is a']],
  [SCT.conceptModelAttribute, [SCT.root], 'Model attribute (attribute)', ['Model attribute']],
  [SCT.historicalAssociation, [SCT.root], 'Historical association (foundation)', ['Historical association']],
  [REPLACED_BY, [SCT.historicalAssociation], 'Replaced by (foundation)', ['Replaced by']],
  [MODULE, [SCT.root], 'Core (module)', ['Core']],
  [SCT.defined, [SCT.root], 'Defined (status)', ['Defined']],
  [US, [SCT.root], 'American (foundation)', ['American']],
  [GB, [SCT.root], 'British (foundation)', ['British']],
  [ID.site, [SCT.conceptModelAttribute], 'Site (attribute)', ['Site']],
  [ID.form, [SCT.conceptModelAttribute], 'Form (attribute)', ['Form']],
  [ID.dose, [SCT.conceptModelAttribute], 'Dose (attribute)', ['Dose']],
  [ID.brand, [SCT.conceptModelAttribute], 'Brand (attribute)', ['Brand']],
  [ID.body, [SCT.root], 'Body part (body)', ['Body part']],
  [ID.organ, [ID.body], 'Organ of body (body)', ['Organ', 'Inner part']],
  [ID.lobe, [ID.organ], 'Lobe of organ (body)', ['Lobe']],
  [ID.limb, [ID.body], 'Limb (body)', ['Limb']],
  [ID.shape, [SCT.root], 'Shape (shape)', ['Shape']],
  [ID.lump, [ID.shape], 'Lump (shape)', ['Lump']],
  [ID.disorder, [SCT.root], 'Disorder (disorder)', ['Disorder']],
  [ID.swelling, [ID.organDisorder], 'Swelling of organ (disorder)', ['Swollen organ', 'Œdème of organ']],
  [ID.twin, [ID.organDisorder], 'Twin disorder (disorder)', ['Twin disorder']],
  [ID.both, [ID.swelling, ID.twin], 'Both disorders (disorder)', ['Both disorders']],
  [ID.organDisorder, [ID.disorder], 'Disorder of organ (disorder)', ['Organ disorder'], true],
  [ID.picks, [SCT.root], 'Picks (reference set)', ['Picks']],
  [ID.map, [SCT.root], 'Map (reference set)', ['Map']],
  [ID.scheme, [SCT.root], 'Catalogue identifier (scheme)', ['CATALOGUE']],
]

/** Source, attribute, value, role group. */
const ATTRIBUTES: readonly (readonly [string, string, string, number])[] = [
  [ID.organDisorder, ID.site, ID.organ, 1],
  [ID.swelling, ID.site, ID.organ, 1],
  [ID.swelling, ID.form, ID.lump, 1],
  [ID.twin, ID.site, ID.organ, 1],
  [ID.twin, ID.site, ID.limb, 2],
  [ID.both, ID.site, ID.lobe, 1],
  [ID.both, ID.site, ID.organ, 2],
  [ID.both, ID.form, ID.lump, 3],
  [ID.both, ID.dose, '#2.5', 0],
  [ID.both, ID.brand, '"Acme Forte"', 0],
]

type Row = readonly [kind: Rf2Kind, row: readonly string[], columns: readonly string[]]

interface Named {
  readonly concept: string
  readonly type: string
  readonly term: string
  readonly isActive?: boolean
  /** By dialect: American, British. Default: preferred in both. */
  readonly acceptability?: readonly [string, string]
}

const ORDER: readonly Rf2Kind[] = ['concept', 'description', 'relationship', 'language', 'refset', 'identifier']

/** The rows of a small release with invented concepts. */
function syntheticRows(): readonly Row[] {
  const rows = [...conceptRows(), ...named().flatMap(nameRows), ...relationshipRows(), ...refsetRows(), ...identifierRows()]
  return rows.toSorted((a, b) => ORDER.indexOf(a[0]) - ORDER.indexOf(b[0]))
}

function conceptRows(): readonly Row[] {
  const current = CONCEPTS.map(([id, , , , isDefined]): Row => {
    return ['concept', [id, DATE, '1', MODULE, isDefined === true ? SCT.defined : SCT.primitive], []]
  })
  return [...current, ['concept', [ID.old, '20200131', '0', MODULE, SCT.primitive], []]]
}

/** The first synonym is preferred; British English prefers another one for organs. */
function named(): readonly Named[] {
  const names = CONCEPTS.flatMap(([concept, , name, synonyms]): Named[] => [
    { concept, type: SCT.fullySpecifiedName, term: name },
    ...synonyms.map((term, i): Named => {
      const [first, second] = i === 0 ? [SCT.preferred, SCT.acceptable] : [SCT.acceptable, SCT.preferred]
      return { concept, type: SCT.synonym, term, acceptability: [first, concept === ID.organ ? second : first] }
    }),
  ])
  return [
    ...names,
    { concept: ID.old, type: SCT.synonym, term: 'Old swelling' },
    { concept: ID.swelling, type: SCT.synonym, term: 'Swelled organ', isActive: false },
    { concept: ID.swelling, type: SCT.definition, term: 'An organ that is larger than it should be' },
  ]
}

function nameRows(
  { concept, type, term, isActive = true, acceptability = [SCT.preferred, SCT.preferred] }: Named,
  place: number,
): readonly Row[] {
  const id = withCheckDigit(`${5000 + place}01`)
  const active = isActive ? '1' : '0'
  const accepted = [US, GB].map((dialect, i): Row => {
    return ['language', [`l${place}-${i}`, DATE, active, MODULE, dialect, id, acceptability[i] ?? ''], []]
  })
  return [['description', [id, DATE, active, MODULE, concept, 'en', type, term, SCT.caseInsensitive], []], ...accepted]
}

function relationshipRows(): readonly Row[] {
  const hierarchy = CONCEPTS.flatMap(([id, parents]) => parents.map((parent) => [id, SCT.isA, parent, 0] as const))
  return [...hierarchy, ...ATTRIBUTES].map(([source, type, value, group], place) => {
    const id = withCheckDigit(`${9000 + place}02`)
    return ['relationship', [id, DATE, '1', MODULE, source, value, String(group), type, SCT.inferred, ''], []]
  })
}

function refsetRows(): readonly Row[] {
  const simple = ['id', 'effectiveTime', 'active', 'moduleId', 'refsetId', 'referencedComponentId']
  return [
    ['refset', ['m1', DATE, '1', MODULE, ID.picks, ID.swelling], simple],
    ['refset', ['m2', DATE, '0', MODULE, ID.picks, ID.twin], simple],
    ['refset', ['m3', DATE, '1', MODULE, REPLACED_BY, ID.old, ID.swelling], [...simple, 'targetComponentId']],
    ['refset', ['m4', DATE, '1', MODULE, ID.map, ID.both, '1', 'X10.2'], [...simple, 'mapPriority', 'mapTarget']],
    ['refset', ['m5', DATE, '1', MODULE, ID.map, ID.twin, '2', 'Y20'], [...simple, 'mapPriority', 'mapTarget']],
  ]
}

function identifierRows(): readonly Row[] {
  const columns = ['alternateIdentifier', 'effectiveTime', 'active', 'moduleId', 'identifierSchemeId', 'referencedComponentId']
  return [
    ['identifier', ['O-1', DATE, '1', MODULE, ID.scheme, ID.organ], columns],
    ['identifier', ['O-2', DATE, '0', MODULE, ID.scheme, ID.limb], columns],
    ['identifier', ['100-8', DATE, '1', MODULE, '30051010000102', ID.body], columns],
  ]
}

interface SyntheticOptions {
  readonly store?: ConceptStore
  /** The kind of rows to leave out. */
  readonly without?: Rf2Kind
}

/** Imports the small release into a store. */
export async function importSynthetic(
  version: string,
  { store = memoryConceptStore(), without }: SyntheticOptions = {},
): Promise<ConceptStore> {
  const builder = snomedBuilder(version)
  for (const [kind, row, columns] of syntheticRows()) if (kind !== without) builder.add(kind, row, columns)
  const { system, sections } = builder.finish()
  const staged = await store.stage(system)
  for (const [name, bytes] of sections) await staged.put(name, bytes)
  await staged.publish()
  return store
}

import type { JsonObject } from 'fhir-ops/json'

/** A name of a concept. */
export interface RxnormAtom {
  /** Term type: `SCD`, `IN` ... */
  readonly type: string
  readonly text: string
  /** False when it is suppressed. */
  readonly inUse: boolean
}

/** What a concept is to another one: `has_ingredient`. */
export interface RxnormRelation {
  readonly name: string
  readonly to: string
}

/** What a release says about a concept. */
export interface RxnormParts {
  readonly atoms: readonly RxnormAtom[]
  readonly relations: readonly RxnormRelation[]
  readonly semanticTypes: readonly SemanticType[]
}

/** A semantic type by its id, `T121`, and its name. */
export interface SemanticType {
  readonly id: string
  readonly name: string
}

const URL = 'http://www.nlm.nih.gov/research/umls/rxnorm'
/** Term types of names beside the one that a concept is called by. */
const OTHER_NAMES: ReadonlySet<string> = new Set(['SY', 'TMSY', 'PSN', 'ET'])

/** A concept by its names: the display is the name of the type that the concept has, in use before suppressed. */
export function rxnormConcept(code: string, { atoms, relations, semanticTypes }: RxnormParts): JsonObject {
  const main = atoms.toSorted((a, b) => rank(a) - rank(b))[0]
  const types = new Set(atoms.filter(({ type }) => !OTHER_NAMES.has(type)).map(({ type }) => type))
  return {
    code,
    ...(main !== undefined && { display: main.text }),
    designation: atoms
      .filter((atom) => atom !== main)
      .map(({ type, text }) => ({ language: 'en', use: { system: URL, code: type }, value: text })),
    property: [
      ...Array.from(types, (valueCode) => ({ code: 'TTY', valueCode })),
      ...semanticTypes.flatMap(({ id, name }) => [
        { code: 'STY', valueString: name },
        { code: 'TUI', valueCode: id },
      ]),
      ...relations.map(({ name, to }) => ({ code: name, valueCode: to })),
      ...(atoms.some(({ inUse }) => inUse) ? [] : [{ code: 'inactive', valueBoolean: true }]),
    ],
  }
}

function rank({ type, inUse }: RxnormAtom): number {
  return (inUse ? 0 : 2) + (OTHER_NAMES.has(type) ? 1 : 0)
}

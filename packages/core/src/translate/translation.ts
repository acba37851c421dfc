import type { CodeableConcept, Coding } from 'fhir/r4.js'
import type { Explained, ExplainOption } from '../context/index.js'
import { CODING, FLAG, inputShape, listOf, OBJECT, TEXT, type InputShape } from '../input/index.js'

/** Context of a coding: what is known about another element, tested against `dependsOn` of the map. */
export interface TranslateDependency {
  /** The `property` that a map's `dependsOn` names. */
  readonly element: string
  readonly concept: CodeableConcept
}

/** The concept to translate and the map to use. Exactly one of `coding` and `codeableConcept`; at least one thing that identifies a map. */
export interface TranslateInput extends ExplainOption {
  /** `system` and `code` are needed; `version` rules out groups made for another version of the system. */
  readonly coding?: Coding | undefined
  /** Every coding that has a system and a code is translated. */
  readonly codeableConcept?: CodeableConcept | undefined
  /** Id of a stored map. */
  readonly mapId?: string | undefined
  /** Canonical of a map, with or without `|version`. */
  readonly url?: string | undefined
  /** Version of the map; the newest that is not retired when absent. */
  readonly mapVersion?: string | undefined
  /** Canonical of the value set that the concept was chosen from; every map from it is used. */
  readonly source?: string | undefined
  /** Canonical of the value set to translate into; only maps into it are used. */
  readonly target?: string | undefined
  /** A map that is used for this call only. */
  readonly conceptMap?: object | undefined
  /** Resources that exist for this call only and hide stored ones. Their maps are searched when nothing else identifies one. */
  readonly resources?: readonly object[] | undefined
  /** Keep only translations into this code system. */
  readonly targetSystem?: string | undefined
  /** Used by mappings with `dependsOn`: such a mapping applies when every one of its conditions is met here. */
  readonly dependencies?: readonly TranslateDependency[] | undefined
  /** Go from target to source. `source`, `target` and `targetSystem` change their meaning too: they speak of the translation's direction. */
  readonly reverse?: boolean | undefined
}

/** What `translate` takes. */
export const TRANSLATE_INPUT: InputShape = inputShape<TranslateInput>({
  coding: CODING,
  codeableConcept: OBJECT,
  mapId: TEXT,
  url: TEXT,
  mapVersion: TEXT,
  source: TEXT,
  target: TEXT,
  conceptMap: OBJECT,
  resources: listOf(OBJECT),
  targetSystem: TEXT,
  dependencies: listOf(OBJECT),
  reverse: FLAG,
  explain: FLAG,
})

/** A further code that a mapping gives for another element. */
export interface TranslateProduct {
  readonly element: string
  readonly concept: Coding
}

/** One mapping that was found. */
export interface TranslateMatch {
  /** As the map states it, from source to target; absent for what a group's `unmapped` gives. */
  readonly equivalence?: string
  /** The translation; absent when the map says that there is none (`unmatched`). */
  readonly concept?: Coding
  /** The coding that was translated. */
  readonly from: Coding
  readonly products: readonly TranslateProduct[]
  /** `url|version` of the map; absent when the map has no url. */
  readonly map?: string
}

/** The outcome of a translation. */
export interface TranslateResult extends Explained {
  /** True when some match is neither `unmatched` nor `disjoint`. */
  readonly result: boolean
  /** What was looked for and where, when `result` is false. */
  readonly message?: string
  /** In the order of maps by canonical, then group, coding and target. */
  readonly matches: readonly TranslateMatch[]
}

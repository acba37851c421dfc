import type { CodeableConcept, Coding } from 'fhir/r4.js'
import type { ExplainOption } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import {
  CODE_INPUT,
  CODEABLE_CONCEPT,
  codeSource,
  type CodeSource,
  FLAG,
  inputShape,
  listOf,
  needed,
  OBJECT,
  objectWith,
  TEXT,
  type CodeInput,
  type InputShape,
} from '../input/index.js'

/**
 * Input of `translate`: a code, by `system` and `code`, `coding` or `codeableConcept`; at least one of `mapId`, `url`, `source`, `conceptMap` and
 * `resources`, which identify the map; and options.
 *
 * A `version` of the code excludes groups for another version of its system. Every coding of a `codeableConcept` that has system and code is
 * translated.
 */
export type TranslateInput = CodeInput & TranslateOptions

/** Options of a translation. */
export interface TranslateOptions extends ExplainOption {
  /** Id of a stored map. */
  readonly mapId?: string | undefined
  /** Canonical of a map, with or without `|version`. */
  readonly url?: string | undefined
  /** Version of the map. Default: the newest that is not retired. */
  readonly mapVersion?: string | undefined
  /** Canonical of the value set that the concept was chosen from; all maps from it are used. */
  readonly source?: string | undefined
  /** Canonical of the value set to translate into; only maps into it are used. */
  readonly target?: string | undefined
  /** A ConceptMap to use for this call only. */
  readonly conceptMap?: object | undefined
  /** Resources for this call only; they hide stored ones. ConceptMaps among them are used when nothing else identifies a map. */
  readonly resources?: readonly object[] | undefined
  /** Url of a code system; only translations into it are returned. */
  readonly targetSystem?: string | undefined
  /** Values that mappings with `dependsOn` require: such a mapping applies when all its conditions are met here. */
  readonly dependencies?: readonly TranslateDependency[] | undefined
  /** True: translate from target to source. `source`, `target` and `targetSystem` then refer to that direction. Default false. */
  readonly reverse?: boolean | undefined
}

/** The value of another element, compared with `dependsOn` of the map. */
export interface TranslateDependency {
  /** Name of the element, as in `property` of a map's `dependsOn`. */
  readonly element: string
  readonly concept: CodeableConcept
}

/** Shape by which `translate` checks its input. */
export const TRANSLATE_INPUT: InputShape = inputShape<TranslateInput>({
  ...CODE_INPUT,
  mapId: TEXT,
  url: TEXT,
  mapVersion: TEXT,
  source: TEXT,
  target: TEXT,
  conceptMap: OBJECT,
  resources: listOf(OBJECT),
  targetSystem: TEXT,
  dependencies: listOf(objectWith('a dependency (with element and concept)', { element: needed(TEXT), concept: needed(CODEABLE_CONCEPT) })),
  reverse: FLAG,
  explain: FLAG,
})

/** A code to look up in a map. */
export interface SourceCode {
  readonly system: string
  readonly code: string
  readonly version?: string
}

/**
 * Returns the codes to translate, each once, in their order.
 *
 * @throws {OperationError} as `codeSource`; `parameter-required` when nothing with system and code is given.
 */
export function sourceCodes(input: CodeInput): readonly SourceCode[] {
  const source = codeSource(input)
  const codes = source === 'codeableConcept' ? (input.codeableConcept?.coding ?? []).flatMap(usable) : usable(input.coding ?? input)
  if (codes.length === 0) throw codeRequired(source)
  return codes.length === 1 ? codes : onceEach(codes)
}

/** Creates the error for an input without a code to translate. @param source The member of the input that should have it. */
export function codeRequired(source: CodeSource = 'code'): OperationError {
  return new OperationError('parameter-required', 'A code to translate is required, together with its system.', { expression: [source] })
}

function usable({ system, code, version }: Coding): readonly SourceCode[] {
  if (!system || !code) return []
  return [{ system, code, ...(version !== undefined && { version }) }]
}

function onceEach(codes: readonly SourceCode[]): readonly SourceCode[] {
  return [...new Map(codes.map((code) => [JSON.stringify([code.system, code.version, code.code]), code])).values()]
}

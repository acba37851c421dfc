import type { CodeableConcept, Coding } from 'fhir/r4.js'
import type { ExplainOption } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import {
  CODE_INPUT,
  codeSource,
  type CodeSource,
  FLAG,
  inputShape,
  listOf,
  OBJECT,
  TEXT,
  type CodeInput,
  type InputShape,
} from '../input/index.js'

/**
 * What `translate` takes: a code by `system` and `code`, `coding` or `codeableConcept`; at least one of `mapId`, `url`, `source`, `conceptMap` and
 * `resources`, which identify the map; and options.
 *
 * A `version` of the code rules out groups made for another version of its system. Of a `codeableConcept` every coding with system and code
 * is translated.
 */
export type TranslateInput = CodeInput & TranslateOptions

/** Which maps are used, and how. */
export interface TranslateOptions extends ExplainOption {
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
  /** Resources that exist for this call only and hide stored ones. Their maps are used when nothing else identifies one. */
  readonly resources?: readonly object[] | undefined
  /** Url of a code system: only translations into it are returned. */
  readonly targetSystem?: string | undefined
  /** Used by mappings with `dependsOn`: such a mapping applies when every one of its conditions is met here. */
  readonly dependencies?: readonly TranslateDependency[] | undefined
  /** Go from target to source. `source`, `target` and `targetSystem` then refer to that direction. */
  readonly reverse?: boolean | undefined
}

/** The value of another element, tested against `dependsOn` of the map. */
export interface TranslateDependency {
  /** The element, as `property` of a map's `dependsOn` names it. */
  readonly element: string
  readonly concept: CodeableConcept
}

/** What `translate` checks its input by. */
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
  dependencies: listOf(OBJECT),
  reverse: FLAG,
  explain: FLAG,
})

/** A code that can be looked up in a map. */
export interface SourceCode {
  readonly system: string
  readonly code: string
  readonly version?: string
}

/**
 * The codes to translate, each once, in their order.
 *
 * @throws {OperationError} as `codeSource`; `parameter-required` when nothing with system and code is given.
 */
export function sourceCodes(input: CodeInput): readonly SourceCode[] {
  const source = codeSource(input)
  const codes = source === 'codeableConcept' ? (input.codeableConcept?.coding ?? []).flatMap(usable) : usable(input.coding ?? input)
  if (codes.length === 0) throw codeRequired(source)
  return codes.length === 1 ? codes : onceEach(codes)
}

/** The error for an input without a code that can be translated. @param source How the input gives it. */
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

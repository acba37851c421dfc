import { explained, forRequest, type OperationContext } from '../context/index.js'
import { quoted } from '../errors/index.js'
import { checkInput } from '../input/index.js'
import { sourceCodes, TRANSLATE_INPUT, type LooseTranslateInput, type SourceCode, type TranslateInput } from './input.js'
import type { MapIndex } from './map-index.js'
import { mapsFor } from './maps.js'
import type { TranslateMatch, TranslateResult } from './result.js'
import { mapStep } from './translation-steps.js'
import { matchesIn } from './walk.js'

const NO_TRANSLATION: ReadonlySet<string | undefined> = new Set(['unmatched', 'disjoint'])
const MAX_LISTED = 3

/**
 * Translates a code, or each coding of a CodeableConcept, with one ConceptMap or with every map from a value set.
 *
 * @returns All matches; that nothing matches is an answer, not an error.
 * @throws {OperationError} `source-ambiguous`, `parameter-required`, `parameter-invalid`; `not-found` for an unknown map;
 *   `definition-not-found`, `definition-invalid`, `too-costly` for a map whose `unmapped` cannot be followed.
 * @see https://hl7.org/fhir/R4/conceptmap-operation-translate.html
 */
export function translate(ctx: OperationContext, input: TranslateInput): Promise<TranslateResult> {
  return answerTranslate(ctx, input)
}

/** The same for input that is not typed as strictly. @throws {OperationError} as `translate`. */
export function answerTranslate(ctx: OperationContext, input: LooseTranslateInput): Promise<TranslateResult> {
  return explained(ctx, input, (own) => translated(own, input))
}

async function translated(ctx: OperationContext, input: LooseTranslateInput): Promise<TranslateResult> {
  checkInput(ctx, input, TRANSLATE_INPUT)
  ctx.authorize?.('read', 'ConceptMap', input.mapId)
  const codes = sourceCodes(input)
  const resources = [...(input.conceptMap === undefined ? [] : [input.conceptMap]), ...(input.resources ?? [])]
  const own = resources.length === 0 ? ctx : forRequest(ctx, { resources })
  const maps = await mapsFor(own, input)
  for (const map of maps) ctx.explain?.step(mapStep(map, input))
  const matches = await matchesIn(own, maps, { input, codes })
  const result = matches.some(isTranslation)
  return { result, ...(!result && { message: noTranslationText(codes, maps, input.targetSystem) }), matches }
}

function isTranslation({ equivalence }: TranslateMatch): boolean {
  return !NO_TRANSLATION.has(equivalence)
}

function noTranslationText(codes: readonly SourceCode[], maps: readonly MapIndex[], targetSystem: string | undefined): string {
  const what = listed(codes.map(({ system, code }) => `${quoted(code)} of ${quoted(system)}`))
  const where = listed(maps.map(({ canonical }) => (canonical === undefined ? 'the given ConceptMap' : `ConceptMap ${quoted(canonical)}`)))
  const into = targetSystem === undefined ? '' : ` into ${quoted(targetSystem)}`
  return `No translation of ${what}${into} was found in ${where}.`
}

function listed(texts: readonly string[]): string {
  const more = texts.length - MAX_LISTED
  const first = texts.slice(0, MAX_LISTED).join(', ')
  return more > 0 ? `${first} and ${more} more` : first
}

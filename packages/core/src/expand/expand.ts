import { createPace, explained, pacedText, type OperationContext } from '../context/index.js'
import type { WrittenResponse } from '../operation/index.js'
import { nameOf, refusal } from '../terminology/index.js'
import { expansionText } from './expansion-text.js'
import { declaredProperties, frameOf, possibleProperties, propertiesIn, type ExpansionFrame } from './frame.js'
import type { ExpandInput } from './input.js'
import { nestedSegment, pageEntries, streamedEntries } from './page.js'
import { writingValueSet, type ExpandResult, type ExpansionEntry } from './result.js'
import { selectedCodes, type Selection } from './selection.js'

/**
 * Lists the codes of a value set.
 *
 * @param ctx Provides definitions and limits. Use `forRequest` to add definitions that came with a request.
 * @returns All codes, or the requested page, in the order of the definition; nested where the value set is one branch of a code
 *   system, no page was requested and `excludeNested` is not set. In other value sets, a text filter sorts codes by relevance.
 * @throws {OperationError} `not-found` for an unknown value set; `content-not-found` for an unknown code system, version, import or
 *   supplement; `unprocessable` for circular imports or a forbidden version; `definition-invalid` for a value set that cannot be
 *   used; `not-supported` for an unknown filter; `too-costly` for more codes than `maxExpansion` when no `count` was given, or
 *   an answer of more than `maxAnswerBytes`.
 * @see https://hl7.org/fhir/R4/valueset-operation-expand.html
 */
export function expand(ctx: OperationContext, input: ExpandInput): Promise<ExpandResult> {
  return explained(ctx, input, async (own) => entriesOf(await selectWithinLimit(own, input)))
}

/**
 * Expands a value set to the JSON text that `toValueSet` would produce, in pieces. A flat expansion is written without creating its entries.
 *
 * @throws {OperationError} As `expand`.
 */
export async function expandToText(ctx: OperationContext, input: ExpandInput): Promise<WrittenResponse['text']> {
  if (input.explain === true) return [await valueSetText(ctx, await expand(ctx, input))]
  const selection = await selectWithinLimit(ctx, input)
  return nestedSegment(selection) === undefined ? expansionText(ctx, selection) : [await valueSetText(ctx, await entriesOf(selection))]
}

async function valueSetText(ctx: OperationContext, result: ExpandResult): Promise<string> {
  const resource = await createPace(ctx).run(writingValueSet(result))
  return pacedText(ctx, { ...resource })
}

/** @throws {OperationError} `too-costly` for more codes than `maxExpansion` when no `count` was given. */
async function selectWithinLimit(ctx: OperationContext, input: ExpandInput): Promise<Selection> {
  const selection = await selectedCodes(ctx, input)
  refuseTooMany(ctx, selection)
  return selection
}

async function entriesOf(selection: Selection): Promise<ExpandResult> {
  const contains = await pageEntries(selection)
  return { ...frameOf(selection, declaredProperties(selection, propertiesIn(contains))), contains }
}

/**
 * Streams the codes of a value set, without holding the whole answer in memory and without a limit on their number. The order is that of `expand` with
 * `excludeNested`: the order of the definition or, with a text filter, the best match first.
 *
 * @param input As for `expand`, including `offset` and `count`.
 * @yields Each code once.
 * @throws {OperationError} As `expand`, but never `too-costly` for the number of codes; `aborted` also between two codes. The time limit applies only
 *   up to the first code, because from then on the reader sets the pace.
 */
export async function* expandStream(ctx: OperationContext, input: ExpandInput): AsyncGenerator<ExpansionEntry, void, undefined> {
  yield* (await openExpansion(ctx, input)).entries
}

/** An expansion whose codes are streamed, never nested. */
export interface StreamedExpansion extends ExpansionFrame {
  /** Each code once. Can be iterated only once. */
  readonly entries: AsyncIterable<ExpansionEntry>
}

/** Like `expandStream`, but also returns the header of the expansion, before the first code. @throws {OperationError} As `expandStream`. */
export async function openExpansion(ctx: OperationContext, input: ExpandInput): Promise<StreamedExpansion> {
  const selection = await selectedCodes(ctx, input)
  const entries = await streamedEntries(selection)
  return { ...frameOf(selection, possibleProperties(selection)), entries }
}

function refuseTooMany({ limits }: OperationContext, { input, total, plan }: Selection): void {
  if (input.count !== undefined || total - (input.offset ?? 0) <= limits.maxExpansion) return
  // A value set that came with the request is the only one with its url, so its version adds nothing.
  const name = input.valueSet === undefined ? undefined : plan.valueSet.url
  const values = { valueSet: name ?? nameOf(plan.valueSet), limit: String(limits.maxExpansion) }
  throw refusal('VALUESET_TOO_COSTLY', values, { diagnostics: 'Ask for it in pages with count and offset.' })
}

import { formatCanonical } from '../content/index.js'
import { forRequest, type OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import { stringAt } from '../json/index.js'
import {
  conceptTexts,
  escaped,
  languagesFor,
  preparedChoice,
  refusal,
  shownText,
  terminologyScope,
  unknownSystemValues,
  type CodeSystemProvider,
  type ConceptText,
} from '../terminology/index.js'
import type { LookedUpConcept } from './looked-up.js'
import type { LookupInput } from './lookup-input.js'
import { conceptProperties } from './properties.js'

/**
 * Tells what a code system and its supplements say about a code.
 *
 * @throws {OperationError} `not-found` for an unknown code, code system or version; `content-not-found` for an unknown supplement.
 * @see https://hl7.org/fhir/R4/codesystem-operation-lookup.html
 */
export async function lookup(ctx: OperationContext, input: LookupInput): Promise<LookedUpConcept> {
  const provider = await providerFor(ctx, input)
  const concept = provider.find(input.code)
  if (concept === undefined) throw unknownConcept(input, provider)
  const { header } = provider
  const texts = conceptTexts(provider, concept)
  const shown = shownText(texts, languagesFor(input)) ?? texts.find(({ main }) => main)
  const [definition] = provider.sources(concept).flatMap((source) => stringAt(source.concept, 'definition') ?? [])
  return {
    system: header.url,
    ...(header.version !== undefined && { version: header.version }),
    name: header.name ?? formatCanonical(header.url, header.version),
    code: provider.code(concept),
    ...(shown !== undefined && { display: shown.value }),
    ...(definition !== undefined && { definition }),
    abstract: provider.status(concept).abstract,
    designations: texts.filter(isDesignation),
    properties: conceptProperties(provider, concept, input.properties ?? []),
    supplements: provider.supplements,
  }
}

async function providerFor(ctx: OperationContext, input: LookupInput): Promise<CodeSystemProvider> {
  const own = input.codeSystem === undefined ? ctx : forRequest(ctx, { resources: [input.codeSystem] })
  const supplements = input.useSupplement ?? []
  const scope = await terminologyScope(own, { supplements, ...(input.rules !== undefined && { rules: input.rules }) })
  const family = await scope.family(input.system)
  const { provider, wished } = await preparedChoice(family, { include: input.version, rules: scope.rules })
  if (provider !== undefined) return provider
  const [id, values] = unknownSystemValues(family, wished, 'validated')
  throw refusal(id, values, { code: 'not-found' })
}

function unknownConcept({ code }: LookupInput, { header }: CodeSystemProvider): OperationError {
  const version = header.version === undefined ? '' : ` version ${escaped(header.version)}`
  return new OperationError('not-found', `Unable to find code '${escaped(code)}' in ${escaped(header.url)}${version}`)
}

/** The display is told apart; it is a designation too when its language is known. Names that are not in use any more are left out. */
function isDesignation({ main, language, minor, outdated }: ConceptText): boolean {
  if (minor === true && outdated !== undefined) return false
  return !main || language !== undefined
}

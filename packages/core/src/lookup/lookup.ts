import { formatCanonical } from '../content/index.js'
import { createPace, explained, forRequest, type OperationContext } from '../context/index.js'
import { OperationError } from '../errors/index.js'
import type { Explain } from '../explain/index.js'
import { checkInput } from '../input/index.js'
import { stringAt } from '../json/index.js'
import {
  conceptTexts,
  escaped,
  explainUnknownCode,
  languageStep,
  languagesFor,
  preparedChoice,
  refusal,
  shownText,
  shownTextStep,
  terminologyScope,
  unknownSystemValues,
  versionStep,
  type CodeSystemProvider,
  type ConceptText,
  type LanguageList,
} from '../terminology/index.js'
import type { LookedUpConcept } from './looked-up.js'
import { LOOKUP_INPUT, type LookupInput } from './lookup-input.js'
import { conceptProperties } from './properties.js'

/**
 * Tells what a code system and its supplements say about a code.
 *
 * @throws {OperationError} `not-found` for an unknown code, code system or version; `content-not-found` for an unknown supplement.
 * @see https://hl7.org/fhir/R4/codesystem-operation-lookup.html
 */
export function lookup(ctx: OperationContext, input: LookupInput): Promise<LookedUpConcept> {
  return explained(ctx, input, (own) => lookedUp(own, input))
}

async function lookedUp(ctx: OperationContext, input: LookupInput): Promise<LookedUpConcept> {
  checkInput(ctx, input, LOOKUP_INPUT)
  const provider = await providerFor(ctx, input)
  const concept = provider.find(input.code)
  if (concept === undefined) throw await unknownConcept(ctx, input, provider)
  const { header } = provider
  const texts = conceptTexts(provider, concept)
  const languages = languagesFor(input)
  const shown = shownText(texts, languages) ?? texts.find(({ main }) => main)
  if (ctx.explain !== undefined) explainText(ctx.explain, input, { languages, shown })
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
  const choice = await preparedChoice(family, { include: input.version, rules: scope.rules })
  own.explain?.step(versionStep(choice, 'request'))
  const { provider, wished } = choice
  if (provider !== undefined) return provider
  const [id, values] = unknownSystemValues(family, wished, 'validated')
  throw refusal(id, values, { code: 'not-found' })
}

interface ShownText {
  readonly languages: LanguageList | undefined
  readonly shown: ConceptText | undefined
}

function explainText(explain: Explain, input: LookupInput, { languages, shown }: ShownText): void {
  if (languages !== undefined) explain.step(languageStep(languages, input))
  if (shown !== undefined) explain.step(shownTextStep(shown, languages))
}

async function unknownConcept(ctx: OperationContext, { code }: LookupInput, provider: CodeSystemProvider): Promise<OperationError> {
  await explainUnknownCode(ctx.explain, createPace(ctx), { provider, code })
  const { header } = provider
  const version = header.version === undefined ? '' : ` version ${escaped(header.version)}`
  return new OperationError('not-found', `Unable to find code '${escaped(code)}' in ${escaped(header.url)}${version}`)
}

/** The display is told apart; it is a designation too when its language is known. Names that are not in use any more are left out. */
function isDesignation({ main, language, minor, outdated }: ConceptText): boolean {
  if (minor === true && outdated !== undefined) return false
  return !main || language !== undefined
}

import { isImported } from '../../code-system/index.js'
import { canonicalOf, type Definition } from '../../content/index.js'
import { createPace, type OperationContext } from '../../context/index.js'
import { isAboutContent } from '../../errors/index.js'
import type { JsonObject } from '../../json/index.js'
import {
  definedValueSet,
  demandedSupplements,
  findValueSet,
  makePlan,
  preparedFilters,
  readValueSet,
  terminologyScope,
  withImports,
  type PlanInScope,
  type ValueSetDefinition,
} from '../../terminology/index.js'
import type { CodeDefinitions, CodeList } from '../run/definitions.js'
import { answers, keptOrFetched, lastingContext, type KeptAnswers, type Questions } from './answers.js'
import { brokenList, codeListOf, emptyList, type FoundValueSet } from './code-list.js'
import { specificationOf } from './specification.js'

/** Looks up value sets and code systems with the terminology engine. */
export function codeFinder(ctx: OperationContext, questions: Questions, kept: KeptAnswers): CodeDefinitions {
  const { valueSets } = specificationOf(ctx)
  const opened = lazily(() => terminologyScope(kept.kept === undefined ? ctx : lastingContext(ctx), { kept: kept.kept }))
  const listOf = async (definition: ValueSetDefinition): Promise<CodeList> => {
    if (isWithoutCodes(definition)) return emptyList(definition)
    const scope = await opened()
    try {
      const found = await withSupplements({ scope, plan: await makePlan(scope, definition) })
      const problem = await preparedFilters(createPace(ctx), found.plan, scope.rules)
      return codeListOf({ ...found, problem: problem?.message })
    } catch (error) {
      if (!isAboutContent(error)) throw error
      const { message } = error
      const isCircle = error.detail.messageId === 'VALUESET_CIRCULAR_REFERENCE'
      return { ...brokenList(definition, message), ...(isCircle && { circle: message }) }
    }
  }
  const find = async (canonical: string): Promise<CodeList | undefined> => {
    const definition = (await findValueSet(ctx, canonical)) ?? (await findUnstamped(ctx, canonical))
    if (definition === undefined) return undefined
    return listOf(definedValueSet(ctx.cache, definition))
  }
  const fetchBase = answers(questions, async (canonical) => {
    const list = await find(canonical)
    valueSets.set(canonical, list)
    return list
  })
  return {
    valueSet: keptOrFetched(questions, kept.valueSets, find),
    baseValueSet: (canonical) => valueSets.get(canonical) ?? (valueSets.has(canonical) ? undefined : fetchBase(canonical)),
    givenValueSet: answers(questions, (resource: JsonObject) => listOf(readValueSet(resource))),
    codeSystem: keptOrFetched(questions, kept.codeSystems, async (canonical) => {
      const { url, version } = canonicalOf(canonical)
      const family = await (await opened()).family(url)
      await family.prepare(version)
      return family
    }),
    filterProblem: (url, filter) =>
      ctx.codeSystems
        ?.filter(isImported)
        .find((one) => one.url === url)
        ?.filterProblem?.(filter),
  }
}

/** R4 puts its own version on canonicals of terminology.hl7.org, whose definitions have versions of their own. */
async function findUnstamped(ctx: OperationContext, canonical: string): Promise<Definition | undefined> {
  return STAMPED.test(canonical) ? findValueSet(ctx, canonicalOf(canonical).url) : undefined
}

const STAMPED = /^http:\/\/terminology\.hl7\.org\/ValueSet\/.+\|4\.0\.1$/

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

/** Plans a value set with the supplements that it or an import requires, without those that could not be found. */
async function withSupplements({ scope, plan }: PlanInScope): Promise<Omit<FoundValueSet, 'problem'>> {
  const required = new Set(withImports(plan).flatMap(({ valueSet }) => demandedSupplements(valueSet.resource)))
  const supplements: string[] = []
  const missing: string[] = []
  for (const canonical of required) ((await isSupplement(scope.ctx, canonical)) ? supplements : missing).push(canonical)
  if (supplements.length === 0) return { scope, plan, supplements, missing }
  const own = await terminologyScope(scope.ctx, { supplements })
  return { scope: own, plan: await makePlan(own, plan.valueSet), supplements, missing }
}

async function isSupplement({ content }: OperationContext, canonical: string): Promise<boolean> {
  const { url, version } = canonicalOf(canonical)
  const found = await content.resolve('CodeSystem', url, version)
  return found?.resource['content'] === 'supplement'
}

/** True for a value set that does not define its codes: it includes neither a code system nor another value set, and has no expansion. */
function isWithoutCodes({ includes }: ValueSetDefinition): boolean {
  return includes.every(({ system, imports }) => system === undefined && imports.length === 0)
}

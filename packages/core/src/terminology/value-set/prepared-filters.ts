import { OperationError } from '../../errors/index.js'
import type { CodeSystemProvider, Filter } from '../../code-system/index.js'
import { chooseVersion } from '../code-system/system-family.js'
import { conceptsFor } from '../filter/concepts-for.js'
import type { VersionRules } from '../versions.js'
import type { Work } from '../../work/index.js'
import { withImports, type ValueSetPlan } from './plan.js'

/**
 * Works out what questions about single codes of a value set would otherwise wait for, such as the codes of an ECL expression. For those
 * who ask `membershipIn` in one go.
 */
export function* preparedFilters(plan: ValueSetPlan, rules: VersionRules): Work<void> {
  for (const part of withImports(plan).flatMap(({ includes, excludes }) => [...includes, ...excludes])) {
    yield
    const { family, definition, filters, owner } = part
    const provider = family === undefined ? undefined : chooseVersion(family, { include: definition.version, rules }).provider
    if (provider !== undefined) for (const filter of filters) yield* prepared(provider, filter, owner)
  }
}

/** A filter that cannot be used is passed over: the question that needs it is refused. */
function* prepared(provider: CodeSystemProvider, filter: Filter, owner: string): Work<void> {
  try {
    const set = yield* conceptsFor(provider, filter, owner)
    if (set.asked !== undefined) yield* set.all()
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
  }
}

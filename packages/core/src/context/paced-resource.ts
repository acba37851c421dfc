import type { JsonObject } from '../json/index.js'
import type { StoredResource } from '../storage/index.js'
import { paced } from '../work/index.js'
import { createPace } from './pace.js'
import type { Turns } from './turns.js'

/** Characters that are parsed in less time than others can wait. */
const SHORT = 500_000

/** The parsed resource; a long text is parsed while other work runs in between. */
export async function pacedResource(stored: StoredResource, turns: Turns | undefined): Promise<JsonObject> {
  if (stored.parsing === undefined || stored.text.length <= SHORT) return stored.resource
  return paced(stored.parsing(), createPace({ turns }))
}

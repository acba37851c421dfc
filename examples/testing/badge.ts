import type { OperationContext } from 'fhir-ops/context'
import { translate } from 'fhir-ops/translate'

/** Code of an application: the colour of the badge that a visit gets, by its priority. */
export async function badgeColour(ctx: OperationContext, priority: string): Promise<string> {
  const { matches } = await translate(ctx, {
    url: 'http://example.org/priority-to-colour',
    coding: { system: 'http://example.org/priority', code: priority },
  })
  return matches[0]?.concept?.code ?? 'grey'
}

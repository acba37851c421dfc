import { cqlLanguage, cqlOperations } from '@fhir-ops/cql'
import { createTranslator } from '@fhir-ops/cql/translator'
import { OPERATIONS } from '@fhir-ops/handler'
import type { Release } from '@fhir-ops/r4'
import { measureOperations } from 'fhir-ops/evaluate'
import type { Operation } from 'fhir-ops/operation'

/** The operations of the library, those of CQL, and measures with criteria in CQL. */
export async function withCql(model: Release['types']): Promise<readonly Operation[]> {
  const translator = await createTranslator({ model })
  const measures = measureOperations({ languages: [cqlLanguage({ translator })] })
  const others = OPERATIONS.filter((operation) => !measures.some(({ name }) => name === operation.name))
  return [...others, ...measures, ...cqlOperations({ translator })]
}

import { createHandler } from '@fhir-ops/handler'
import { createContext } from 'fhir-ops/context'
import { isObject } from 'fhir-ops/internal/json'
import { memorySessionStore, memoryStorage } from 'fhir-ops/memory'
import { createSessions } from 'fhir-ops/sessions'
import { ourAnswer, type Answer } from './answers.js'
import type { Operation, Question } from './questions.js'
import type { World } from './world.js'

/** Where each operation is called, below the base. */
export const OPERATION_PATHS: Readonly<Record<Operation, string>> = {
  expand: 'ValueSet/$expand',
  'validate-code': 'ValueSet/$validate-code',
  'validate-code-in-system': 'CodeSystem/$validate-code',
  subsumes: 'CodeSystem/$subsumes',
  translate: 'ConceptMap/$translate',
}

/** Returns a function that answers questions about a world with the service over memory. */
export function answererOf({ systems, valueSets, maps }: World): (question: Question) => Promise<Answer> {
  const resources = [...systems, ...valueSets, ...maps].map((resource, index) => ({ ...resource, id: String(index) }))
  const handler = createHandler({
    context: createContext({ storage: memoryStorage(resources) }),
    sessions: createSessions({ store: memorySessionStore() }),
    baseUrl: 'http://fhir.example.org',
    auth: 'off',
    defaultPolicy: 'deny',
  })
  return async ({ operation, parameters }) => {
    const response = await handler(
      new Request(`http://fhir.example.org/fhir/R4/${OPERATION_PATHS[operation]}`, {
        method: 'POST',
        headers: { 'content-type': 'application/fhir+json' },
        body: JSON.stringify({ resourceType: 'Parameters', parameter: parameters }),
      }),
    )
    const json: unknown = await response.json()
    if (!isObject(json)) throw new TypeError('The answer is not a resource.')
    return ourAnswer(operation, json)
  }
}
